// The processes that share the locks of one directory, from the view of one member.
//
//            in()                    the last user releases it: leaves, and cleans up after itself
//   (none) ───────▶ member, process slot s ────────────────────────────────────────────────▶ (none)
//                        │ SIGKILL, exit                                                       ▲
//                        ▼                                                                     │
//                   dead: the slot's lock is free, the record still says joined ── another process cleans up
//
// layout.h describes the members file. Each process slot has a FIFO, fifo-<slot>. Its reader is the member,
// which also holds a write lock (of the open file) on it. Every other member has it open for writing.
//   - Liveness is the lock: a process that gets the lock of a process slot whose record says joined cleans
//     up after the previous member. Neither a pid nor a time counts. A second lock, which cleaning up
//     leaves alone, answers at any time whether a member lives (ifDead).
//   - Death is an event: when the last reader goes, the writers' end polls as an error. The kernel releases
//     the locks of an open file before that, so a process that is notified of a death finds the lock free, or
//     held by a process that is cleaning up. The watch is level-triggered: when the process that cleans up
//     dies too, its end of the dead member's FIFO closes, and every watcher is notified again. So no death is
//     lost.
//   - A wake-up is an entry in a member's mailbox and, when that member's wake-up thread sleeps, one byte
//     in its FIFO. Spurious wake-ups are harmless. A sleeping event loop polls the FIFO too (LoopWakeup)
//     and takes messages out of the mailbox (help). It reads no byte, so the wake-up thread wakes, too, and
//     handles the rest: it does not depend on a loop that may be busy.
//
// The files that cleaning up needs are open from the start: the writing end of each member's FIFO, which can take the
// lock of the process slot, the directory, and the members file. So if this process has no free descriptor
//   - its waiters still learn of a death. It leaves files that it does not have open to other processes, or retries.
//   - it cannot watch a member that joined meanwhile for its death, and retries.
//   - it wakes a member that joined meanwhile by the bell: a byte written into the members file (Removals).
// Without a descriptor, and in wakeups_select.cpp for a removed FIFO, it cannot open the FIFO in place of the dead
// process. Then the others do not learn of the death of the process that cleans up, and look again: they retry all this
// every kRetryAfter ms, the only wait here without an event.
//
// A process that may no longer open the files, for example after setuid(), is lost (setLost): it gets no more locks,
// but keeps the locks that it holds, and wakes others by the bell. Nothing changes for the others.
//
// On Windows a file with locks and events stands for a FIFO (wakeups_windows.cpp). A process that cleans up is not watched
// there: the others retry, too.
//
// Memory order: everything is sequentially consistent. Two pairs rely on it: notify (entry, then
// sleepState) with the wake-up thread (sleepState, then entries), and join (record, roster, then the
// others' records) with the join of another process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "host/layout.h"
#include "host/members.h"
#include "host/segment.h"
#include "host/wakeups.h"
#include "platform/files.h"
#include "platform/host_error.h"

namespace boxoffice::host {

class Membership {
 public:
  /// Returns this process's membership in that directory. Joins if the process is not a member yet. An empty string
  /// stands for the directory of BOXOFFICE_DIRECTORY, or the default one. Throws HostError: segment when the
  /// directory is open to other users or cannot be made; capacity when 127 processes are members; unsupported when
  /// the system or the file system has no such locks; forked in the child of a fork whose parent has ever been a
  /// member anywhere. Do not release the last reference on the wake-up thread.
  static std::shared_ptr<Membership> in(const std::string& directory);

  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// The process slot of this process.
  ProcessSlot process() const noexcept { return process_; }
  /// The directory as given, or as found when none was given.
  const std::string& directory() const noexcept { return directory_; }
  /// The subdirectory with the files since the machine's last boot.
  const std::string& path() const noexcept { return path_; }

  /// Returns the segment, and creates it if there is none. Returns the same segment as long as the membership lives,
  /// unless its file was removed while this process did not use it. Thread-safe. Throws HostError(segment) when the
  /// file is invalid, when there is no room for it, or when it was removed while in use; Misuse(mismatch) when its
  /// capacity or start differs from the options; Misuse(badArgument) for an empty name, a name longer than 65,536
  /// bytes, or a capacity above kMaxCapacity.
  Segment& open(const SegmentOptions& options);
  /// Sets the listener of a segment's wake-ups; null removes it. After the return, the previous listener is
  /// not being called and will not be called again. Do not call this on the wake-up thread.
  void setListener(Segment& segment, SegmentListener* listener) noexcept;

