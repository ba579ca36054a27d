// What the box offices of scope host are made of in a real process: its lot and its threads are those of all
// other locks, so that their waiters are the same; seats and bells are those of the segment a lock lies in.
#pragma once

#include <cstdint>

#include "host/house.h"
#include "host/kill_points.h"
#include "host/segment.h"
#include "platform/platform.h"

namespace boxoffice::host {

struct HostPlatform : Platform {
  /// Of this process, where that slot lies.
  static Seat seat(const void* slot) noexcept { return segmentAt(slot)->house().seat(); }

  /// Tells a process to look at that slot.
  static void ring(const void* slot, Seat seat) noexcept {
    Segment& segment = *segmentAt(slot);
    segment.house().ring(seat, segment.id(), segment.slotOf(slot));
  }

  /// Calls `use` if the process of that seat is dead: see House.
  template <class Use>
  static bool ifDead(const void* slot, Seat seat, Use&& use) noexcept {
    return segmentAt(slot)->house().ifDead(seat, use);
  }

  /// What this process has of that read-write lock: guarded by the slot's bucket.
  static OwnPart& part(const void* slot) noexcept { return segmentAt(slot)->part(slot); }

  /// Where a test may kill the process.
  template <class Step>
  static void step(Step step) noexcept {
    killPoint(static_cast<int>(step));
  }
};

}  // namespace boxoffice::host
