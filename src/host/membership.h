// The processes that share the locks of one directory, as seen by one of them.
//
//            in()                  its last user lets go: leaves, cleaning up after itself
//   (none) ───────▶ member, process slot s ──────────────────────────────────────────────▶ (none)
//                        │ SIGKILL, exit                                              ▲
//                        ▼                                                            │
//                   dead: lock of the process slot free, record still joined ──somebody else cleans up
//
// See the members file in layout.h. Per process slot there is a FIFO, fifo-<slot>: its reader is the member, which
// holds a write lock (of the open file) on it, too; every other member has it open for writing.
//   - Life is the lock: whoever gets the lock of a process slot whose record says joined, cleans up after the
//     one who had it. Neither a pid nor a time says anything. A second lock, which cleaning up leaves alone,
//     says so at any time (ifDead).
//   - Death is an event: when the last reader goes, the writers' end polls as an error. The kernel takes
//     the locks of an open file back before that, so who is notified of a death finds the lock free, or held
//     by somebody who is cleaning up. It is watched edge by edge: when that one dies in ownership and its end of
//     the dead one's FIFO closes, that is an edge for all who watch it, too; none is forgotten.
//   - A wake-up is an entry in the mailbox of a member and, when its wake-up thread sleeps, one byte in its
//     FIFO. Notifying too often does no harm. An event loop that sleeps is notified of the FIFO, too (loop wake-up), and takes
//     messages out of the mailbox (help); it reads no byte, so that the wake-up thread wakes all the same, does
//     what is left, and does not depend on a loop that may be busy.
//
// Without a descriptor to be had, a death cannot be dealt with and a wake-up perhaps not be notified: what is owed is
// tried again every kAgain, the one thing here that has no event to wait for.
//
// Memory order: everything is sequentially consistent. What relies on it: notify (entry, then sleepState) with
// the wake-up thread (sleepState, then entries); join (record, roster, then the others' records) with the same in
// another.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/layout.h"
#include "host/members.h"
#include "host/segment.h"
#include "host/wakeups.h"
#include "platform/files.h"
#include "platform/host_error.h"
#include "waiting/wait_pool.h"

namespace boxoffice::host {

/// The steps at which a test kills (kill_points.h).
enum MembershipStep : int {
  kSlotLocked = 200,
  kSlotCleaned,
  kSlotTaken,
  kFileMade,
  kFileFilled,
  kFileNamed,
  kUserNoted,
  kOpenOnesCleaned,
  kOthersCleaned,
  kAllTold,
  kWrittenDown,
  kByteDue,
  kMembershipStepsEnd
};

class Membership {
 public:
  /// This process's membership in that directory, joined if it is not a member yet. Empty: the directory
  /// of BOXOFFICE_DIRECTORY, or the default one. HostError(segment) when the directory is not ours alone or
  /// cannot be made; (capacity) when there are 127 processes; (unsupported) on systems and file systems
  /// without; (forked) in the child of a fork whose parent has ever been a member of any membership.
  /// Never let go of the last one on the wake-up thread.
  static std::shared_ptr<Membership> in(const std::string& directory);

  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// Ours.
  ProcessSlot process() const noexcept { return process_; }
  /// As it was given, or found.
  const std::string& directory() const noexcept { return directory_; }
  /// Where the files of this run of the machine lie.
  const std::string& path() const noexcept { return path_; }

  /// Tells the process of that process slot to look at a slot. Nothing when nobody is there.
  void notify(ProcessSlot process, std::uint32_t segment, std::uint32_t slot) noexcept;
  /// Tells all processes, this one included, to look at everything.
  void notifyAll() noexcept;

  /// For a thread that may be asleep when somebody notifies, and has waiters of its own: an loop wake-up that wakes it
  /// beside the wake-up thread. It does then what it can at once, which saves the way over the wake-up thread.
  platform::LoopWakeup loopWakeup() const noexcept { return wakeups_.loopWakeup(); }
  void help() noexcept;

  /// The pid of the process of that process slot, in its own pid namespace; 0 when nobody is there.
  std::uint32_t pidOf(ProcessSlot process) const noexcept {
    return members_.of(process).pid.load();
  }
  /// Whether a process has that process slot.
  bool isMember(ProcessSlot process) const noexcept { return members_.joined(process); }
  /// When it joined, ms since 1970; 0 when nobody is there.
  std::uint64_t startOf(ProcessSlot process) const noexcept;

  /// Whether files of the directory were removed while processes used them: processes that come now may be let
  /// in beside those that are here.
  bool isGone() const noexcept { return members_.isGone(); }
  /// Looks whether they are all there. What is not has been written down then, and all processes have been
  /// told.
  void inspect() noexcept;
  /// The error for who asks for something of it.
  HostError removed() const;

  /// Calls `use` if the process of that process slot is dead, whether or not the wake-up threads have heard of it; no other
  /// process joins in that process slot meanwhile. False, without a call, if it lives.
  bool ifDead(ProcessSlot process, const std::function<void()>& use) const noexcept;

  /// HostError(forked) in the child of a fork, which has nothing of what its parent had: no process slot, no
  /// wake-up thread.
  void check() const;

 private:
  friend class MembershipRegistry;
  friend class Segment;
  class Listener;

  Membership(std::string directory, std::string path);
  void open(const platform::File& place);
  bool take(ProcessSlot process);
  void tidy(const platform::File& place);
  static std::string asideIn(const std::string& directory, ProcessSlot process);
  void leave() noexcept;
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
  void evictInFiles(ProcessSlot dead);
  void setGone() noexcept;
  void checkThere();
  bool hasAllFifos() const noexcept;
  void wake(ProcessSlot process, std::uint32_t sleep) noexcept;

  const std::string directory_;
  const std::string path_;
  Members members_;
  Wakeups wakeups_;
  ProcessSlot process_ = kNoProcess;

  std::mutex
      segmentsMutex_;  // guards the three that follow; after it come no others but the fork gate
  std::unordered_map<std::string, std::unique_ptr<Segment>> segments_;  // by the name of the file
  std::vector<Segment*> list_;                                          // in the order of opening
  std::vector<std::unique_ptr<Segment>>
      removed_;  // of the list: their files are, and they are not in use

  SharedProcessSet
      deferred_{};  // whom we could not watch, bury or notify, as there was no descriptor or no memory
  std::atomic<bool> leaving_{false};
  std::atomic<bool> knowsGone_{false};
  std::unique_ptr<WaitPool> pool_;
};

}  // namespace boxoffice::host
