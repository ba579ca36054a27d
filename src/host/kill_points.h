// Steps before which tests kill a process of scope host. A build with BOXOFFICE_KILL_POINTS ends it by SIGKILL
// before it reaches a step for the nth time, if the environment has BOXOFFICE_KILL=step:n (n defaults to
// 1). In all other builds a step does nothing.
//
// Steps of ownership and locks are numbered from 0 (handoff_queue.h), those of keys from 100 (key_area.h),
// those of processes and files from 200 (below).
#pragma once

namespace boxoffice::host {

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

}  // namespace boxoffice::host

#ifdef BOXOFFICE_KILL_POINTS

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace boxoffice::host {

struct KillPoint {
  KillPoint() noexcept {
    const char* const text = std::getenv("BOXOFFICE_KILL");
    if (!text) return;
    char* end = nullptr;
    step = static_cast<int>(std::strtol(text, &end, 10));
    if (*end == ':') left = static_cast<int>(std::strtol(end + 1, nullptr, 10));
  }

  int step = -1;
  std::atomic<int> left{1};
};

inline void killPoint(int step) noexcept {
  static KillPoint mine;
  if (step == mine.step && --mine.left == 0) kill(getpid(), SIGKILL);
}

}  // namespace boxoffice::host

#else

namespace boxoffice::host {

inline void killPoint(int) noexcept {}

}  // namespace boxoffice::host

#endif
