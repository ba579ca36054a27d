// A simulated machine for the tests of scope host, without files: slots in shared memory, mapped once per
// process slot. One real process can so play several, each with its own local queues, since queues are found
// by address. They handle their wake-ups when the test decides, or are forked and killed.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "host_forms.h"
#include "stress.h"

namespace boxoffice::test {

using host::OwnerWord;
using host::ProcessSlot;
using host::Step;

class World {
 public:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::size_t kSlotBytes = 2048;
  static constexpr ProcessSlot kMost = 12;

  /// The records of a slot's holders, stored behind each slot.
  struct Books {
    std::atomic<int> inside;
    std::array<std::atomic<int>, kMost + 1> shares;  // by process slot: readers, or units held
    std::atomic<long> visits;
    std::atomic<long> told;
    std::atomic<long> violations;
  };

  explicit World(ProcessSlot processes) : processes_(processes) {
    std::FILE* const file = std::tmpfile();
    if (!file || ftruncate(fileno(file), kBytes) != 0)
      throw std::runtime_error("no memory to share");
    for (ProcessSlot s = 0; s <= processes; ++s) {
      void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
      if (at == MAP_FAILED) throw std::runtime_error("no memory to share");
      maps_[s] = static_cast<std::byte*>(at);
      if (pipe2(pipes_[s].data(), O_NONBLOCK | O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    }
    std::fclose(file);
    current = this;
  }
  ~World() {
    for (ProcessSlot s = 0; s <= processes_; ++s) {
      munmap(maps_[s], kBytes);
      close(pipes_[s][0]);
      close(pipes_[s][1]);
    }
    current = nullptr;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static inline World* current = nullptr;

  /// The lock in this slot, in the mapping of `process`; process slot 0 is the test's own.
  template <class Lock>
  Lock& at(ProcessSlot process, std::size_t slot = 0) {
    return *reinterpret_cast<Lock*>(maps_[process] + slot * kSlotBytes);
  }
  Books& books(ProcessSlot process, std::size_t slot = 0) {
    return *reinterpret_cast<Books*>(maps_[process] + slot * kSlotBytes + 1920);
  }
  OwnerWord owner(std::size_t slot = 0) {
    return OwnerWord(at<host::SlotHead>(0, slot).owner.load());
  }
  bool isBeyond(ProcessSlot process, std::size_t slot = 0) {
    return at<host::SlotHead>(0, slot).overflow.has(process);
  }

  ProcessSlot processOf(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (ProcessSlot s = 0; s <= processes_; ++s) {
      if (byte >= maps_[s] && byte < maps_[s] + kBytes) return s;
    }
    throw std::runtime_error("no slot");
  }
  std::size_t slotOf(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    return static_cast<std::size_t>(byte - maps_[processOf(address)]) / kSlotBytes;
  }
  std::uint32_t& reads(const void* address) { return reads_[processOf(address)][slotOf(address)]; }

  void notify(ProcessSlot process, std::uint32_t slots) {
    if (process > processes_) return;  // the word is corrupt
    shared().notified[process].fetch_or(slots);
    const char byte = 0;
    // A full pipe wakes its reader, too, so a failed write loses no wake-up.
    [[maybe_unused]] const auto sent = write(pipes_[process][1], &byte, 1);
  }
  void notifyAll() {
    for (ProcessSlot s = 1; s <= processes_; ++s) notify(s, (1U << kSlots) - 1);
  }
  /// Whether `process` has a notification that it has not handled yet.
  bool notified(ProcessSlot process, std::size_t slot = 0) {
    return shared().notified[process].load() & 1U << slot;
  }

  /// Handles the notifications of `process`, as its wake-up thread does. Returns whether there were any.
  template <class Lock>
  bool deliver(ProcessSlot process) {
    const std::uint32_t slots = shared().notified[process].exchange(0);
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (slots & 1U << i) at<Lock>(process, i).notified();
    }
    return slots != 0;
  }
  /// Delivers until no process has a notification left.
  template <class Lock>
  void deliverAll() {
    for (bool again = true; again;) {
      again = false;
      for (ProcessSlot s = 1; s <= processes_; ++s) again = deliver<Lock>(s) || again;
    }
  }

  /// The wake-up thread of a process.
  template <class Lock>
  class LoopWakeup {
   public:
    LoopWakeup(World& world, ProcessSlot process)
        : world_(world), process_(process), thread_([this] { listen(); }) {}
    ~LoopWakeup() {
      stop_ = true;
      world_.notify(process_, 0);
      thread_.join();
    }

   private:
    void listen() {
      const int end = world_.pipes_[process_][0];
      fcntl(end, F_SETFL, fcntl(end, F_GETFL) & ~O_NONBLOCK);
      std::array<char, 256> bytes{};
      while (!stop_) {
        if (read(end, bytes.data(), bytes.size()) > 0) world_.deliver<Lock>(process_);
      }
    }

    World& world_;
    const ProcessSlot process_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
  };

  // ---- death ----

  /// Sets whether `process` is dead, as the kernel would report it.
  void setDead(ProcessSlot process, bool isDead) { shared().dead[process] = isDead; }
  bool isDead(ProcessSlot process) {
    if (asked_) std::exchange(asked_, nullptr)();
    return shared().dead[process];
  }
  /// Runs `what` once, at the next call of isDead().
  void onAsked(std::function<void()> what) { asked_ = std::move(what); }

  /// Kills this process when it reaches `step` for the `count`th time from now on.
  static void killAt(Step step, int count) {
    fatal = step;
    left = count;
  }
  /// Runs `what` once, at the next `step`: between two instructions of the lock.
  void meanwhile(Step step, std::function<void()> what) {
    interrupted_ = step;
    interrupt_ = std::move(what);
  }
  void step(Step step) {
    if (interrupt_ && step == interrupted_) std::exchange(interrupt_, nullptr)();
    shared().steps[static_cast<std::size_t>(step)].fetch_add(1, std::memory_order_relaxed);
    if (left > 0 && step == fatal && left.fetch_sub(1) == 1) {
      shared().kills[static_cast<std::size_t>(step)].fetch_add(1);
      die();
    }
  }
  static void die() {
    kill(getpid(), SIGKILL);
    pause();
  }
  long killsAt(Step step) { return shared().kills[static_cast<std::size_t>(step)].load(); }

  /// The number of visits in all slots.
  long visits() {
    long all = 0;
    for (std::size_t i = 0; i < kSlots; ++i) all += books(0, i).visits.load();
    return all;
  }
  /// Whether more than `than` processes were killed at each of these steps.
  template <class Steps>
  bool killedAtEach(const Steps& steps, long than) {
    return std::all_of(steps.begin(), steps.end(), [&](Step at) { return killsAt(at) > than; });
  }

  /// Whether processes that run until they are killed may stop.
  std::atomic<bool>& enough() { return shared().enough; }

  /// Cleans up after a dead process, as the first process that is notified of the death does.
  template <class Lock>
  void evict(ProcessSlot dead) {
    for (std::size_t i = 0; i < kSlots; ++i) {
      Lock::evict(maps_[0] + i * kSlotBytes, dead);
      reads_[dead][i] = {};  // private memory of the dead process
    }
    notifyAll();
  }

 private:
  static constexpr std::size_t kBytes = 3 * 4096;

  struct Shared {
    std::array<std::atomic<std::uint32_t>, kMost + 1> notified;
    std::array<std::atomic<long>, host::kSteps> steps;
    std::array<std::atomic<long>, host::kSteps> kills;
    std::array<std::atomic<bool>, kMost + 1> dead;
    std::atomic<bool> enough;
  };
  Shared& shared() { return *reinterpret_cast<Shared*>(maps_[0] + kSlots * kSlotBytes); }

  static inline Step fatal{};
  static inline std::atomic<int> left{0};

  const ProcessSlot processes_;
  Step interrupted_{};
  std::function<void()> interrupt_;
  std::function<void()> asked_;
  std::array<std::byte*, kMost + 1> maps_{};
  std::array<std::array<int, 2>, kMost + 1> pipes_{};
  std::array<std::array<std::uint32_t, kSlots>, host::kProcessSlots> reads_{};
};

struct WorldPlatform : NativePlatform<WorldPlatform> {
  /// While this is not 0, the clock stands still at this time.
  static inline std::atomic<std::int64_t> frozen{0};

  static Deadline now() noexcept {
    const std::int64_t at = frozen.load();
    return at == 0 ? Clock::now() : Deadline(std::chrono::nanoseconds(at));
  }
  static ProcessSlot process(const void* slot) { return World::current->processOf(slot); }
  static void notify(const void* slot, ProcessSlot to) noexcept {
    World::current->notify(to, 1U << World::current->slotOf(slot));
  }
  template <class Use>
  static bool ifDead(const void*, ProcessSlot process, Use&& use) noexcept {
    if (!World::current->isDead(process)) return false;
    use();
    return true;
  }
  static std::uint32_t& reads(const void* slot) noexcept { return World::current->reads(slot); }
  static void step(Step step) noexcept { World::current->step(step); }
};

using WorldMutex = HostMutexForms<WorldPlatform>;

}  // namespace boxoffice::test
