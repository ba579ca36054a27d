// Includes the whole library and links with every part of it that differs per system: compiled for
// the systems that the tests do not run on, and read by clang-tidy.
#include "boxoffice.h"
#include "platform/name.h"
#include "platform/semaphore.h"
#include "platform/thread_name.h"

int main() {
  boxoffice::nameThisThread("everything");
  boxoffice::Semaphore semaphore(1);
  semaphore.wait();
  semaphore.signal();
  boxoffice::Mutex mutex;
  mutex.lock();
  mutex.unlock();
  boxoffice::LockTable& table = boxoffice::lockTables().open("everything", 0);
  boxoffice::LockTable::Entry& entry = table.pin("key", 0);
  boxoffice::claimWords(entry.words, 1, boxoffice::LockKind::mutex, 0);
  boxoffice::disclaimWords(entry.words, 1);
  const bool isIdle = table.busy() == 0 && table.busyKeys().empty();
  table.unpin(entry);
  boxoffice::lockTables().close("everything");
  return isIdle && boxoffice::platformName()[0] != '\0' && boxoffice::coreCount() > 0 ? 0 : 1;
}
