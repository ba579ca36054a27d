// Forked processes that use the locks of a World and are killed there. The test's own process reports their
// deaths, as the kernel would, and cleans up after them.
#pragma once

#include <map>

#include "event_loop.h"
#include "host_world.h"

namespace boxoffice::test {

/// Records the holders of a slot's lock, to detect two that are inside at once. Each process has its own
/// number; a process that died inside leaves its number negated.
class HostRoom {
 public:
  HostRoom(World& world, ProcessSlot process, int who, std::size_t slot = 0)
      : books_(world.books(process, slot)), process_(process), who_(who) {}

  void enter(bool toldOfDeath) {
    const int before = books_.inside.exchange(who_);
    note(before <= 0 && (before == 0 || toldOfDeath) && shares() == 0);
    visited(toldOfDeath);
  }
  void leave() { note(books_.inside.exchange(0) == who_); }

  /// Enters as one of several holders, which together hold at most `limit`.
  void share(bool toldOfDeath, int part, int limit) {
    books_.shares[process_].fetch_add(part);
    int before = books_.inside;
    note(before <= 0 && shares() <= limit);
    // An exclusive holder died: the next exclusive holder need not be told as well.
    if (toldOfDeath && before < 0) books_.inside.compare_exchange_strong(before, 0);
    visited(toldOfDeath);
  }
  void unshare(int part) { note(books_.shares[process_].fetch_sub(part) >= part); }

 private:
  int shares() const {
    int all = 0;
    for (const auto& part : books_.shares) all += part;
    return all;
  }
  void visited(bool toldOfDeath) {
    books_.visits.fetch_add(1);
    if (toldOfDeath) books_.told.fetch_add(1);
  }
  void note(bool fine) {
    if (!fine) books_.violations.fetch_add(1);
  }

  World::Books& books_;
  const ProcessSlot process_;
  const int who_;
};

template <class Lock>
class Crowd {
 public:
  /// The work of a process; `life` is the number of processes that had its process slot before.
  using Work = std::function<void(ProcessSlot process, int number, int life)>;

  Crowd(World& world, Work work) : world_(world), work_(std::move(work)) {
    sigemptyset(&children_);
    sigaddset(&children_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children_, nullptr);
  }
  ~Crowd() { sigprocmask(SIG_UNBLOCK, &children_, nullptr); }

  /// Runs a process in each of the process slots 1 to `processes`, and starts a new process in place of each
  /// killed one. Once `kills` processes were killed and `seen()` holds, or after kPatienceForMeetings, it sets
  /// `enough`, and the processes finish. Every third clean-up is first made by a process that is killed
  /// during it.
  void run(ProcessSlot processes, int kills, const std::function<bool()>& seen = isSeen) {
    const Deadline late = Clock::now() + kPatienceForMeetings;
    world_.enough() = kills == 0;
    for (ProcessSlot s = 1; s <= processes; ++s) begin(s);
    while (!sitting_.empty()) {
      if ((killed_ >= kills && seen()) || Clock::now() >= late) world_.enough() = true;
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid == 0) {
        if (!awaitChild()) return endAll();
        continue;
      }
      const Seated dead = sitting_.extract(pid).mapped();
      if (!WIFSIGNALED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0);
        continue;
      }
      EXPECT_EQ(WTERMSIG(status), SIGKILL);
      reap(dead);
      ++killed_;
      begin(dead.process, dead.life + 1);
    }
  }

  int killed() const { return killed_; }
  /// The number of processes that died as exclusive holders.
  int killedInside() const { return inside_; }

 private:
  struct Seated {
    ProcessSlot process;
    int number;
    int life;
  };

  static bool isSeen() { return true; }

  // If no process acquires any lock for this long, a wake-up was lost. A limit on the whole run would depend
  // on the machine.
  static constexpr std::chrono::seconds kPatienceOfTests{30};

  /// Waits up to a second for a child to end. Returns false when all processes are stuck.
  bool awaitChild() {
    static constexpr timespec moment{.tv_sec = 1, .tv_nsec = 0};
    const Deadline now = Clock::now();
    const long visits = world_.visits();
    if (visits != std::exchange(visits_, visits)) lastVisit_ = now;
    return sigtimedwait(&children_, nullptr, &moment) == SIGCHLD ||
           now - lastVisit_ < kPatienceOfTests;
  }

  void begin(ProcessSlot process, int life = 0) {
    const Seated one{process, ++born_, life};
    const pid_t pid = fork();
    if (pid == 0) {
      {
        const typename World::LoopWakeup<Lock> loopWakeup(world_, process);
        work_(process, one.number, life);
      }
      _exit(0);
    }
    sitting_.emplace(pid, one);
  }

  void reap(const Seated& dead) {
    world_.setDead(dead.process, true);
    for (std::size_t i = 0; i < World::kSlots; ++i) {
      int inside = dead.number;
      if (world_.books(0, i).inside.compare_exchange_strong(inside, -dead.number)) ++inside_;
      world_.books(0, i).shares[dead.process] = 0;
    }
    if (killed_ % 3 == 0) {
      const pid_t cleaner = fork();
      if (cleaner == 0) {
        World::killAt(Step::cleaned, 1 + killed_ / 3 % 3);
        world_.evict<Lock>(dead.process);
        _exit(0);
      }
      waitpid(cleaner, nullptr, 0);
    }
    world_.evict<Lock>(dead.process);
    world_.setDead(dead.process, false);
  }

  void endAll() {
    ADD_FAILURE() << "a waiter waits for ever";
    for (const auto& [pid, one] : sitting_) kill(pid, SIGKILL);
    for (const auto& [pid, one] : sitting_) waitpid(pid, nullptr, 0);
    sitting_.clear();
  }

  World& world_;
  const Work work_;
  sigset_t children_{};
  std::map<pid_t, Seated> sitting_;
  long visits_ = -1;
  Deadline lastVisit_;
  int born_ = 0;
  int killed_ = 0;
  int inside_ = 0;
};

}  // namespace boxoffice::test
