// Memory that runs out: whoever throws holds nothing and waits for nothing.
#include <cstdlib>
#include <new>

#include "support.h"

static thread_local int failNewIn = -1;  // -1 never; 0: the next one fails
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (failNewIn >= 0 && failNewIn-- == 0) throw std::bad_alloc();
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  if (void* p = std::aligned_alloc(static_cast<std::size_t>(a),
                                   (n + static_cast<std::size_t>(a) - 1) /
                                       static_cast<std::size_t>(a) * static_cast<std::size_t>(a)))
    return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace boxoffice::test {
namespace {

struct Fresh : NativePlatform<Fresh> {};  // whose lot has no line to spare

class LockSetMemoryTest : public testing::Test {
 protected:
  LockSetMemoryTest() {
    mutexes_[1].lock(kBen);
    // What is made once per process or thread is made before memory runs out.
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
