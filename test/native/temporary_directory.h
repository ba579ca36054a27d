// Shared by the tests of scope host on all systems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "host/names.h"
#include "platform/files.h"
#include "platform/wakeups.h"

namespace boxoffice::host::test {

/// An empty directory, in memory where the system can; the destructor removes it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() { platform::openDirectory(path_); }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// The directory of the files since the machine's last boot.
  std::string run() const { return path_ + "/" + platform::bootName(); }
  std::string file(Kind kind, const std::string& name) const {
    return run() + "/" + fileName(kind, name);
  }

  /// The lines that members wrote during clean-ups.
  std::vector<std::string> log() const {
    std::vector<std::string> lines;
    std::ifstream file(path_ + "/log");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void awaitLog(std::size_t lines) const {
    while (log().size() < lines) std::this_thread::yield();
  }

 private:
  static std::string newPath() {
    std::uint64_t number = 0;
    platform::randomBytes(&number, sizeof number);
    const std::filesystem::path usual(platform::defaultDirectory());
    return usual.parent_path().generic_string() + "/boxoffice-test-" + std::to_string(number);
  }

  const std::string path_ = newPath();
};

}  // namespace boxoffice::host::test
