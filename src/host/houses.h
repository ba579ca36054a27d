// The houses of this process, of which there is one for each directory.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/house.h"
#include "platform/files.h"

namespace boxoffice::host {

class Houses {
 public:
  Houses();
  static Houses& here();

  std::shared_ptr<House> in(const std::string& given);
  /// By a house that has left.
  void remove(const House& house) noexcept;
  /// Whether this process is the child of a fork.
  bool forked() const noexcept { return forked_.load(std::memory_order_relaxed); }

 private:
  void inChild() noexcept;

  std::mutex mutex_;
  std::map<platform::FileId, std::weak_ptr<House>> all_;
  std::vector<House*> standing_;  // guarded by the fork gate
  std::atomic<bool> forked_{false};
};

}  // namespace boxoffice::host
