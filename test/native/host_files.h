// Shared by the tests of platform/files.h and platform/wakeups.h on all systems.
#pragma once

#include <gtest/gtest.h>

#include "host/layout.h"
#include "host_fault.h"
#include "temporary_directory.h"

namespace boxoffice::host::test {

/// A directory of locks, opened, inside a temporary one.
struct HostFiles : testing::Test {
  std::string at(const std::string& name) const { return path + "/" + name; }
  void write(const std::string& name) const { std::ofstream(at(name)) << "text"; }

  const TemporaryDirectory outer;
  const std::string path = outer.path() + "/locks";
  const platform::File directory = platform::openDirectory(path);
};

/// A FIFO, opened by a reader.
struct HostWakeups : HostFiles {
  const std::string fifo = at("fifo");
  platform::FifoEnd reader = platform::openFifo(fifo);
  std::uint32_t tags[16];
};

}  // namespace boxoffice::host::test
