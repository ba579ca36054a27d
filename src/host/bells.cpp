#include "host/bells.h"

#include <mutex>
#include <utility>

#include "host/host_error.h"
#include "platform/process_wide.h"

namespace boxoffice::host {

using platform::File;

std::mutex& forkGate() {
  struct ForkGate {
    std::mutex mutex;
  };
  return processWide<ForkGate>().mutex;
}

Bells::Bells(std::string directory) : directory_(std::move(directory)) {}

std::string Bells::pathOf(Seat seat) const { return directory_ + "/bell-" + std::to_string(seat); }

std::uint64_t Bells::standIn(Seat seat) {
  const std::lock_guard shut(forkGate());
  const std::string path = pathOf(seat);
  File bell = platform::openBell(path);
  if (!platform::tryLock(bell)) return 0;
  const auto [device, number] = platform::idOf(bell, path);
  device_ = device;
  standIn_ = std::move(bell);
  return number;
}

bool Bells::isThere(Seat seat, std::uint64_t number) const {
  return platform::isAt(pathOf(seat), {device_, number});
}

bool Bells::keep() {
  const std::lock_guard shut(forkGate());
  if (!platform::tryLive(standIn_)) return false;
  watch_.add(standIn_, kOwn);
  own_ = std::move(standIn_);
  return true;
}

bool Bells::ifDead(Seat seat, std::uint64_t number, const std::function<void()>& use) const {
  const std::lock_guard shut(forkGate());
  const std::string path = pathOf(seat);
  const File& farEnd = farEnds_[seat % kSeats];
  const File bell = farEnd ? platform::openBellOf(farEnd) : platform::openBell(path);
  if (platform::idOf(bell, path).second != number || !platform::tryKeepFree(bell)) return false;
  use();
  return true;
}

void Bells::stepDown() noexcept {
  const std::lock_guard shut(forkGate());
  standIn_.close();
}

std::uint64_t Bells::standInForDead(Seat seat) {
  const std::lock_guard shut(forkGate());
  const File& farEnd = farEnds_[seat % kSeats];
  File bell = platform::openBellOf(farEnd);
  if (!platform::tryLock(bell)) return 0;
  const std::uint64_t number = platform::idOf(bell, pathOf(seat)).second;
  standIn_ = std::move(bell);
  return number;
}

bool Bells::watch(Seat seat, std::uint64_t number) {
  const std::lock_guard shut(forkGate());
  File& farEnd = farEnds_[seat % kSeats];
  bool& isWatched = isWatched_[seat % kSeats];
  if (!farEnd) {
    const std::string path = pathOf(seat);
    File opened = platform::openFarEnd(path);
    if (!opened) {
      // Nobody reads: it is dead already. The end can be opened beside a reader only, for which we pass
      // for a moment.
      const File reader = platform::openBell(path);
      opened = platform::openFarEnd(path);
    }
    if (!opened || platform::idOf(opened, path).second != number) return false;
    farEnd = std::move(opened);
  }
  if (!isWatched) watch_.add(farEnd, seat);
  isWatched = true;
  return true;
}

void Bells::rest(Seat seat) noexcept {
  const std::lock_guard shut(forkGate());
  if (std::exchange(isWatched_[seat % kSeats], false)) watch_.remove(farEnds_[seat % kSeats]);
}

void Bells::forget(Seat seat) noexcept {
  rest(seat);
  const std::lock_guard shut(forkGate());
  farEnds_[seat % kSeats].close();
}

void Bells::watchDirectory() {
  const std::lock_guard shut(forkGate());
  removals_.hear(directory_);
  if (removals_.file()) watch_.add(removals_.file(), kRemoval);
}

bool Bells::pull(Seat seat) noexcept {
  const std::lock_guard shut(forkGate());
  const File& known = farEnds_[seat % kSeats];
  if (known) {
    platform::pull(known);
    return true;
  }
  try {
    // One that we do not watch yet.
    if (const File farEnd = platform::openFarEnd(pathOf(seat))) platform::pull(farEnd);
    return true;
  } catch (const std::exception&) {
    return false;  // the caller knows what to do
  }
}

void Bells::pullOwn() noexcept {
  const std::lock_guard shut(forkGate());
  platform::pull(own_);
}

void Bells::close() noexcept {
  const std::lock_guard shut(forkGate());
  closeHere();
}

void Bells::closeHere() noexcept {
  watch_.close();
  own_.close();
  standIn_.close();
  removals_.close();
  for (File& farEnd : farEnds_) farEnd.close();
}

}  // namespace boxoffice::host
