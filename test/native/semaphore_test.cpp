// The two semaphores that block threads: the system's semaphore, and the count in front of it.
#include <deque>
#include <functional>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class Sema>
class SemaphoreSuite : public testing::Test {};

using Semaphores = testing::Types<Semaphore, BasicLightweightSemaphore<Platform>,
                                  BasicLightweightSemaphore<NoSpinPlatform>>;
TYPED_TEST_SUITE(SemaphoreSuite, Semaphores);

template <class Sema>
int drain(Sema& semaphore) {
  int count = 0;
  while (semaphore.tryWait()) ++count;
  return count;
}

TYPED_TEST(SemaphoreSuite, CountsSignalsThatWereNotTaken) {
  TypeParam semaphore;
  EXPECT_FALSE(semaphore.tryWait());
  semaphore.signal();
  semaphore.signal(3);
  semaphore.signal(0);
  semaphore.wait();
  EXPECT_TRUE(semaphore.waitFor(0ns));
  EXPECT_TRUE(semaphore.waitFor(-1s));
  EXPECT_TRUE(semaphore.waitUntil(kNever));
  EXPECT_FALSE(semaphore.tryWait());
}

TYPED_TEST(SemaphoreSuite, StartsWithACount) {
  TypeParam semaphore(2);
  EXPECT_EQ(drain(semaphore), 2);
  EXPECT_EQ(faultOf([] { TypeParam bad(-1); }), Fault::badArgument);
}

TYPED_TEST(SemaphoreSuite, GivesUpWithoutATrace) {
  TypeParam semaphore;
  EXPECT_FALSE(semaphore.waitFor(0ns));
  EXPECT_FALSE(semaphore.waitFor(-1h));
  EXPECT_FALSE(semaphore.waitFor(std::chrono::nanoseconds::min()));
  EXPECT_FALSE(semaphore.waitFor(20us));
  EXPECT_FALSE(semaphore.waitUntil(Clock::now() + 20us));
  EXPECT_FALSE(semaphore.waitUntil(Deadline::min()));
  semaphore.signal();
  EXPECT_EQ(drain(semaphore), 1) << "a wait that gave up took no signal and left none";
}

TYPED_TEST(SemaphoreSuite, DoesNotReturnBeforeItsDeadline) {
  TypeParam semaphore;
  const Deadline deadline = Clock::now() + 3ms;
  EXPECT_FALSE(semaphore.waitUntil(deadline));
  EXPECT_GE(Clock::now(), deadline);
}

TYPED_TEST(SemaphoreSuite, WakesAsManyThreadsAsItIsSignalled) {
  TypeParam semaphore;
  std::atomic<int> through{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) {
        semaphore.wait();
      } else {
        EXPECT_TRUE(semaphore.waitFor(i == 1 ? std::chrono::nanoseconds::max() : 1h));
      }
      ++through;
    });
  }
  semaphore.signal(2);
  await([&] { return through == 2; });
  semaphore.signal(4);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(through, 6);
  EXPECT_FALSE(semaphore.tryWait());
}

TYPED_TEST(SemaphoreSuite, RefusesToPassItsMaximumOrToCountDown) {
  TypeParam semaphore(TypeParam::kMax - 1);
  EXPECT_EQ(faultOf([&] { semaphore.signal(2); }), Fault::overflow);
  EXPECT_EQ(faultOf([&] { semaphore.signal(TypeParam::kMax); }), Fault::overflow);
  EXPECT_EQ(faultOf([&] { semaphore.signal(-1); }), Fault::badArgument);
  semaphore.signal(1);
  EXPECT_EQ(faultOf([&] { semaphore.signal(1); }), Fault::overflow);
  EXPECT_TRUE(semaphore.tryWait());
  semaphore.signal(1);
}

TYPED_TEST(SemaphoreSuite, ASignalShowsEarlierWrites) {
  TypeParam semaphore;
  int written = 0;
  std::thread writer([&] {
    written = 42;
    semaphore.signal();
  });
  semaphore.wait();
  EXPECT_EQ(written, 42);
  writer.join();
}

TEST(LightweightSemaphoreTest, RefusesAnInitialCountAboveItsMaximum) {
  EXPECT_EQ(faultOf([] { LightweightSemaphore bad(LightweightSemaphore::kMax + 1); }),
            Fault::badArgument);
}

/// A bouncer with scripted timeouts: each wait runs the next event of the test, then times out.
struct Scripted {
  static inline std::deque<std::function<void()>> timeouts;
  static inline int count = 0;

  void wait() { --count; }
  bool waitUntil(Deadline) {
    if (!timeouts.empty()) {
      const auto event = timeouts.front();
      timeouts.pop_front();
      event();
      return false;
    }
    if (count == 0) return false;
    --count;
    return true;
  }
  void signal(int n) { count += n; }
};

struct ScriptedPlatform : NativePlatform<ScriptedPlatform> {
  using Semaphore = Scripted;
  static constexpr int kBusyLooks = 0;
  static constexpr int kYieldLooks = 0;
};

class LightweightSemaphoreRaceTest : public testing::Test {
 protected:
  ~LightweightSemaphoreRaceTest() override {
    EXPECT_TRUE(Scripted::timeouts.empty());
    EXPECT_EQ(Scripted::count, 0) << "a post is left behind for another waiter";
  }

  BasicLightweightSemaphore<ScriptedPlatform> semaphore_;
};

TEST_F(LightweightSemaphoreRaceTest, ATimeoutWithoutASignalLeavesNothingBehind) {
  EXPECT_FALSE(semaphore_.waitFor(1h));
  semaphore_.signal();
  EXPECT_TRUE(semaphore_.tryWait());
}

TEST_F(LightweightSemaphoreRaceTest, ASignalThatRacesTheTimeoutIsTaken) {
  Scripted::timeouts = {[this] { semaphore_.signal(); }};
  EXPECT_TRUE(semaphore_.waitFor(1h));
  EXPECT_FALSE(semaphore_.tryWait());
}

TEST_F(LightweightSemaphoreRaceTest, APostThatALaterWaiterTakesIsNotWaitedFor) {
  Scripted::timeouts = {[this] { semaphore_.signal(); },
                        [this] { EXPECT_TRUE(semaphore_.waitFor(1h)); }};
  EXPECT_FALSE(semaphore_.waitFor(1h)) << "one signal, and the later one has it";
  semaphore_.signal();
  EXPECT_TRUE(semaphore_.tryWait());
}

}  // namespace
}  // namespace boxoffice::test
