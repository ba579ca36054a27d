// The platform of the locks of scope host in a real process. It shares the parking lot and the threads of
// all other locks, so their waiters are the same. Process slots and wake-ups are those of the segment in
// which a lock lies.
#pragma once

#include <cstdint>

#include "host/kill_points.h"
#include "host/membership.h"
#include "host/segment.h"
#include "waiting/platform.h"

namespace boxoffice::host {

struct HostPlatform : Platform {
  /// This process's slot in the directory of that lock.
  static ProcessSlot process(const void* slot) noexcept {
    return segmentAt(slot)->membership().process();
  }

  /// Notifies a process for that slot.
  static void notify(const void* slot, ProcessSlot process) noexcept {
    Segment& segment = *segmentAt(slot);
    segment.membership().notify(process, segment.id(), segment.slotOf(slot));
  }

  /// Calls `use` if that process is dead: see Membership.
  template <class Use>
  static bool ifDead(const void* slot, ProcessSlot process, Use&& use) noexcept {
    return segmentAt(slot)->membership().ifDead(process, use);
  }

  /// The number of agents of this process that read that lock. The slot's bucket guards it.
  static std::uint32_t& reads(const void* slot) noexcept { return segmentAt(slot)->reads(slot); }

  /// A step before which a test may kill the process.
  template <class Step>
  static void step(Step step) noexcept {
    killPoint(static_cast<int>(step));
  }
};

}  // namespace boxoffice::host
