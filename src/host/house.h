// The processes that share the locks of one directory, as seen by one of them.
//
//            in()                  its last user lets go: leaves, cleaning up after itself
//   (none) ───────▶ member, seat s ──────────────────────────────────────────────▶ (none)
//                        │ SIGKILL, exit                                              ▲
//                        ▼                                                            │
//                   dead: lock of the seat free, record still joined ──somebody else cleans up
//
// See the members file in layout.h. Per seat there is a FIFO, bell-<seat>: its reader is the member, which
// holds a write lock (of the open file) on it, too; every other member has it open for writing.
//   - Life is the lock: whoever gets the lock of a seat whose record says joined, cleans up after the
//     one who had it. Neither a pid nor a time says anything. A second lock, which cleaning up leaves alone,
//     says so at any time (ifDead).
//   - Death is an event: when the last reader goes, the writers' end polls as an error. The kernel takes
//     the locks of an open file back before that, so who hears of a death finds the lock free, or held
//     by somebody who is cleaning up. It is watched edge by edge: when that one dies in turn and its end of
//     the dead one's FIFO closes, that is an edge for all who watch it, too; none is forgotten.
//   - A bell is an entry in the mailbox of a member and, when its bell thread sleeps, one byte in its
//     FIFO. Ringing too often does no harm. An event loop that sleeps hears the FIFO, too (ear), and takes
//     letters out of the mailbox (help); it reads no byte, so that the bell thread wakes all the same, does
//     what is left, and does not depend on a loop that may be busy.
//
// Without a descriptor to be had, a death cannot be dealt with and a bell perhaps not be rung: what is owed is
// tried again every kAgain, the one thing here that has no event to wait for.
//
// Memory order: everything is sequentially consistent. What relies on it: ring (entry, then doze) with
// the bell thread (doze, then entries); join (record, roster, then the others' records) with the same in
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

#include "host/bells.h"
#include "host/host_error.h"
#include "host/layout.h"
#include "host/members.h"
#include "host/segment.h"
#include "platform/files.h"
#include "wait_pool.h"

namespace boxoffice::host {

/// The steps at which a test kills (kill_points.h).
enum HouseStep : int {
  kSeatLocked = 200,
  kSeatCleaned,
  kSeatTaken,
  kFileMade,
  kFileFilled,
  kFileNamed,
  kUserNoted,
  kOpenOnesCleaned,
  kOthersCleaned,
  kAllTold,
  kWrittenDown,
  kHouseStepsEnd
};

class House {
 public:
  /// This process's membership in that directory, joined if it is not a member yet. Empty: the directory
  /// of BOXOFFICE_DIRECTORY, or the default one. HostError(segment) when the directory is not ours alone or
  /// cannot be made; (capacity) when there are 127 processes; (unsupported) on systems and file systems
  /// without; (forked) in the child of a fork whose parent has ever been a member of any house.
  /// Never let go of the last one on the bell thread.
  static std::shared_ptr<House> in(const std::string& directory);

  ~House();
  House(const House&) = delete;
  House& operator=(const House&) = delete;

  /// Ours.
  Seat seat() const noexcept { return seat_; }
  /// As it was given, or found.
  const std::string& directory() const noexcept { return directory_; }
  /// Where the files of this run of the machine lie.
  const std::string& path() const noexcept { return path_; }

  /// Tells the process of that seat to look at a slot. Nothing when nobody is there.
  void ring(Seat seat, std::uint32_t segment, std::uint32_t slot) noexcept;
  /// Tells all processes, this one included, to look at everything.
  void ringAll() noexcept;

  /// For a thread that may be asleep when somebody rings, and has waiters of its own: an ear that wakes it
  /// beside the bell thread. It does then what it can at once, which saves the way over the bell thread.
  platform::Ear ear() const noexcept { return bells_.ear(); }
  void help() noexcept;

  /// The pid of the process of that seat, in its own pid namespace; 0 when nobody is there.
  std::uint32_t pidOf(Seat seat) const noexcept { return members_.of(seat).pid.load(); }
  /// Whether a process has that seat.
  bool isMember(Seat seat) const noexcept { return members_.joined(seat); }
  /// When it joined, ms since 1970; 0 when nobody is there.
  std::uint64_t startOf(Seat seat) const noexcept;

  /// Whether files of the directory were removed while processes used them: processes that come now may be let
  /// in beside those that are here.
  bool isGone() const noexcept { return members_.isGone(); }
  /// Looks whether they are all there. What is not has been written down then, and all processes have been
  /// told.
  void inspect() noexcept;
  /// The error for who asks for something of it.
  HostError removed() const;

  /// Calls `use` if the process of that seat is dead, whether or not the bell threads have heard of it; no other
  /// process joins in that seat meanwhile. False, without a call, if it lives.
  bool ifDead(Seat seat, const std::function<void()>& use) const noexcept;

  /// HostError(forked) in the child of a fork, which has nothing of what its parent had: no seat, no
  /// bell thread.
  void check() const;

 private:
  friend class Houses;
  friend class Segment;
  class Listener;

  House(std::string directory, std::string path);
  void open(const platform::File& place);
  bool take(Seat seat);
  void tidy(const platform::File& place);
  static std::string asideIn(const std::string& directory, Seat seat);
  void leave() noexcept;
  Segment& add(const std::string& file, std::unique_ptr<Segment> segment);

  void listen() noexcept;
  void hear(std::uint32_t segment, std::uint32_t slot) noexcept;
  void rescan() noexcept;
  void lookAround() noexcept;
  void attend(Seat seat) noexcept;
  void hearOf(std::uint32_t tag) noexcept;
  void bury(Seat seat) noexcept;
  void owe(Seat seat) noexcept;
  void makeGood() noexcept;
  void cleanUp(Seat dead);
  void evictInFiles(Seat dead);
  void setGone() noexcept;
  void checkThere();
  bool hasAllBells() const noexcept;
  void wake(Seat seat, bool asleep) noexcept;

  const std::string directory_;
  const std::string path_;
  Members members_;
  Bells bells_;
  Seat seat_ = kNoSeat;

  std::mutex
      segmentsMutex_;  // guards the three that follow; after it come no others but the fork gate
  std::unordered_map<std::string, std::unique_ptr<Segment>> segments_;  // by the name of the file
  std::vector<Segment*> list_;                                          // in the order of opening
  std::vector<std::unique_ptr<Segment>>
      removed_;  // of the list: their files are, and they are not in use

  SeatSet
      owed_{};  // whom we could not watch, bury or ring, as there was no descriptor or no memory
  std::atomic<bool> leaving_{false};
  std::atomic<bool> knowsGone_{false};
  std::unique_ptr<WaitPool> pool_;
};

}  // namespace boxoffice::host