  /// Tells that process to look at a slot. Does nothing when the process slot is free.
  void notify(ProcessSlot process, std::uint32_t segment, std::uint32_t slot) noexcept;
  /// Tells every process, this one included, to look at everything.
  void notifyAll() noexcept;

  /// For an event loop with waiters, which may be asleep: wake-ups of this process wake it, too, not only the wake-up
  /// thread. The loop then calls help(), which saves the detour over the wake-up thread.
  platform::LoopWakeup loopWakeup() const noexcept { return wakeups_.loopWakeup(); }
  void help() noexcept;

  /// The pid of that process, in its own pid namespace; 0 when the process slot is free.
  std::uint32_t pidOf(ProcessSlot process) const noexcept {
    return members_.of(process).pid.load();
  }
  bool isMember(ProcessSlot process) const noexcept { return members_.joined(process); }

  /// Whether files of the directory were removed while processes used them. Processes that join now may
  /// then be granted a lock beside its holder.
  bool isGone() const noexcept { return members_.isGone(); }
  /// Checks that all files are there. Records a removal and notifies every process.
  void inspect() noexcept;
  /// Whether this process can no longer open the files of the others.
  bool isLost() const noexcept { return !isGone() && members_.lost(); }
  /// Makes the error for a caller that uses the directory when it isLost() or isGone().
  HostError removed() const;
  /// Makes the same error for a caller that uses a segment.
  HostError removed(const Segment& segment) const;

  /// Calls `use` if that process is dead, even if no wake-up thread has learnt of it yet. No other process takes its
  /// process slot meanwhile. Returns false, without a call, if the process lives.
  bool ifDead(ProcessSlot process, const std::function<void()>& use) const noexcept;

  /// Throws HostError(forked) in the child of a fork, which has neither a process slot nor a wake-up thread.
  void check() const;

 private:
  friend class MembershipRegistry;

  Membership(std::string directory, std::string path, platform::File place);
  void join();
  bool take(ProcessSlot process);
  void startThread();
  void tidy();
  void leave() noexcept;
  bool isUsable(Segment& segment);
  void checkUsers(const std::string& path, const SegmentHeader& header) const;
  Segment& add(const std::string& file, std::unique_ptr<Segment> segment);

  void listen() noexcept;
  void deliver(std::uint32_t segment, std::uint32_t slot) noexcept;
  void rescan() noexcept;
  void watchMembers() noexcept;
  void watchMember(ProcessSlot process) noexcept;
  void handle(std::uint32_t tag) noexcept;
  void reap(ProcessSlot process) noexcept;
  void deferRetry(ProcessSlot process) noexcept;
  void retryDeferred() noexcept;
  void cleanUp(ProcessSlot dead);
  bool evictInFiles(ProcessSlot dead);
  void failed(ProcessSlot process, const HostError& error) noexcept;
  void setGone() noexcept;
  void setLost(const HostError& error) noexcept;
  void checkThere();
  bool hasAllFifos() const noexcept;
  void wake(ProcessSlot process, std::uint32_t sleep, bool isAgain = false) noexcept;

  const std::string directory_;
  const std::string path_;
  const platform::File place_;  // open from the start: cleaning up after a death needs it
  Members members_;
  Wakeups wakeups_;
  ProcessSlot process_ = kNoProcess;

  std::mutex segmentsMutex_;  // guards the next three; only the fork gate is locked after it
  std::unordered_map<std::string, std::unique_ptr<Segment>> segments_;  // by file name
  std::vector<Segment*> list_;                                          // in opening order
  std::vector<std::unique_ptr<Segment>>
      removed_;  // still in list_: their files were removed, and they are not in use

  SharedProcessSet
      deferred_{};  // not watched, reaped or notified yet, because of a lack of descriptors or memory
  std::atomic<bool> leaving_{false};
  std::atomic<bool> knowsGone_{false};
  std::unique_ptr<std::thread> thread_;  // the wake-up thread
};

}  // namespace boxoffice::host
