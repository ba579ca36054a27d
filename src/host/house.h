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
//     one who had it. Neither a pid nor a time says anything.
//   - Death is an event: when the last reader goes, the writers' end polls as an error. The kernel takes
//     the locks of an open file back before that, so who hears of a death finds the lock free, or held
//     by somebody who is cleaning up. It is watched edge by edge: when that one dies in turn and its end of
//     the dead one's FIFO closes, that is an edge for all who watch it, too; none is forgotten.
//   - A bell is an entry in the mailbox of a member and, when its bell thread sleeps, one byte in its
//     FIFO. Ringing too often does no harm.
//
// Memory order: everything is sequentially consistent. What relies on it: ring (entry, then doze) with
// the bell thread (doze, then entries); join (record, roster, then the others' records) with the same in
// another.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "host/layout.h"
#include "host/segment.h"

namespace boxoffice::host {

class House {
 public:
  /// This process's membership in that directory, joined if it is not a member yet. Empty: the directory
  /// of BOXOFFICE_DIRECTORY, or the default one. HostError(segment) when the directory is not ours alone or
  /// cannot be made; (capacity) when there are 127 processes; (unsupported) on systems and file systems
  /// without; (forked) in the child of a fork whose parent was a member of any house.
  static std::shared_ptr<House> in(const std::string& directory);

  virtual ~House() = default;
  House(const House&) = delete;
  House& operator=(const House&) = delete;

  /// Ours.
  virtual Seat seat() const noexcept = 0;
  /// As it was given, or found.
  virtual const std::string& directory() const noexcept = 0;

  /// Tells the process of that seat to look at a slot. Nothing when nobody is there.
  virtual void ring(Seat seat, std::uint32_t segment, std::uint32_t slot) noexcept = 0;
  /// Tells all processes, this one included, to look at everything.
  virtual void ringAll() noexcept = 0;

  /// The pid of the process of that seat, in its own pid namespace; 0 when nobody is there.
  virtual std::uint32_t pidOf(Seat seat) const noexcept = 0;
  /// When it joined, ms since 1970; 0 when nobody is there.
  virtual std::uint64_t startOf(Seat seat) const noexcept = 0;

  /// HostError(forked) in the child of a fork, which has nothing of what its parent had: no seat, no
  /// bell thread.
  virtual void check() const = 0;

 protected:
  House() = default;
};

}  // namespace boxoffice::host
