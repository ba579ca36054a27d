// The maximum number of readers that the word can count, and one more.
#include "support.h"

namespace boxoffice::test {
namespace {

using P = FakeClockPlatform;
using Rules = RWLockRules;

TEST(RWLockLimitsTest, ThousandsOfReadersKeepTheWriterOut) {
  BasicRWLock<P> lock;
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_TRUE(lock.tryLockRead());
    ASSERT_FALSE(lock.tryLockWrite(kAnna)) << i;
  }
  EXPECT_EQ(lock.readers(), 5'000U);
  for (int i = 0; i < 5'000; ++i) lock.unlockRead();
  EXPECT_EQ(wordOf(lock).load(), 0U);
}

TEST(RWLockLimitsTest, TheReaderAboveTheMaximumWaits) {
  BasicRWLock<P> lock;
  wordOf(lock).store(Rules::kMaxReaders << Rules::kCountShift);
  EXPECT_EQ(lock.readers(), Rules::kMaxReaders);
  EXPECT_FALSE(lock.tryLockRead());
  EXPECT_FALSE(lock.tryLockWrite(kAnna));
  Notes loop;
  Asking reader(loop, kBen, Rules::kRead);
  EXPECT_FALSE(lock.enter(reader));
  EXPECT_EQ(lock.readers(), Rules::kMaxReaders) << "nothing has run over into the bits beside it";
  EXPECT_EQ(lock.writer(), kNoAgent);
  lock.unlockRead();
  EXPECT_EQ(loop.take(), Heard{admitted(reader)});
  EXPECT_EQ(lock.readers(), Rules::kMaxReaders);
  EXPECT_EQ(wordOf(lock).load(), Rules::kMaxReaders << Rules::kCountShift);
}

}  // namespace
}  // namespace boxoffice::test
