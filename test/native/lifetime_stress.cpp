// An admitted thread may destroy the primitive before the admitting thread's call has returned.
#include "stress.h"

namespace boxoffice::test {
namespace {

class LifetimeStress : public testing::Test {
 protected:
  ~LifetimeStress() override { expectNoWaiters<Platform>(); }

  // One thread creates each `T`, hands it over and calls `letIn`. The other thread acquires by `goIn` and
  // destroys the `T` at once.
  template <class T, class Make, class LetIn, class GoIn>
  void handOver(Make&& make, LetIn&& letIn, GoIn&& goIn) {
    std::atomic<T*> handed{nullptr};
    std::thread destroyer([&] {
      for (int i = 0; i < rounds(20'000); ++i) {
        T* mine = nullptr;
        await([&] { return (mine = handed.exchange(nullptr)) != nullptr; });
        goIn(*mine);
        delete mine;
      }
    });
    Dice dice(0);
    for (int i = 0; i < rounds(20'000); ++i) {
      T* const made = make();
      await([&] { return handed.load() == nullptr; });
      handed = made;
      dice.dwell();
      letIn(*made);
    }
    destroyer.join();
  }
};

TEST_F(LifetimeStress, ASemaphoreMayBeDestroyedByTheThreadItLetIn) {
  handOver<Semaphore>([] { return new Semaphore; }, [](Semaphore& s) { s.signal(); },
                      [](Semaphore& s) { s.wait(); });
}

TEST_F(LifetimeStress, ALightweightSemaphoreMayBeDestroyedByTheThreadItLetIn) {
  handOver<LightweightSemaphore>([] { return new LightweightSemaphore; },
                                 [](LightweightSemaphore& s) { s.signal(); },
                                 [](LightweightSemaphore& s) { s.wait(); });
}

TEST_F(LifetimeStress, AMutexMayBeDestroyedByTheThreadItLetIn) {
  handOver<Mutex>(
      [] {
        auto* const mutex = new Mutex;
        mutex->lock();
        return mutex;
      },
      [](Mutex& mutex) { mutex.unlock(); },
      [](Mutex& mutex) {
        mutex.lock();
        mutex.unlock();
      });
}

TEST_F(LifetimeStress, AReadWriteLockMayBeDestroyedByTheThreadItLetIn) {
  handOver<RWLock>(
      [] {
        auto* const lock = new RWLock;
        lock->lockRead();
        return lock;
      },
      [](RWLock& lock) { lock.unlockRead(); },
      [](RWLock& lock) {
        lock.lockWrite();
        lock.unlockWrite();
      });
}

TEST_F(LifetimeStress, AnEventMayBeDestroyedByTheThreadItLetIn) {
  handOver<AutoResetEvent>([] { return new AutoResetEvent; },
                           [](AutoResetEvent& event) { event.signal(); },
                           [](AutoResetEvent& event) { event.wait(); });
}

TEST_F(LifetimeStress, ALatchMayBeDestroyedByTheThreadItLetIn) {
  handOver<CountdownLatch>([] { return new CountdownLatch(1); },
                           [](CountdownLatch& latch) { latch.countDown(); },
                           [](CountdownLatch& latch) { latch.wait(); });
}

}  // namespace
}  // namespace boxoffice::test
