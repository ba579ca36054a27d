// Agents and what an event loop needs: ids, tickets, the mailbox.
#include <functional>
#include <set>

#include "support.h"

namespace boxoffice::test {
namespace {

TEST(AgentTest, AThreadKeepsItsIdAndNoOtherHasIt) {
  const AgentId mine = thisThread();
  EXPECT_NE(mine, kNoAgent);
  EXPECT_EQ(thisThread(), mine);
  std::set<AgentId> ids{mine};
  std::mutex mutex;
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const AgentId id = thisThread();
      {
        const std::lock_guard guard(mutex);
        EXPECT_TRUE(ids.insert(id).second);
      }
      ++ready;
      await([&] { return ready == 8; });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(AgentTest, AnIdIsReusedAsLateAsPossible) {
  const AgentId first = takeAgentId();
  giveAgentId(first);
  for (int i = 0; i < 1'000; ++i) {
    const AgentId id = takeAgentId();
    EXPECT_NE(id, first);
    giveAgentId(id);
  }
}

TEST(AgentTest, IdsStaySmallHoweverManyAgentsComeAndGo) {
  AgentId highest = 0;
  for (int i = 0; i < 10'000; ++i) {
    const AgentId id = takeAgentId();
    highest = std::max(highest, id);
    giveAgentId(id);
  }
  EXPECT_LT(highest, 3'000U);
}

#ifndef _WIN32
struct AtThreadEnd {
  std::function<void()> action;
  ~AtThreadEnd() { action(); }
};

TEST(AgentTest, AThreadKeepsItsIdInDestructorsOfItsThreadLocalObjects) {
  std::thread([] {
    // Created before the thread has an id, so destroyed after what the id might be kept in.
    thread_local AtThreadEnd end;
    const AgentId mine = thisThread();
    end.action = [mine] {
      EXPECT_EQ(thisThread(), mine);
      for (int i = 0; i < 10'000; ++i) {
        const AgentId id = takeAgentId();
        ASSERT_NE(id, mine);
        giveAgentId(id);
      }
    };
  }).join();
}

TEST(AgentTest, AThreadThatHasEndedGivesItsIdBack) {
  AgentId highest = 0;
  for (int i = 0; i < 3'000; ++i)
    std::thread([&] { highest = std::max(highest, thisThread()); }).join();
  EXPECT_LT(highest, 3'000U);
}
#endif

TEST(TicketPoolTest, HandsOutEachWaiterOnce) {
  TicketPool pool;
  std::set<Ticket> tickets;
  std::set<Waiter*> waiters;
  for (int i = 0; i < 1'000; ++i) {
    const Ticket ticket = pool.take();
    EXPECT_TRUE(tickets.insert(ticket).second);
    EXPECT_TRUE(waiters.insert(&pool.waiter(ticket)).second);
  }
  EXPECT_EQ(pool.out(), 1'000U);
  for (const Ticket ticket : tickets) pool.give(ticket);
  EXPECT_EQ(pool.out(), 0U);
  const Ticket again = pool.take();
  EXPECT_TRUE(tickets.contains(again)) << "given back ones are used before new memory";
}

TEST(TicketPoolTest, AWaiterStaysWhereItIsWhileThePoolGrows) {
  TicketPool pool;
  const Ticket ticket = pool.take();
  Waiter* const waiter = &pool.waiter(ticket);
  for (int i = 0; i < 1'000; ++i) pool.take();
  EXPECT_EQ(&pool.waiter(ticket), waiter);
}

TEST(TicketPoolTest, AWaiterTakenAgainIsFresh) {
  TicketPool pool;
  const Ticket ticket = pool.take();
  pool.waiter(ticket).priority = 7;
  pool.waiter(ticket).abandoned = true;
  pool.give(ticket);
  ASSERT_EQ(pool.take(), ticket);
  EXPECT_EQ(pool.waiter(ticket).priority, 0);
  EXPECT_FALSE(pool.waiter(ticket).abandoned);
}

TEST(TicketPoolTest, RefusesATicketThatItNeverHandedOut) {
  TicketPool pool;
  EXPECT_EQ(faultOf([&] { pool.waiter(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { pool.give(0); }), Fault::badArgument);
  pool.take();
  EXPECT_EQ(faultOf([&] { pool.waiter(1'000'000); }), Fault::badArgument);
}

struct CountingWakeup final : Wakeup {
  std::atomic<int> sends{0};
  void send() noexcept override { ++sends; }
};

class MailboxTest : public testing::Test {
 protected:
  Heard collect() {
    Heard heard;
    mailbox_.collect([&](Waiter& w, Wake how) { heard.push_back({&w, how}); });
    return heard;
  }

  CountingWakeup wakeup_;
  Mailbox mailbox_{wakeup_};
  Waiter a_{mailbox_, kAnna};
  Waiter b_{mailbox_, kAnna};
  Waiter c_{mailbox_, kAnna};
};

TEST_F(MailboxTest, ABurstIsOneRingAndIsCollectedInOrder) {
  EXPECT_EQ(collect(), Heard{});
  mailbox_.wake(a_, Wake::admitted);
  mailbox_.wake(b_, Wake::invited);
  mailbox_.wake(c_, Wake::admitted);
  EXPECT_EQ(wakeup_.sends, 1);
  EXPECT_EQ(collect(), (Heard{admitted(a_), invited(b_), admitted(c_)}));
  EXPECT_EQ(collect(), Heard{});
  mailbox_.wake(a_, Wake::invited);
  EXPECT_EQ(wakeup_.sends, 2) << "an emptied mailbox rings again";
  EXPECT_EQ(collect(), Heard{invited(a_)});
}

TEST_F(MailboxTest, APostWhileCollectingRingsAndIsCollectedNextTime) {
  mailbox_.wake(a_, Wake::admitted);
  mailbox_.wake(b_, Wake::admitted);
  std::vector<Waiter*> taken;
  mailbox_.collect([&](Waiter& w, Wake) {
    taken.push_back(&w);
    if (&w == &a_) mailbox_.wake(a_, Wake::invited);
  });
  EXPECT_EQ(taken, (std::vector<Waiter*>{&a_, &b_}));
  EXPECT_EQ(wakeup_.sends, 2);
  EXPECT_EQ(collect(), Heard{invited(a_)});
}

TEST_F(MailboxTest, ACollectedWaiterMayBeDestroyed) {
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.push_back(std::make_unique<Waiter>(mailbox_, kAnna));
    mailbox_.wake(*waiters.back(), Wake::admitted);
  }
  mailbox_.collect([&](Waiter& w, Wake) {
    std::erase_if(waiters, [&](const auto& mine) { return mine.get() == &w; });
  });
  EXPECT_TRUE(waiters.empty());
}

}  // namespace
}  // namespace boxoffice::test
