// The wait pool: what becomes of its jobs and threads when it stops.
#include <string>

#include "wait_pool_jobs.h"

namespace boxoffice::test {
namespace {

TEST(WaitPoolTest, StopInterruptsWhatRunsAndWhatIsQueuedAndRunsIt) {
  WaitPool pool(2, hours(1));
  const Many jobs = submitBlocked(pool, 50);
  for (int i = 0; i < 2; ++i) jobs[static_cast<std::size_t>(i)]->begun.wait();
  pool.stop();
  for (const auto& job : jobs) {
    EXPECT_EQ(job->runs, 1);
    EXPECT_EQ(job->interrupts, 1);
    EXPECT_EQ(job.use_count(), 1);
  }
  EXPECT_EQ(pool.threads(), 0U);
  EXPECT_EQ(pool.queued(), 0U);
}

TEST(WaitPoolTest, IsStoppedByItsDestructor) {
  Many jobs;
  {
    WaitPool pool(2, hours(1));
    jobs = submitBlocked(pool, 3);
  }
  for (const auto& job : jobs) EXPECT_EQ(job->runs, 1);
}

TEST(WaitPoolTest, StopSendsAllHomeWhoHaveNothingToDo) {
  WaitPool pool(4, hours(1));
  for (const auto& job : submitBlocked(pool, 4)) job->go.signal();
  await([&] { return pool.queued() == 0 && pool.idle() == 4; });
  pool.stop();
  EXPECT_EQ(pool.threads(), 0U);
  EXPECT_EQ(pool.idle(), 0U);
}

/// Takes longer to end than a stop that does not wait for it.
struct SlowEnd {
  LightweightSemaphore begun;
  std::atomic<int> ended{0};

  void ofThisThread() {
    struct Slow {
      SlowEnd& end;
      ~Slow() {
        end.begun.signal();
        std::this_thread::sleep_for(milliseconds(50));
        ++end.ended;
      }
    };
    thread_local const Slow slow{*this};
  }
};

TEST(WaitPoolTest, StopWaitsUntilItsThreadsHaveEnded) {
  SlowEnd end;
  WaitPool pool(1, hours(1));
  pool.submit(step([&] { end.ofThisThread(); }));
  pool.stop();
  EXPECT_EQ(end.ended, 1);
}

TEST(WaitPoolTest, StopWaitsForThreadsThatHadLeftBefore) {
  SlowEnd end;
  WaitPool pool(2, milliseconds(1));
  submitBlocked(pool, 1);
  pool.submit(step([&] { end.ofThisThread(); }));
  end.begun.wait();
  EXPECT_EQ(pool.threads(), 1U);
  pool.stop();
  EXPECT_EQ(end.ended, 1);
}

TEST(WaitPoolTest, StopsOnceHoweverOftenItIsTold) {
  WaitPool pool(2, hours(1));
  const Many jobs = submitBlocked(pool, 4);
  std::vector<std::thread> stoppers;
  for (int i = 0; i < 4; ++i) {
    stoppers.emplace_back([&] {
      pool.stop();
      for (const auto& job : jobs) EXPECT_EQ(job->runs, 1) << "each returns when all is over";
    });
  }
  for (std::thread& stopper : stoppers) stopper.join();
  for (const auto& job : jobs) EXPECT_EQ(job->interrupts, 1);
}

TEST(WaitPoolTest, RefusesJobsOnceItHasBeenStopped) {
  WaitPool pool(2, hours(1));
  pool.stop();
  bool ran = false;
  EXPECT_FALSE(pool.submit(step([&] { ran = true; })));
  EXPECT_EQ(pool.threads(), 0U);
  pool.stop();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace boxoffice::test
