// Out of memory: a call that throws holds nothing and waits for nothing.
#include "failing_memory.h"
#include "support.h"

namespace boxoffice::test {
namespace {

struct Fresh : NativePlatform<Fresh> {};  // its parking lot has no spare queue

class LockSetMemoryTest : public testing::Test {
 protected:
  LockSetMemoryTest() {
    mutexes_[1].lock(kBen);
    // Creates the objects of the process and of the thread before memory runs out.
    Fresh::lot();
    Fresh::parker();
    Fresh::agent();
  }

  BasicMutex<Fresh> mutexes_[2];
  BasicLockSet<Fresh> set_{&mutexes_[0], &mutexes_[1]};
};

TEST_F(LockSetMemoryTest, ALockThatThrowsHoldsNothing) {
  failNewIn = 0;
  EXPECT_THROW(set_.lock(kAnna), std::bad_alloc);
  failNewIn = -1;
  EXPECT_FALSE(mutexes_[0].isLocked());
  EXPECT_FALSE(set_.tryLock(kAnna));
}

TEST_F(LockSetMemoryTest, AnEntryThatThrowsHoldsNothing) {
  Notes loop;
  Waiter w(loop, kAnna);
  failNewIn = 0;
  EXPECT_THROW(set_.enter(w), std::bad_alloc);
  failNewIn = -1;
  EXPECT_FALSE(mutexes_[0].isLocked());
}

}  // namespace
}  // namespace boxoffice::test
