#include "host/membership_registry.h"

#include <utility>

#include "host/former_runs.h"
#include "platform/host_error.h"
#include "platform/process_wide.h"
#include "platform/wakeups.h"

namespace boxoffice::host {

namespace {

/// Strips a trailing slash, because with it the system follows a symbolic link.
std::string withoutEnd(const std::string& given) {
  std::string path = platform::plainPath(given);
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) path.pop_back();
  return path;
}

std::string usualDirectory() {
  const std::string fromEnvironment = platform::variable("BOXOFFICE_DIRECTORY");
  return !fromEnvironment.empty() ? fromEnvironment : platform::defaultDirectory();
}

/// Throws for a relative path, which would name different directories in processes with different working
/// directories.
void checkAbsolute(const std::string& directory) {
  if (platform::isAbsolute(directory)) return;
  throw HostError(
      HostFault::segment,
      "boxoffice: the directory of locks of scope host must be an absolute path, not '" +
          directory + "'; look at BOXOFFICE_DIRECTORY");
}

}  // namespace

MembershipRegistry& MembershipRegistry::here() { return processWide<MembershipRegistry>(); }

MembershipRegistry::MembershipRegistry() {
  platform::aroundForks([] { forkGate().lock(); }, [] { forkGate().unlock(); },
                        [] {
                          here().inChild();
                          forkGate().unlock();
                        });
}

/// The fork gate is held, so the list does not change.
void MembershipRegistry::inChild() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  for (Membership* const membership : standing_) membership->wakeups_.closeHere();
}

std::shared_ptr<Membership> MembershipRegistry::in(const std::string& given) {
  if (forked()) {
    throw HostError(
        HostFault::forked,
        "boxoffice: a process made by fork alone cannot use locks of scope host, which its "
        "parent has used; have it run a program of its own (exec)");
  }
  const std::string directory = withoutEnd(!given.empty() ? given : usualDirectory());
  checkAbsolute(directory);
  const platform::File outer = platform::openDirectory(directory);
  const std::string boot = platform::bootName();
  const std::string path = directory + "/" + boot;
  platform::File place = platform::openDirectory(path);
  const std::lock_guard guard(mutex_);
  std::weak_ptr<Membership>& found = all_[platform::idOf(place, path)];
  if (auto membership = found.lock()) return membership;
  for (const auto& [id, other] : all_) {
    const auto membership = other.lock();
    if (membership && membership->path() == path) membership->checkThere();
  }
  auto membership = std::shared_ptr<Membership>(new Membership(directory, path, std::move(place)));
  found = membership;
  {
    const std::lock_guard shut(forkGate());
    standing_.push_back(membership.get());
  }
  removeFormerRuns(outer, directory, boot);
  membership->join();
  return membership;
}

void MembershipRegistry::remove(const Membership& membership) noexcept {
  const std::lock_guard shut(forkGate());
  std::erase(standing_, &membership);
}

}  // namespace boxoffice::host
