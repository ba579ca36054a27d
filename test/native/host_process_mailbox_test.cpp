#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <semaphore>
#include <set>
#include <thread>
#include <vector>

#include "host/process_mailbox.h"

namespace boxoffice::host {
namespace {

using Letters = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;

struct Heard {
  Letters messages;
  bool all = false;
};

Heard collected(Member& member) {
  Heard notified;
  collect(
      member,
      [&](std::uint32_t segment, std::uint32_t slot) { notified.messages.emplace(segment, slot); },
      [&] { notified.all = true; });
  return notified;
}

TEST(ProcessMailbox, WritesAByteOnlyToASleepingProcess) {
  Member member{};
  EXPECT_FALSE(notify(member, 7, 0));
  EXPECT_FALSE(trySleep(member));  // something has come
  EXPECT_EQ(collected(member).messages, (Letters{{7, 0}}));
  EXPECT_TRUE(trySleep(member));
  const Sleep sleep = notify(member, 7, 4);
  EXPECT_NE(sleep, kNoSleep);
  woken(member, sleep);
  EXPECT_FALSE(notify(member, 7, 5));
  EXPECT_EQ(collected(member).messages, (Letters{{7, 4}, {7, 5}}));
  EXPECT_TRUE(trySleep(member));
  woken(member, wakeIfAsleep(member));
  EXPECT_FALSE(wakeIfAsleep(member));
}

TEST(ProcessMailbox, WakesASleeperThoughANotifierDiesBeforeItsByte) {
  Member member{};
  EXPECT_TRUE(trySleep(member));
  EXPECT_NE(notify(member, 7, 4), kNoSleep);
  // The first notifier was killed before its byte, or is stopped.
  EXPECT_NE(notify(member, 7, 5), kNoSleep);
}

TEST(ProcessMailbox, DoesNotTakeALaterSleepForTheOneANotifierEnded) {
  Member member{};
  EXPECT_TRUE(trySleep(member));
  const Sleep sleep = wakeIfAsleep(member);
  collected(member);
  EXPECT_TRUE(trySleep(member));
  woken(member, sleep);  // the notifier of the earlier sleep is late
  EXPECT_NE(wakeIfAsleep(member), kNoSleep);
}

TEST(ProcessMailbox, KeepsOneOfEachLetter) {
  Member member{};
  for (int i = 0; i < 1000; ++i) static_cast<void>(notify(member, 0xFFFFFFFF, 0xFFFFFFF0));
  const Heard notified = collected(member);
  EXPECT_EQ(notified.messages, (Letters{{0xFFFFFFFF, 0xFFFFFFF0}}));
  EXPECT_FALSE(notified.all);
}

TEST(ProcessMailbox, LooksAtEverythingWhenThereIsNoRoom) {
  Member member{};
  for (std::uint32_t slot = 0; slot < 2 * kMailboxEntries; ++slot) {
    static_cast<void>(notify(member, 1, slot));
  }
  EXPECT_TRUE(collected(member).all);
  const Heard next = collected(member);
  EXPECT_FALSE(next.all);
  EXPECT_TRUE(next.messages.empty());
  EXPECT_TRUE(trySleep(member));
  EXPECT_TRUE(postAll(member));
  EXPECT_TRUE(collected(member).all);
}

/// Each notify reports that a counter has grown. At the end, an unread count shows a lost notification.
class ProcessMailboxUnderLoad : public testing::TestWithParam<bool> {};

TEST_P(ProcessMailboxUnderLoad, LosesNone) {
  constexpr std::uint32_t kRingers = 3;
  constexpr std::uint32_t kSlots = 200;  // more than a mailbox has room for
  constexpr std::uint32_t kRounds = 40000;
  const auto member = std::make_unique<Member>();
  std::counting_semaphore<> bytes{0};
  std::vector<std::atomic<std::uint32_t>> said(kSlots);
  std::vector<std::atomic<std::uint32_t>> notified(kSlots);
  std::atomic<std::uint32_t> done{0};
  const auto look = [&](std::uint32_t slot) {
    const std::uint32_t now = said[slot].load();
    std::uint32_t known = notified[slot].load();
    while (known < now && !notified[slot].compare_exchange_weak(known, now)) {
    }
  };

  std::thread collector([&] {
    const auto collectAll = [&] {
      collect(
          *member, [&](std::uint32_t, std::uint32_t slot) { look(slot); },
          [&] {
            for (std::uint32_t slot = 0; slot < kSlots; ++slot) look(slot);
          });
    };
    // A ringer that finds the collector woken writes no byte. So what must not be missed, `done` too,
    // is read after collect() has set the state to awake, and before trySleep().
    for (collectAll(); done.load() < kRingers; collectAll()) {
      if (trySleep(*member)) bytes.acquire();
    }
    collectAll();  // what came before the last ringer counted itself in `done`
  });
  std::thread helper([&] {
    while (GetParam() && done.load() < kRingers) {
      takeMessages(*member, [&](std::uint32_t, std::uint32_t slot) { look(slot); });
      std::this_thread::yield();
    }
  });
  const auto wake = [&](Sleep sleep) {
    if (sleep == kNoSleep) return;
    bytes.release();
    woken(*member, sleep);
  };
  std::vector<std::thread> ringers;
  for (std::uint32_t id = 0; id < kRingers; ++id) {
    ringers.emplace_back([&, id] {
      std::uint32_t slot = id;
      for (std::uint32_t i = 0; i < kRounds; ++i) {
        slot = (slot * 1103515245 + 12345) % kSlots;
        said[slot].fetch_add(1);
        wake(notify(*member, 1, slot));
      }
      done.fetch_add(1);
      wake(wakeIfAsleep(*member));
    });
  }
  for (std::thread& ringer : ringers) ringer.join();
  collector.join();
  helper.join();
  for (std::uint32_t slot = 0; slot < kSlots; ++slot)
    EXPECT_EQ(notified[slot].load(), said[slot].load()) << slot;
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutHelp, ProcessMailboxUnderLoad, testing::Bool());

TEST(ProcessMailbox, HelpTakesLettersAndNothingElse) {
  Member member{};
  EXPECT_TRUE(trySleep(member));
  woken(member, notify(member, 7, 4));
  EXPECT_FALSE(postAll(member));
  Letters taken;
  const auto take = [&](std::uint32_t segment, std::uint32_t slot) {
    taken.emplace(segment, slot);
  };
  takeMessages(member, take);
  takeMessages(member, take);
  EXPECT_EQ(taken, (Letters{{7, 4}}));
  EXPECT_FALSE(trySleep(member));  // the wake-up thread was already woken, and still collects
  const Heard rest = collected(member);
  EXPECT_TRUE(rest.messages.empty());
  EXPECT_TRUE(rest.all);
}

}  // namespace
}  // namespace boxoffice::host
