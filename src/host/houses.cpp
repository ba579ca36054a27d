#include "host/houses.h"

#include <cstdlib>
#include <filesystem>

#include "host/host_error.h"
#include "platform/bells.h"
#include "platform/process_wide.h"

namespace boxoffice::host {

namespace {

/// What the machine's former runs have left there.
void removeFormerRuns(const platform::File& outer, const std::string& directory,
                      const std::string& boot) {
  for (const std::string& name : platform::namesIn(outer, directory)) {
    const bool isRun = name.size() == boot.size() &&
                       name.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (isRun && name != boot) platform::removeDirectory(directory + "/" + name);
  }
}

}  // namespace

Houses& Houses::here() { return processWide<Houses>(); }

Houses::Houses() {
  platform::aroundForks([] { forkGate().lock(); }, [] { forkGate().unlock(); },
                        [] {
                          here().inChild();
                          forkGate().unlock();
                        });
}

/// With the gate of forks held: the list does not change.
void Houses::inChild() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  for (House* const house : standing_) house->bells_.closeHere();
}

std::shared_ptr<House> Houses::in(const std::string& given) {
  if (forked()) {
    throw HostError(
        HostFault::forked,
        "boxoffice: a process made by fork alone cannot use locks of scope host, which its "
        "parent has used; have it run a program of its own (exec)");
  }
  const char* const fromEnvironment = std::getenv("BOXOFFICE_DIRECTORY");
  // Absolute: the process may go to another directory.
  const std::string directory = std::filesystem::absolute(!given.empty() ? given
                                                          : fromEnvironment && *fromEnvironment
                                                              ? fromEnvironment
                                                              : platform::defaultDirectory())
                                    .string();
  const platform::File outer = platform::openDirectory(directory);
  const std::string boot = platform::bootName();
  const std::string path = directory + "/" + boot;
  const platform::File place = platform::openDirectory(path);
  const std::lock_guard guard(mutex_);
  std::weak_ptr<House>& found = all_[platform::idOf(place, path)];
  if (auto house = found.lock()) return house;
  const auto house = std::shared_ptr<House>(new House(directory, path));
  found = house;
  {
    const std::lock_guard shut(forkGate());
    standing_.push_back(house.get());
  }
  removeFormerRuns(outer, directory, boot);
  house->open(place);
  return house;
}

void Houses::remove(const House& house) noexcept {
  const std::lock_guard shut(forkGate());
  std::erase(standing_, &house);
}

}  // namespace boxoffice::host
