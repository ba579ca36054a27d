#include "host/membership.h"

#include <system_error>
#include <utility>

#include "host/kill_points.h"
#include "host/membership_registry.h"
#include "host/names.h"
#include "host/process_mailbox.h"
#include "platform/clock.h"
#include "platform/host_error.h"
#include "platform/thread_name.h"

namespace boxoffice::host {
namespace {

/// The time in ms after which the wake-up thread retries failed steps.
constexpr int kRetryAfter = 50;

}  // namespace

std::shared_ptr<Membership> Membership::in(const std::string& directory) {
  return MembershipRegistry::here().in(directory);
}

Membership::Membership(std::string directory, std::string path, platform::File place)
    : directory_(std::move(directory)),
      path_(std::move(path)),
      place_(std::move(place)),
      members_(path_),
      wakeups_(path_) {}

/// Joins, and starts the wake-up thread.
void Membership::join() {
  // Set process_ only once this process has the slot, because the destructor cleans up after process_.
  ProcessSlot free = 1;
  while (free <= kMaxProcess && !take(free)) ++free;
  if (free > kMaxProcess) {
    throw HostError(HostFault::capacity,
                    "boxoffice: 127 processes use " + directory_ +
                        ", which has room for no more; choose another directory for some");
  }
  process_ = free;
  tidy();
  wakeups_.watchDirectory(kMembersName);
  // Watch now, because the thread may find no descriptor left.
  watchMembers();
  startThread();
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    // A woken process looks at the roster.
    if (process != process_ && members_.joined(process))
      wake(process, wakeIfAsleep(members_.of(process)));
  }
}

void Membership::startThread() {
  try {
    thread_ = std::make_unique<std::thread>([this] {
      nameThisThread("boxoffice wait");
      listen();
    });
  } catch (const std::system_error& error) {
    throw HostError(HostFault::exhausted,
                    "boxoffice: the system gives no thread: " + error.code().message() +
                        "; raise its limit (ulimit -u, or pids.max of the control group)");
  }
}

/// Takes the process slot if it is free.
bool Membership::take(ProcessSlot process) {
  const std::uint64_t fifo = wakeups_.standIn(process);
  if (fifo == 0) return false;
  killPoint(kSlotLocked);
  try {
    if (members_.joined(process)) {
      // The lock of this FIFO says nothing about a process that joined with another FIFO.
      if (members_.of(process).fifo.load() != fifo) {
        wakeups_.stepDown();
        return false;
      }
      cleanUp(process);
    }
    killPoint(kSlotCleaned);
    if (!wakeups_.keep()) {
      wakeups_.stepDown();
      return false;
    }
  } catch (...) {
    wakeups_.stepDown();
    throw;
  }
  members_.join(process, fifo);
  killPoint(kSlotTaken);
  return true;
}

/// Removes unfinished files of other processes.
void Membership::tidy() {
  for (const std::string& name : platform::namesIn(place_, path_)) {
    if (isMembersAsideName(name)) platform::remove(name, place_);
  }
}

Membership::~Membership() {
  if (MembershipRegistry::here().forked()) {
    // The thread and the holders of mutexes are the parent's. The files are closed already.
    static_cast<void>(thread_.release());
  } else if (process_ != kNoProcess) {
    if (thread_) {
      leaving_.store(true);
      wakeups_.sendOwn();
      thread_->join();
    }
    leave();
  }
  MembershipRegistry::here().remove(*this);
}

void Membership::leave() noexcept {
  try {
    // With a wake-up still deferred, leave like a dead process: the process that cleans up notifies all.
    if (deferred_.empty()) cleanUp(process_);
  } catch (const std::exception&) {
    // The record still says joined, and close() releases our lock. To the others we are dead, and one of them
    // cleans up.
  }
  wakeups_.close();
}

bool Membership::ifDead(ProcessSlot process, const std::function<void()>& use) const noexcept {
  try {
    return members_.joined(process) &&
           wakeups_.ifDead(process, members_.of(process).fifo.load(), use);
  } catch (const std::exception&) {
    return false;  // without a descriptor, its death cannot be seen
  }
}

void Membership::check() const {
  if (!MembershipRegistry::here().forked()) return;
  throw HostError(
      HostFault::forked,
      "boxoffice: a process made by fork alone cannot use locks of scope host that its parent "
      "has opened; have it run a program of its own (exec)");
}

// ---- notifying ----

void Membership::notify(ProcessSlot process, std::uint32_t segment, std::uint32_t slot) noexcept {
  if (!members_.joined(process)) return;
  wake(process, host::notify(members_.of(process), segment, slot));
}

void Membership::notifyAll() noexcept {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    if (members_.joined(process)) wake(process, postAll(members_.of(process)));
  }
}

/// Wakes that process from its `sleep`. `isAgain` tells that the bell has been rung before.
void Membership::wake(ProcessSlot process, std::uint32_t sleep, bool isAgain) noexcept {
  if (sleep == kNoSleep || MembershipRegistry::here().forked()) return;
  killPoint(kByteDue);
  if (process == process_) {
    wakeups_.sendOwn();
  } else if (const auto sent = wakeups_.send(process); sent != Wakeups::Sent::yes) {
    if (!isAgain) members_.ring();
    // The process may miss the bell: it may lack the resources that Removals needs.
    if (sent == Wakeups::Sent::notYet) return deferRetry(process);
  }
  woken(members_.of(process), sleep);
}

/// Leaves the retry to the wake-up thread, and wakes it, because it may sleep without a timeout.
void Membership::deferRetry(ProcessSlot process) noexcept {
  deferred_.add(process);
  wake(process_, wakeIfAsleep(members_.of(process_)));
}

// ---- the wake-up thread ----

void Membership::listen() noexcept {
  Member& own = members_.of(process_);
  std::uint64_t roster = 0;  // differs from every roster: at least our own join has incremented it
  std::uint32_t tags[16];
  Deadline next = Clock::now();  // of a retry
  while (!leaving_.load()) {
    bool all = false;
    collect(
        own, [this](std::uint32_t segment, std::uint32_t slot) { deliver(segment, slot); },
        [&all] { all = true; });
    if (all || roster != members_.roster()) {
      roster = members_.roster();
      watchMembers();
    }
    if (all) rescan();
    if (!trySleep(own)) continue;
    const unsigned count = wakeups_.wait(tags, deferred_.empty() ? -1 : kRetryAfter);
    for (unsigned i = 0; i < count; ++i) handle(tags[i]);
    // Wake-ups and deaths may have ended the wait early.
    if (deferred_.empty() || Clock::now() < next) continue;
    retryDeferred();
    next = Clock::now() + std::chrono::milliseconds(kRetryAfter);
  }
}

void Membership::handle(std::uint32_t tag) noexcept {
  if (tag == Wakeups::kOwn) return wakeups_.drain();
  if (tag != Wakeups::kRemoval) return reap(static_cast<ProcessSlot>(tag));
  wakeups_.drainRemovals();
  inspect();
}

void Membership::help() noexcept {
  takeMessages(members_.of(process_),
               [this](std::uint32_t segment, std::uint32_t slot) { deliver(segment, slot); });
}

}  // namespace boxoffice::host
