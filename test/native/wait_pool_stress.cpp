// The wait pool under many submitters, with threads that come and go all the time, and against
// stop(): what was accepted runs exactly once, what was refused never.
#include <deque>
#include <memory>

#include "stress.h"

namespace boxoffice::test {
namespace {

using std::chrono::microseconds;

/// What became of one job. Not atomic: its reader must have waited for the pool.
struct Fate {
  bool accepted = false;
  int runs = 0;
};

class Counted final : public WaitPool::Job {
 public:
  Counted(Fate& fate, std::function<void()> work) : fate_(fate), work_(std::move(work)) {}
  void run() noexcept override {
    ++fate_.runs;
    work_();
  }
  void interrupt() noexcept override {}

 private:
  Fate& fate_;
  const std::function<void()> work_;
};

/// Waits for stop().
class Endless final : public WaitPool::Job {
 public:
  explicit Endless(Fate& fate) : fate_(fate) {}
  void run() noexcept override {
    interrupted_.wait();
    ++fate_.runs;
  }
  void interrupt() noexcept override { interrupted_.signal(); }

 private:
  Fate& fate_;
  LightweightSemaphore interrupted_;
};

TEST(WaitPoolStress, EachJobRunsOnce) {
  constexpr int kJobs = rounds(8'000);
  constexpr std::size_t kLimit = 3;
  Violations violations;
  std::atomic<std::size_t> inside{0};
  std::atomic<int> done{0};
  std::vector<std::deque<Fate>> fates(kThreads);
  {
    WaitPool pool(kLimit, microseconds(20));
    inThreads(kThreads, [&](int i, Dice& dice) {
      std::deque<Fate>& mine = fates[static_cast<std::size_t>(i)];
      for (int job = 0; job < kJobs; job += 2) {
        Fate& parent = mine.emplace_back();
        Fate& child = mine.emplace_back();
        parent.accepted = pool.submit(std::make_shared<Counted>(parent, [&, seed = job] {
          violations.unless(++inside <= kLimit);
          Dice(seed).dwell();
          child.accepted = pool.submit(std::make_shared<Counted>(child, [&] { ++done; }));
          --inside;
          ++done;
        }));
        violations.unless(pool.threads() <= kLimit);
        // Now and then the pool gets to rest, and its threads leave.
        if (dice(64) == 0) std::this_thread::sleep_for(dice.upTo(microseconds(200)));
      }
    });
    await([&] { return done == kThreads * kJobs; });  // a child of the last could be refused else
  }
  for (const auto& own : fates) {
    ASSERT_EQ(own.size(), static_cast<std::size_t>(kJobs));
    for (const Fate& fate : own) {
      violations.unless(fate.accepted);
      violations.unless(fate.runs == 1);
    }
  }
}

TEST(WaitPoolStress, StopAgainstSubmitLosesNothing) {
  constexpr int kSubmitters = 3;
  constexpr int kJobs = 4;
  Violations violations;
  long accepted = 0;
  long refused = 0;
  const Deadline end = Clock::now() + kPatienceForMeetings;
  const auto met = [&] { return (accepted > 0 && refused > 0) || Clock::now() >= end; };
  for (int round = 0; round < rounds(6'000) || !met(); ++round) {
    // Where each thread runs to its end before the next one begins, the stop is not always the last of them.
    const int stopper = round % (kSubmitters + 1);
    WaitPool pool(2, microseconds(round % 2 == 0 ? 5 : 1'000'000));
    std::vector<std::vector<Fate>> fates(kSubmitters + 1, std::vector<Fate>(kJobs));
    inThreads(kSubmitters + 1, [&](int i, Dice&) {
      Dice dice(round * (kSubmitters + 1) + i);
      for (int pause = dice(3'000); pause > 0; --pause) Platform::relax();
      if (i == stopper) return pool.stop();
      for (Fate& fate : fates[static_cast<std::size_t>(i)]) {
        std::shared_ptr<WaitPool::Job> job;
        if (dice(2) == 0) {
          job = std::make_shared<Endless>(fate);
        } else {
          job = std::make_shared<Counted>(fate, [] {});
        }
        fate.accepted = pool.submit(std::move(job));
      }
    });
    fates.erase(fates.begin() + stopper);
    for (const auto& own : fates) {
      for (const Fate& fate : own) {
        violations.unless(fate.runs == (fate.accepted ? 1 : 0));
        ++(fate.accepted ? accepted : refused);
      }
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0) << "else there was no race";
}

TEST(WaitPoolStress, IdleThreadsThatLeaveDoNotMissAJob) {
  std::atomic<int> ran{0};
  WaitPool pool(2, microseconds(50));
  Dice dice(0);
  for (int i = 1; i <= rounds(10'000); ++i) {
    Fate fate;
    ASSERT_TRUE(pool.submit(std::make_shared<Counted>(fate, [&] { ++ran; })));
    await([&] { return ran == i; });
    // About as long as the thread waits before it leaves.
    const Deadline end = Clock::now() + microseconds(30) + dice.upTo(microseconds(60));
    await([&] { return Clock::now() >= end; });
  }
}

}  // namespace
}  // namespace boxoffice::test
