// The wait pool: when its threads come and go, and in which order it runs jobs.
#include <pthread.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "wait_pool_jobs.h"

namespace boxoffice::test {
namespace {

TEST(WaitPoolTest, HasNoThreadBeforeTheFirstJob) {
  WaitPool pool(4, hours(1));
  EXPECT_EQ(pool.threads(), 0U);
  submitBlocked(pool, 1);
  EXPECT_EQ(pool.threads(), 1U);
}

TEST(WaitPoolTest, ItsThreadsHaveItsName) {
  std::string name;
  {
    WaitPool pool(1, hours(1));
    pool.submit(step([&] {
      char buffer[64] = {};
      pthread_getname_np(pthread_self(), buffer, sizeof(buffer));
      name = buffer;
    }));
  }
  EXPECT_EQ(name, "boxoffice wait");
}

TEST(WaitPoolTest, GrowsWhenAllAreBlocked) {
  WaitPool pool(8, hours(1));
  const Many jobs = submitBlocked(pool, 8);
  std::vector<std::thread::id> threads;
  for (const auto& job : jobs) {
    job->begun.wait();  // all at once: no job is released yet
    EXPECT_EQ(std::count(threads.begin(), threads.end(), job->thread), 0);
    threads.push_back(job->thread);
  }
  EXPECT_EQ(pool.threads(), 8U);
  EXPECT_EQ(pool.idle(), 0U);
}

TEST(WaitPoolTest, UsesAFreeThreadBeforeItStartsOne) {
  WaitPool pool(8, hours(1));
  for (int i = 0; i < 100; ++i) {
    pool.submit(step([] {}));
    awaitRest(pool);
  }
  EXPECT_EQ(pool.threads(), 1U);
  // Two jobs for one free thread, before it has had the time to take the first.
  const Many jobs = submitBlocked(pool, 2);
  for (const auto& job : jobs) job->begun.wait();
  EXPECT_EQ(pool.threads(), 2U);
}

TEST(WaitPoolTest, StartsNoMoreThanItsLimitAndRunsTheOthersInOrder) {
  WaitPool pool(2, hours(1));
  const Many busy = submitBlocked(pool, 2);
  for (const auto& job : busy) job->begun.wait();
  std::vector<int> order;
  LightweightSemaphore done;
  for (int i = 0; i < 100; ++i) {
    pool.submit(step([&order, &done, i] {
      order.push_back(i);
      if (i == 99) done.signal();
    }));
  }
  EXPECT_EQ(pool.threads(), 2U);
  EXPECT_EQ(pool.queued(), 100U);
  EXPECT_EQ(order, std::vector<int>{});
  busy[0]->go.signal();
  done.wait();  // by one thread: the other one is still blocked
  EXPECT_EQ(pool.queued(), 0U);
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(WaitPoolTest, AFreeThreadEndsAfterAWhile) {
  LightweightSemaphore gone;
  WaitPool pool(2, milliseconds(5));
  for (int i = 0; i < 2; ++i) {
    pool.submit(step([&] { tellOfEnd(gone); }));
    gone.wait();
    EXPECT_EQ(pool.threads(), 0U) << "and the next job starts another";
    EXPECT_EQ(pool.idle(), 0U);
  }
}

TEST(WaitPoolTest, ABusyThreadDoesNotEnd) {
  LightweightSemaphore gone;
  WaitPool pool(3, milliseconds(5));
  const Many jobs = submitBlocked(pool, 1);
  pool.submit(step([&] { tellOfEnd(gone); }));
  gone.wait();
  EXPECT_EQ(pool.threads(), 1U);
  EXPECT_EQ(jobs[0]->runs, 0);
}

TEST(WaitPoolTest, AFreeThreadWithoutLimitOfIdlenessStays) {
  WaitPool pool(1, std::chrono::nanoseconds::max());
  std::thread::id ids[2];
  for (std::thread::id& id : ids) {
    pool.submit(step([&id] { id = std::this_thread::get_id(); }));
    awaitRest(pool);
  }
  pool.stop();
  EXPECT_EQ(ids[0], ids[1]);
}

TEST(WaitPoolTest, AThreadWithNoPatienceStillRunsWhatIsQueued) {
  std::atomic<int> ran{0};
  WaitPool pool(1, milliseconds(0));
  for (int i = 0; i < 1'000; ++i) pool.submit(step([&] { ++ran; }));
  await([&] { return ran == 1'000; });
}

TEST(WaitPoolTest, AJobEndsWithItsRun) {
  WaitPool pool(1, hours(1));
  auto token = std::make_shared<int>();
  pool.submit(step([held = token] {}));
  await([&] { return token.use_count() == 1; });
}

TEST(WaitPoolTest, AJobMayUseThePoolUntilItIsGone) {
  class Clinging final : public WaitPool::Job {
   public:
    Clinging(WaitPool& pool, LightweightSemaphore& gone) : pool_(pool), gone_(gone) {}
    ~Clinging() {
      EXPECT_TRUE(pool_.submit(step([&gone = gone_] { gone.signal(); })));
    }
    void run() noexcept override {}
    void interrupt() noexcept override {}

   private:
    WaitPool& pool_;
    LightweightSemaphore& gone_;
  };
  LightweightSemaphore gone;
  WaitPool pool(1, hours(1));
  pool.submit(std::make_shared<Clinging>(pool, gone));
  gone.wait();
}

TEST(WaitPoolTest, AJobMaySubmitJobs) {
  LightweightSemaphore done;
  WaitPool pool(1, hours(1));
  std::function<void(int)> chain = [&](int left) {
    if (left == 0) {
      done.signal();
    } else {
      EXPECT_TRUE(pool.submit(step([&chain, left] { chain(left - 1); })));
    }
  };
  chain(100);
  done.wait();
  EXPECT_EQ(pool.threads(), 1U);
}

TEST(WaitPoolTest, AnInterruptMaySubmitAndIsRefused) {
  class Stubborn final : public WaitPool::Job {
   public:
    explicit Stubborn(WaitPool& pool) : pool_(pool) {}
    void run() noexcept override {
      begun.signal();
      go_.wait();
    }
    void interrupt() noexcept override {
      EXPECT_FALSE(pool_.submit(step([] {})));
      go_.signal();
    }
    LightweightSemaphore begun;

   private:
    WaitPool& pool_;
    LightweightSemaphore go_;
  };
  WaitPool pool(1, hours(1));
  const auto running = std::make_shared<Stubborn>(pool);
  pool.submit(running);
  pool.submit(std::make_shared<Stubborn>(pool));
  running->begun.wait();
  pool.stop();
}

TEST(WaitPoolTest, RefusesMisuse) {
  EXPECT_EQ(faultOf([] { const WaitPool pool(0, hours(1)); }), Fault::badArgument);
  std::optional<Fault> fault;
  {
    WaitPool pool(1, hours(1));
    EXPECT_EQ(faultOf([&] { pool.submit(nullptr); }), Fault::badArgument);
    EXPECT_EQ(pool.threads(), 0U);
    pool.submit(step([&] { fault = faultOf([&] { pool.stop(); }); }));
    awaitRest(pool);
    EXPECT_TRUE(pool.submit(step([] {}))) << "nothing has changed";
  }
  EXPECT_EQ(fault, Fault::badArgument);
}

TEST(WaitPoolDeathTest, AnExceptionOfAJobEndsTheProcessWithItsMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        WaitPool pool(1, hours(1));
        pool.submit(step([] { throw std::runtime_error("the bell is gone"); }));
        pool.stop();
      },
      "the bell is gone");
}

#ifdef __GLIBC__
TEST(WaitPoolTest, AThreadThatCannotBeStartedIsAnErrorAndChangesNothing) {
  WaitPool pool(2, hours(1));
  submitBlocked(pool, 1)[0]->begun.wait();
  pthread_attr_t usual;
  pthread_attr_t huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 50), 0);  // a petabyte
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  bool ran = false;
  EXPECT_THROW(pool.submit(step([&] { ran = true; })), std::system_error);
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_EQ(pool.threads(), 1U);
  EXPECT_EQ(pool.idle(), 0U);
  EXPECT_EQ(pool.queued(), 0U);
  EXPECT_TRUE(pool.submit(step([] {})));
  pool.stop();
  EXPECT_FALSE(ran);
}
#endif

}  // namespace
}  // namespace boxoffice::test
