#include "host/wakeups.h"

#include <mutex>
#include <utility>

#include "platform/host_error.h"
#include "platform/process_wide.h"

namespace boxoffice::host {

using platform::FifoEnd;

std::mutex& forkGate() {
  struct ForkGate {
    std::mutex mutex;
  };
  return processWide<ForkGate>().mutex;
}

Wakeups::Wakeups(std::string directory) : directory_(std::move(directory)) {}

std::string Wakeups::pathOf(ProcessSlot process) const {
  return directory_ + "/fifo-" + std::to_string(process);
}

std::uint64_t Wakeups::standIn(ProcessSlot process) {
  const std::lock_guard shut(forkGate());
  const std::string path = pathOf(process);
  FifoEnd fifo = platform::openFifo(path);
  if (!platform::tryLock(fifo)) return 0;
  const auto [device, number] = platform::idOf(fifo, path);
  device_ = device;
  standIn_ = std::move(fifo);
  return number;
}

bool Wakeups::isThere(ProcessSlot process, std::uint64_t number) const {
  return platform::isFifoAt(pathOf(process), {device_, number});
}

bool Wakeups::keep() {
  const std::lock_guard shut(forkGate());
  if (!platform::tryLive(standIn_)) return false;
  watch_.addReader(standIn_, kOwn);
  own_ = std::move(standIn_);
  return true;
}

bool Wakeups::ifDead(ProcessSlot process, std::uint64_t number,
                     const std::function<void()>& use) const {
  const std::lock_guard shut(forkGate());
  const std::string path = pathOf(process);
  const FifoEnd& writer = writers_[process % kProcessSlots];
  const FifoEnd fifo = writer ? platform::openFifoOf(writer, path) : platform::openFifo(path);
  const platform::FileId id = platform::idOf(writer ? writer : fifo, path);
  if (id.second != number || !platform::tryKeepFree(fifo)) return false;
  use();
  return true;
}

void Wakeups::stepDown() noexcept {
  const std::lock_guard shut(forkGate());
  if (lockedWriter_) platform::unlock(*std::exchange(lockedWriter_, nullptr));
  standIn_.close();
}

std::uint64_t Wakeups::standInForDead(ProcessSlot process) {
  const std::lock_guard shut(forkGate());
  const std::string path = pathOf(process);
  const FifoEnd& writer = writers_[process % kProcessSlots];
  const std::uint64_t number = platform::idOf(writer, path).second;
  try {
    FifoEnd fifo = platform::openFifoOf(writer, path);
    if (!platform::tryLock(fifo)) return 0;
    standIn_ = std::move(fifo);
  } catch (const HostError& error) {
    if (error.fault() != HostFault::exhausted) throw;
    // This FIFO has no reader while this process cleans up. So the others look again after a while: see
    // isStoodInFor().
    if (!platform::tryLock(writer)) return 0;
    lockedWriter_ = &writer;
  }
  return number;
}

bool Wakeups::isStoodInFor(ProcessSlot process) const {
  return platform::isStoodInFor(writers_[process % kProcessSlots]);
}

bool Wakeups::watch(ProcessSlot process, std::uint64_t number) {
  const std::lock_guard shut(forkGate());
  FifoEnd& writer = writers_[process % kProcessSlots];
  bool& isWatched = isWatched_[process % kProcessSlots];
  if (!writer || (!isWatched && platform::isOver(writer))) {
    const std::string path = pathOf(process);
    FifoEnd opened = platform::openWriter(path);
    if (!opened) {
      // There is no reader, so the process is dead. A writing end opens only if there is a reader, so open one for a
      // moment.
      const FifoEnd reader = platform::openFifo(path);
      opened = platform::openWriter(path);
    }
    if (!opened || platform::idOf(opened, path).second != number) return false;
    writer = std::move(opened);
  }
  if (!isWatched) watch_.addDeath(writer, process);
  isWatched = true;
  return true;
}

void Wakeups::unwatch(ProcessSlot process) noexcept {
  const std::lock_guard shut(forkGate());
  if (std::exchange(isWatched_[process % kProcessSlots], false))
    watch_.removeDeath(writers_[process % kProcessSlots]);
}

void Wakeups::forget(ProcessSlot process) noexcept {
  unwatch(process);
  const std::lock_guard shut(forkGate());
  writers_[process % kProcessSlots].close();
}

void Wakeups::watchDirectory(const std::string& bell) {
  const std::lock_guard shut(forkGate());
  removals_.deliver(directory_, directory_ + "/" + bell);
  if (removals_.file()) watch_.add(removals_.file(), kRemoval);
}

Wakeups::Sent Wakeups::send(ProcessSlot process) noexcept {
  const std::lock_guard shut(forkGate());
  const FifoEnd& known = writers_[process % kProcessSlots];
  if (known) {
    platform::send(known);
    return Sent::yes;
  }
  try {
    // This process does not watch that one yet.
    if (const FifoEnd writer = platform::openWriter(pathOf(process))) platform::send(writer);
    return Sent::yes;
  } catch (const HostError& error) {
    return error.fault() == HostFault::exhausted ? Sent::notYet : Sent::never;
  } catch (const std::exception&) {
    return Sent::notYet;
  }
}

void Wakeups::sendOwn() noexcept {
  const std::lock_guard shut(forkGate());
  platform::send(own_);
}

void Wakeups::close() noexcept {
  const std::lock_guard shut(forkGate());
  closeHere();
}

void Wakeups::closeHere() noexcept {
  watch_.close();
  own_.abandon();
  standIn_.abandon();
  removals_.close();
  for (FifoEnd& writer : writers_) writer.abandon();
}

}  // namespace boxoffice::host
