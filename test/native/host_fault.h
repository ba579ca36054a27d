// Shared by the tests of scope host on all systems.
#pragma once

#include <optional>

#include "platform/host_error.h"

namespace boxoffice::host::test {

/// Returns the fault of the HostError that `step` throws, if it throws one.
template <class Step>
std::optional<HostFault> hostFaultOf(Step&& step) {
  try {
    step();
  } catch (const HostError& error) {
    return error.fault();
  }
  return std::nullopt;
}

}  // namespace boxoffice::host::test
