// The mailbox of an event loop between threads.
#include <algorithm>
#include <functional>

#include "support.h"

namespace boxoffice::test {
namespace {

struct HookPlatform;
inline std::function<void()> afterPost;
template <class T>
struct HookAtomic : std::atomic<T> {
  using std::atomic<T>::atomic;
  bool compare_exchange_weak(T& e, T d, std::memory_order a, std::memory_order b) noexcept {
    const bool ok = std::atomic<T>::compare_exchange_weak(e, d, a, b);
    if (ok && afterPost) std::exchange(afterPost, nullptr)();
    return ok;
  }
};
struct HookPlatform : NativePlatform<HookPlatform> {
  template <class T>
  using Atomic = HookAtomic<T>;
};
struct Silent final : Wakeup {
  void send() noexcept override {}
};
TEST(MailboxThreadsTest, MayEndOnceItsLastWakeIsCollected) {
  Silent wakeup;
  auto* mailbox = new BasicMailbox<HookPlatform>(wakeup);
  Waiter w;
  afterPost = [&] {  // the loop's thread takes its last wake, has nothing pending, and ends
    int got = 0;
    mailbox->collect([&](Waiter&, Wake) { ++got; });
    EXPECT_EQ(got, 1);
    delete mailbox;
  };
  mailbox->wake(w, Wake::admitted);  // ASan would report a use after free of wakeup_
}

TEST(MailboxThreadsTest, LoseNothing) {
  constexpr int kPosters = 4;
  constexpr int kPosts = 5000;
  struct Waking final : Wakeup {
    void send() noexcept override { sent.signal(); }
    LightweightSemaphore sent;
  } wakeup;
  Mailbox mailbox(wakeup);
  std::vector<std::thread> posters;
  std::vector<std::vector<Waiter>> waiters;
  for (int i = 0; i < kPosters; ++i) waiters.emplace_back(kPosts);
  for (auto& own : waiters) {
    posters.emplace_back([&mailbox, &own] {
      for (Waiter& w : own) mailbox.wake(w, Wake::admitted);
    });
  }
  std::vector<Waiter*> next;
  for (auto& own : waiters) next.push_back(own.data());
  for (int got = 0; got < kPosters * kPosts;) {
    wakeup.sent.wait();
    mailbox.collect([&](Waiter& w, Wake) {
      ++got;
      const auto whose = std::find(next.begin(), next.end(), &w);
      ASSERT_NE(whose, next.end()) << "each poster's come in its order";
      ++*whose;
    });
  }
  for (auto& poster : posters) poster.join();
}

}  // namespace
}  // namespace boxoffice::test
