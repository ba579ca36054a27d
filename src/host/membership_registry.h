// The memberships of this process, one per directory.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/membership.h"
#include "platform/files.h"

namespace boxoffice::host {

class MembershipRegistry {
 public:
  MembershipRegistry();
  static MembershipRegistry& here();

  std::shared_ptr<Membership> in(const std::string& given);
  /// Called by a membership that has left.
  void remove(const Membership& membership) noexcept;
  /// Whether this process is the child of a fork.
  bool forked() const noexcept { return forked_.load(std::memory_order_relaxed); }

 private:
  void inChild() noexcept;

  std::mutex mutex_;
  std::map<platform::FileId, std::weak_ptr<Membership>> all_;
  std::vector<Membership*> standing_;  // guarded by the fork gate
  std::atomic<bool> forked_{false};
};

}  // namespace boxoffice::host
