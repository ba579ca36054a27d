// Philosophers: neighbours never eat at once, and every philosopher eats.
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

template <class Philosophers>
class DiningStress : public testing::Test {
 protected:
  ~DiningStress() override { expectNoWaiters<Platform>(); }

  void dineAt(int seats) {
    Philosophers table(seats);
    std::vector<char> eats(static_cast<std::size_t>(seats), 0);
    Violations violations;
    Tally tally;
    const auto neighboursEat = [&](int seat) {
      const auto left = static_cast<std::size_t>((seat + seats - 1) % seats);
      const auto right = static_cast<std::size_t>((seat + 1) % seats);
      return eats[left] || eats[right];
    };
    const auto dine = [&](int seat, Dice& dice) {
      for (int i = 0; i < rounds(100'000) / seats; ++i) {
        dice.dwell();
        if (!tally.timed(table.beginFor(seat, dice(2) ? 1h : dice.upTo(50us)))) continue;
        violations.unless(!neighboursEat(seat));
        eats[static_cast<std::size_t>(seat)] = 1;
        dice.dwell();
        eats[static_cast<std::size_t>(seat)] = 0;
        table.end(seat);
      }
    };
    inThreadsUntil([&] { return tally.timedOut > 0 || seats == 1; }, seats, dine);
    for (int seat = 0; seat < seats; ++seat) {
      EXPECT_TRUE(table.tryBegin(seat));
      table.end(seat);
    }
    EXPECT_GT(tally.in, 0);
    EXPECT_EQ(tally.timedOut > 0, seats > 1);
  }
};

using Forms = testing::Types<DiningPhilosophers, LockFreeDiningPhilosophers>;
TYPED_TEST_SUITE(DiningStress, Forms);

TYPED_TEST(DiningStress, OnePhilosopherEats) { this->dineAt(1); }
TYPED_TEST(DiningStress, TwoPhilosophersEat) { this->dineAt(2); }
TYPED_TEST(DiningStress, FivePhilosophersEat) { this->dineAt(5); }
TYPED_TEST(DiningStress, EightPhilosophersEat) { this->dineAt(8); }
TYPED_TEST(DiningStress, ThirtyTwoPhilosophersEat) { this->dineAt(32); }

}  // namespace
}  // namespace boxoffice::test
