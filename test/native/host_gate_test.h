// The fixture of the tests of events, latches, barriers and condition variables of scope host.
#pragma once

#include "host_lock_test.h"

namespace boxoffice::test {

template <class Gate>
class HostGateTest : public HostLockTest<Gate> {
 protected:
  /// Runs `what` in a forked process, which is killed at its `nth` `step`. Returns whether it got that far.
  template <class Do>
  bool killed(Step step, int nth, Do&& what) {
    const pid_t pid = fork();
    if (pid == 0) {
      World::killAt(step, nth);
      what();
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status);
  }
  static constexpr std::array kSteps{Step::beforeOwner,  Step::afterOwner, Step::joined,
                                     Step::beforeNotify, Step::parted,     Step::cleaned};
};

}  // namespace boxoffice::test
