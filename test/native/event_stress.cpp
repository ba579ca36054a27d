// Events and the latch: no signal or wake is lost, and a wait sees the writes before its signal.
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

class EventStress : public testing::Test {
 protected:
  ~EventStress() override { expectNoWaiters<Platform>(); }

  Tally tally_;
};

TEST_F(EventStress, AnAutoResetEventAsAMutex) {
  AutoResetEvent event(true);
  Room room;
  const auto run = [&](int, Dice& dice) {
    for (int i = 0; i < rounds(15'000); ++i) {
      if (!tally_.timed(event.waitFor(dice(2) ? 1h : dice.upTo(50us)))) continue;
      room.enter(false);
      dice.dwell();
      room.leave();
      event.signal();
    }
  };
  inThreadsUntil([&] { return tally_.timedOut > 0; }, kThreads, run);
  EXPECT_EQ(room.visits(), tally_.in);
  EXPECT_GT(tally_.timedOut, 0);
  EXPECT_TRUE(event.isSet());
}

TEST_F(EventStress, AutoResetEventsKickedRoundARing) {
  AutoResetEvent events[kThreads];
  long laps = 0;
  inThreads(kThreads, [&](int index, Dice&) {
    AutoResetEvent& mine = events[index];
    AutoResetEvent& next = events[(index + 1) % kThreads];
    for (int i = 0; i < rounds(4'000); ++i) {
      if (index > 0 || i > 0) mine.wait();
      ++laps;
      next.signal();
    }
  });
  EXPECT_EQ(laps, kThreads * rounds(4'000));
  EXPECT_TRUE(events[0].tryWait());
}

TEST_F(EventStress, EverySignalOfAnAutoResetEventIsTakenKeptOrOneWithAnother) {
  AutoResetEvent event;
  std::atomic<long> signals{0};
  std::atomic<int> signallers{kThreads / 2};
  inThreads(kThreads, [&](int index, Dice& dice) {
    if (index % 2 == 0) {
      // Continues until a signal has been taken: the takers may start late.
      for (int i = 0; i < rounds(20'000) || tally_.in == 0; ++i) {
        event.signal();
        ++signals;
        dice.dwell();
      }
      --signallers;
    } else {
      while (signallers > 0) tally_.timed(event.waitFor(dice.upTo(30us)));
    }
  });
  EXPECT_LE(tally_.in + event.isSet(), signals);
  EXPECT_GT(tally_.in, 0);
  event.tryWait();
  EXPECT_FALSE(event.tryWait());
}

TEST_F(EventStress, ASignalOfASetEventStillShowsEarlierWrites) {
  // The threads take turns by relaxed flags, which order nothing, so only the event orders them.
  for (int i = 0; i < rounds(400); ++i) {
    AutoResetEvent event;
    std::atomic<int> turn{0};
    int written[2] = {};
    const auto signalInTurn = [&](int mine) {
      await([&] { return turn.load(std::memory_order_relaxed) == mine; });
      written[mine] = 1;
      event.signal();
      turn.store(mine + 1, std::memory_order_relaxed);
    };
    std::thread first(signalInTurn, 0);
    std::thread second(signalInTurn, 1);
    await([&] { return turn.load(std::memory_order_relaxed) == 2; });
    event.wait();
    EXPECT_EQ(written[0] + written[1], 2);
    first.join();
    second.join();
  }
}

TEST_F(EventStress, ManualResetEventsOpenAndCloseRoundByRound) {
  ManualResetEvent gates[2];
  std::atomic<int> through{0};
  int round = -1;
  Violations violations;
  inThreads(kThreads, [&](int index, Dice& dice) {
    for (int r = 0; r < rounds(3'000); ++r) {
      ManualResetEvent& gate = gates[r % 2];
      if (index == 0) {
        round = r;
        gate.set();
        await([&] { return through == (r + 1) * (kThreads - 1); });
        gate.reset();
      } else {
        while (!tally_.timed(gate.waitFor(dice(4) ? 1h : dice.upTo(30us)))) {
        }
        violations.unless(round == r);
        ++through;
      }
    }
  });
  EXPECT_EQ(tally_.in, (kThreads - 1) * rounds(3'000));
  EXPECT_FALSE(gates[0].isSet() || gates[1].isSet());
}

TEST_F(EventStress, ALatchOpensWhenAllAreDone) {
  const int latchCount = rounds(3'000);
  std::vector<std::unique_ptr<CountdownLatch>> latches;
  std::vector<std::array<int, kThreads>> done(static_cast<std::size_t>(latchCount));
  for (int i = 0; i < latchCount; ++i) {
    latches.push_back(std::make_unique<CountdownLatch>(kThreads));
  }
  Violations violations;
  inThreads(kThreads, [&](int index, Dice& dice) {
    for (std::size_t i = 0; i < latches.size(); ++i) {
      done[i][static_cast<std::size_t>(index)] = 1;
      latches[i]->countDown();
      while (!tally_.timed(latches[i]->waitFor(dice(4) ? 1h : dice.upTo(30us)))) {
      }
      for (const int one : done[i]) violations.unless(one == 1);
    }
  });
  EXPECT_EQ(tally_.in, kThreads * latchCount);
}

}  // namespace
}  // namespace boxoffice::test
