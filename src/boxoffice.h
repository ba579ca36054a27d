// Everything at once.
#pragma once

#include "auto_reset_event.h"
#include "barrier.h"
#include "condition_variable.h"
#include "countdown_latch.h"
#include "dining_philosophers.h"
#include "lightweight_semaphore.h"
#include "lock_set.h"
#include "lock_table.h"
#include "mailbox.h"
#include "manual_reset_event.h"
#include "mutex.h"
#include "recursive_mutex.h"
#include "rw_lock.h"
#include "ticket_pool.h"
#include "wait_pool.h"
#include "weighted_semaphore.h"
