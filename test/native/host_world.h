// A machine with processes for the tests of scope host, without files: slots in shared memory, and for each seat
// a mapping of its own. So several "processes" may live in one (each with its own private lines, which go by
// address), hear their bells when the test says so, or be forked and killed.
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

#include "host/host_mutex.h"
#include "host/own_part.h"
#include "stress.h"

namespace boxoffice::test {

using host::Seat;
using host::Step;
using host::Turn;

class World {
 public:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::size_t kSlotBytes = 1024;
  static constexpr Seat kMost = 12;

  /// What the slots' visitors write down, behind each slot.
  struct Books {
    std::atomic<int> inside;
    std::array<std::atomic<int>, kMost + 1> shares;  // a seat's readers, or what it holds
    std::atomic<long> visits;
    std::atomic<long> told;
    std::atomic<long> violations;
  };

  explicit World(Seat seats) : seats_(seats) {
    std::FILE* const file = std::tmpfile();
    if (!file || ftruncate(fileno(file), kBytes) != 0)
      throw std::runtime_error("no memory to share");
    for (Seat s = 0; s <= seats; ++s) {
      void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
      if (at == MAP_FAILED) throw std::runtime_error("no memory to share");
      maps_[s] = static_cast<std::byte*>(at);
      if (pipe2(pipes_[s].data(), O_NONBLOCK | O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    }
    std::fclose(file);
    current = this;
  }
  ~World() {
    for (Seat s = 0; s <= seats_; ++s) {
      munmap(maps_[s], kBytes);
      close(pipes_[s][0]);
      close(pipes_[s][1]);
    }
    current = nullptr;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static inline World* current = nullptr;

  /// The lock in this slot, as the process of this seat sees it; seat 0 looks on.
  template <class Lock>
  Lock& at(Seat seat, std::size_t slot = 0) {
    return *reinterpret_cast<Lock*>(maps_[seat] + slot * kSlotBytes);
  }
  Books& books(Seat seat, std::size_t slot = 0) {
    return *reinterpret_cast<Books*>(maps_[seat] + slot * kSlotBytes + 896);
  }
  Turn turn(std::size_t slot = 0) { return Turn(at<host::SlotHead>(0, slot).turn.load()); }
  bool isBeyond(Seat seat, std::size_t slot = 0) {
    return at<host::SlotHead>(0, slot).more.has(seat);
  }

  Seat seatOf(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (Seat s = 0; s <= seats_; ++s) {
      if (byte >= maps_[s] && byte < maps_[s] + kBytes) return s;
    }
    throw std::runtime_error("no slot");
  }
  std::size_t slotOf(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    return static_cast<std::size_t>(byte - maps_[seatOf(address)]) / kSlotBytes;
  }
  host::OwnPart& part(const void* address) { return parts_[seatOf(address)][slotOf(address)]; }

  void ring(Seat seat, std::uint32_t slots) {
    if (seat > seats_) return;  // somebody has scribbled
    shared().rung[seat].fetch_or(slots);
    const char byte = 0;
    // A full pipe will be read from all the same.
    [[maybe_unused]] const auto sent = write(pipes_[seat][1], &byte, 1);
  }
  void ringAll() {
    for (Seat s = 1; s <= seats_; ++s) ring(s, (1U << kSlots) - 1);
  }
  /// Whether this seat's bell has been rung and not been heard.
  bool rung(Seat seat, std::size_t slot = 0) { return shared().rung[seat].load() & 1U << slot; }

  /// What the bell thread of this seat does when it is woken. Whether there was anything.
  template <class Lock>
  bool hear(Seat seat) {
    const std::uint32_t slots = shared().rung[seat].exchange(0);
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (slots & 1U << i) at<Lock>(seat, i).heard();
    }
    return slots != 0;
  }
  /// Until nobody has anything to hear.
  template <class Lock>
  void hearAll() {
    for (bool again = true; again;) {
      again = false;
      for (Seat s = 1; s <= seats_; ++s) again = hear<Lock>(s) || again;
    }
  }

  /// The bell thread of a seat.
  template <class Lock>
  class Ear {
   public:
    Ear(World& world, Seat seat) : world_(world), seat_(seat), thread_([this] { listen(); }) {}
    ~Ear() {
      stop_ = true;
      world_.ring(seat_, 0);
      thread_.join();
    }

   private:
    void listen() {
      const int end = world_.pipes_[seat_][0];
      fcntl(end, F_SETFL, fcntl(end, F_GETFL) & ~O_NONBLOCK);
      std::array<char, 256> bytes{};
      while (!stop_) {
        if (read(end, bytes.data(), bytes.size()) > 0) world_.hear<Lock>(seat_);
      }
    }

    World& world_;
    const Seat seat_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
  };

  // ---- death ----

  /// That the process of this seat is dead, as the kernel says of it at once; until another has the seat.
  void setDead(Seat seat, bool isDead) { shared().dead[seat] = isDead; }
  bool isDead(Seat seat) {
    if (asked_) std::exchange(asked_, nullptr)();
    return shared().dead[seat];
  }
  /// What happens, once, when somebody asks that.
  void onAsked(std::function<void()> what) { asked_ = std::move(what); }

  /// From now on this process is killed when it has come to `step` for the `count`th time.
  static void killAt(Step step, int count) {
    fatal = step;
    left = count;
  }
  /// What happens, once, when somebody comes to this step: between two of its instructions.
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

  /// How often anybody has been in anywhere.
  long visits() {
    long all = 0;
    for (std::size_t i = 0; i < kSlots; ++i) all += books(0, i).visits.load();
    return all;
  }
  /// Whether more have been killed at each of these steps than that.
  template <class Steps>
  bool killedAtEach(const Steps& steps, long than) {
    return std::all_of(steps.begin(), steps.end(), [&](Step at) { return killsAt(at) > than; });
  }

  /// Whether those who go on until they are killed may stop.
  std::atomic<bool>& enough() { return shared().enough; }

  /// Cleans up after a dead process, as whoever is first does.
  template <class Lock>
  void evict(Seat dead) {
    for (std::size_t i = 0; i < kSlots; ++i) {
      Lock::evict(maps_[0] + i * kSlotBytes, dead);
      parts_[dead][i] = {};  // its memory has gone with it
    }
    ringAll();
  }

 private:
  static constexpr std::size_t kBytes = 2 * 4096;

  struct Shared {
    std::array<std::atomic<std::uint32_t>, kMost + 1> rung;
    std::array<std::atomic<long>, host::kSteps> steps;
    std::array<std::atomic<long>, host::kSteps> kills;
    std::array<std::atomic<bool>, kMost + 1> dead;
    std::atomic<bool> enough;
  };
  Shared& shared() { return *reinterpret_cast<Shared*>(maps_[0] + 4096); }

  static inline Step fatal{};
  static inline std::atomic<int> left{0};

  const Seat seats_;
  Step interrupted_{};
  std::function<void()> interrupt_;
  std::function<void()> asked_;
  std::array<std::byte*, kMost + 1> maps_{};
  std::array<std::array<int, 2>, kMost + 1> pipes_{};
  std::array<std::array<host::OwnPart, kSlots>, host::kSeats> parts_{};
};

struct WorldPlatform : NativePlatform<WorldPlatform> {
  /// Stands still while it is not 0.
  static inline std::atomic<std::int64_t> frozen{0};

  static Deadline now() noexcept {
    const std::int64_t at = frozen.load();
    return at == 0 ? Clock::now() : Deadline(std::chrono::nanoseconds(at));
  }
  static Seat seat(const void* slot) { return World::current->seatOf(slot); }
  static void ring(const void* slot, Seat to) noexcept {
    World::current->ring(to, 1U << World::current->slotOf(slot));
  }
  template <class Use>
  static bool ifDead(const void*, Seat seat, Use&& use) noexcept {
    if (!World::current->isDead(seat)) return false;
    use();
    return true;
  }
  static host::OwnPart& part(const void* slot) noexcept { return World::current->part(slot); }
  static void step(Step step) noexcept { World::current->step(step); }
};

using WorldMutex = host::BasicHostMutex<WorldPlatform>;

}  // namespace boxoffice::test
