// What the box offices of scope host are made of in a real process: its lot and its threads are those of all
// other locks, so that their waiters are the same; process slots and wake-ups are those of the segment a lock lies in.
#pragma once

#include <cstdint>

#include "host/kill_points.h"
#include "host/membership.h"
#include "host/segment.h"
#include "waiting/platform.h"

namespace boxoffice::host {

struct HostPlatform : Platform {
  /// Of this process, where that slot lies.
  static ProcessSlot process(const void* slot) noexcept {
    return segmentAt(slot)->membership().process();
  }

  /// Tells a process to look at that slot.
  static void notify(const void* slot, ProcessSlot process) noexcept {
    Segment& segment = *segmentAt(slot);
    segment.membership().notify(process, segment.id(), segment.slotOf(slot));
  }

  /// Calls `use` if the process of that process slot is dead: see Membership.
  template <class Use>
  static bool ifDead(const void* slot, ProcessSlot process, Use&& use) noexcept {
    return segmentAt(slot)->membership().ifDead(process, use);
  }

  /// How many agents of this process read that lock: guarded by the slot's bucket.
  static std::uint32_t& reads(const void* slot) noexcept { return segmentAt(slot)->reads(slot); }

  /// Where a test may kill the process.
  template <class Step>
  static void step(Step step) noexcept {
    killPoint(static_cast<int>(step));
  }
};

}  // namespace boxoffice::host
