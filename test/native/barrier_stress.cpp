// A barrier's rounds never mix, even when they break.
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class P>
class BarrierStress : public testing::Test {
 protected:
  ~BarrierStress() override {
    EXPECT_EQ(barrier_.arrived(), 0U);
    expectNoWaiters<P>();
  }

  // The value that each thread writes in this round. A round's table is reused two rounds later, when no
  // thread can still read it.
  using Table = std::array<int, kThreads>;
  int& mine(int round, int index) {
    return tables_[static_cast<std::size_t>(round % 2)][static_cast<std::size_t>(index)];
  }
  void expectAll(int round, int value) {
    for (const int one : tables_[static_cast<std::size_t>(round % 2)]) {
      violations_.unless(one == value);
    }
  }

  BasicBarrier<P> barrier_{kThreads};
  Table tables_[2] = {};
  Violations violations_;
};

using Platforms = testing::Types<Platform, NoSpinPlatform>;
TYPED_TEST_SUITE(BarrierStress, Platforms);

TYPED_TEST(BarrierStress, NoPartyPassesBeforeAllHaveArrived) {
  std::atomic<int> lasts{0};
  inThreads(kThreads, [&](int index, Dice& dice) {
    for (int round = 0; round < rounds(8'000); ++round) {
      dice.dwell();
      this->mine(round, index) = round;
      const Passage passage = this->barrier_.wait();
      this->violations_.unless(passage == Passage::passed || passage == Passage::last);
      lasts += passage == Passage::last;
      this->expectAll(round, round);
    }
  });
  EXPECT_EQ(lasts, rounds(8'000)) << "one completes each round";
}

TYPED_TEST(BarrierStress, ARoundPassesForAllOrBreaksForAll) {
  BasicBarrier<TypeParam> repair(kThreads);
  std::atomic<int> passed{0};
  std::atomic<int> broken{0};
  const auto run = [&](int index, Dice& dice) {
    for (int round = 0; round < rounds(4'000); ++round) {
      dice.dwell();
      const auto timeout = dice(16) == 0 ? dice.upTo(50us) : 1h;
      const bool through = this->barrier_.waitFor(timeout) != Passage::broken;
      ++(through ? passed : broken);
      this->mine(round, index) = through;
      repair.wait();
      this->expectAll(round, through);
      if (!through && index == 0) this->barrier_.reset();
      repair.wait();
    }
  };
  inThreadsUntil([&] { return passed > 0 && broken > 0; }, kThreads, run);
  EXPECT_GT(passed, 0);
  EXPECT_GT(broken, 0);
}

}  // namespace
}  // namespace boxoffice::test
