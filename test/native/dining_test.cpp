// Dining philosophers in both forms, at tables of 1 to 32 seats.
#include <random>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

template <class Philosophers>
class DiningSuite : public testing::Test {
 protected:
  ~DiningSuite() override { EXPECT_EQ(P::lot().queues(), 0U); }

  Notes loop_;
};

using Forms = testing::Types<BasicGuardedDiningPhilosophers<P>, BasicLockFreeDiningPhilosophers<P>>;
TYPED_TEST_SUITE(DiningSuite, Forms);

constexpr int kTables[] = {1, 2, 3, 5, 8, 32};

bool areNeighbours(int a, int b, int seats) {
  return a != b && ((a + 1) % seats == b || (b + 1) % seats == a);
}

TYPED_TEST(DiningSuite, ATableHasSeats) {
  EXPECT_EQ(faultOf([] { TypeParam bad(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([] { TypeParam bad(-1); }), Fault::badArgument);
  EXPECT_EQ(faultOf([] { TypeParam bad(TypeParam::kMaxSeats + 1); }), Fault::badArgument);
  EXPECT_EQ(TypeParam(TypeParam::kMaxSeats).seats(), TypeParam::kMaxSeats);
}

TYPED_TEST(DiningSuite, ThereIsNoSuchSeat) {
  TypeParam table(3);
  Waiter w(this->loop_, kAnna);
  for (const int seat : {-1, 3}) {
    EXPECT_EQ(faultOf([&] { table.begin(seat); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { table.tryBegin(seat); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { table.beginFor(seat, 0ns); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { table.end(seat); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { table.isEating(seat); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { table.enter(w, seat); }), Fault::badArgument);
    EXPECT_EQ(faultOf([&] { table.leave(w, seat); }), Fault::badArgument);
  }
}

TYPED_TEST(DiningSuite, ASeatIsOnePhilosopher) {
  TypeParam table(3);
  Waiter w(this->loop_, kAnna);
  table.begin(0);
  EXPECT_EQ(faultOf([&] { table.begin(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { table.tryBegin(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { table.enter(w, 0); }), Fault::badArgument);
  EXPECT_TRUE(table.isEating(0));
  table.end(0);
}

TYPED_TEST(DiningSuite, OnlyAPhilosopherThatEatsLeaves) {
  TypeParam table(3);
  EXPECT_EQ(faultOf([&] { table.end(0); }), Fault::notHolder);
  table.begin(0);
  Waiter w(this->loop_, kAnna);
  EXPECT_FALSE(table.enter(w, 1));
  EXPECT_EQ(faultOf([&] { table.end(1); }), Fault::notHolder) << "hungry is not eating";
  table.end(0);
  EXPECT_EQ(this->loop_.take(), Heard{admitted(w)});
  table.resume(w);
  table.end(1);
  EXPECT_EQ(faultOf([&] { table.end(1); }), Fault::notHolder);
}

TYPED_TEST(DiningSuite, EachPhilosopherEatsAloneAtAnyTable) {
  for (const int seats : kTables) {
    TypeParam table(seats);
    for (int round = 0; round < 2; ++round) {
      for (int seat = 0; seat < seats; ++seat) {
        EXPECT_FALSE(table.isEating(seat));
        table.begin(seat);
        EXPECT_TRUE(table.isEating(seat));
        table.end(seat);
      }
    }
  }
}

TYPED_TEST(DiningSuite, NeighboursExcludeOnlyEachOther) {
  for (const int seats : kTables) {
    TypeParam table(seats);
    for (int eater = 0; eater < seats; ++eater) {
      EXPECT_TRUE(table.tryBegin(eater));
      for (int other = 0; other < seats; ++other) {
        if (other == eater) continue;
        const bool may = table.tryBegin(other);
        EXPECT_EQ(may, !areNeighbours(eater, other, seats)) << eater << other << seats;
        if (may) table.end(other);
      }
      table.end(eater);
    }
  }
}

TYPED_TEST(DiningSuite, AFailedTryLeavesNoTrace) {
  TypeParam table(5);
  table.begin(0);
  EXPECT_FALSE(table.tryBegin(1));
  EXPECT_FALSE(table.beginFor(1, 0ns));
  EXPECT_FALSE(table.beginFor(1, -1s));
  EXPECT_FALSE(table.beginFor(1, 20us));
  EXPECT_TRUE(table.tryBegin(2)) << "the hungry one between has given up";
  table.end(2);
  table.end(0);
  EXPECT_TRUE(table.beginFor(1, 0ns));
  table.end(1);
}

/// Has no id for a thread.
struct NoAgentPlatform : NativePlatform<NoAgentPlatform> {
  static AgentId agent() { throwMisuse(Fault::overflow, "too many agents live at once"); }
};

template <class Philosophers>
void aThreadWithoutAnIdGetsUp() {
  Philosophers table(5);
  EXPECT_TRUE(table.begin(0));
  EXPECT_EQ(faultOf([&] { table.begin(1); }), Fault::overflow);
  EXPECT_TRUE(table.tryBegin(2)) << "seat 1 is hungry";
  table.end(2);
  table.end(0);
  EXPECT_TRUE(table.begin(1)) << "seat 1 is taken";
  table.end(1);
}

TEST(DiningTest, AThreadWithoutAnIdGetsUp) {
  aThreadWithoutAnIdGetsUp<BasicGuardedDiningPhilosophers<NoAgentPlatform>>();
  aThreadWithoutAnIdGetsUp<BasicLockFreeDiningPhilosophers<NoAgentPlatform>>();
}

TYPED_TEST(DiningSuite, FirstComeFirstServedAtEachFork) {
  TypeParam table(5);
  Waiter one(this->loop_, kAnna);
  Waiter two(this->loop_, kBen);
  table.begin(0);
  EXPECT_FALSE(table.enter(one, 1));
  EXPECT_FALSE(table.enter(two, 2)) << "hungry one came first";
  EXPECT_FALSE(table.tryBegin(3));
  table.end(0);
  EXPECT_EQ(this->loop_.take(), Heard{admitted(one)});
  table.resume(one);
  EXPECT_FALSE(table.tryBegin(0));
  table.end(1);
  EXPECT_EQ(this->loop_.take(), Heard{admitted(two)});
  table.resume(two);
  table.end(2);
}

TYPED_TEST(DiningSuite, APhilosopherThatLeavesMayLetBothNeighboursEat) {
  TypeParam table(5);
  Waiter left(this->loop_, kAnna);
  Waiter right(this->loop_, kBen);
  table.begin(1);
  table.enter(left, 0);
  table.enter(right, 2);
  table.end(1);
  EXPECT_EQ(this->loop_.take().size(), 2U);
  EXPECT_TRUE(table.isEating(0));
  EXPECT_TRUE(table.isEating(2));
  table.resume(left);
  table.resume(right);
  table.end(0);
  table.end(2);
}

TYPED_TEST(DiningSuite, AHungryPhilosopherThatLeavesLetsItsNeighbourEat) {
  TypeParam table(5);
  Waiter one(this->loop_, kAnna);
  Waiter two(this->loop_, kBen);
  table.begin(0);
  table.enter(one, 1);
  table.enter(two, 2);
  EXPECT_TRUE(table.leave(one, 1));
  EXPECT_EQ(this->loop_.take(), Heard{admitted(two)});
  EXPECT_EQ(faultOf([&] { table.leave(one, 1); }), Fault::notWaiting);
  EXPECT_FALSE(table.leave(two, 2)) << "too late: it eats";
  table.resume(two);
  EXPECT_EQ(faultOf([&] { table.leave(two, 2); }), Fault::notWaiting);
  table.end(2);
  table.end(0);
}

TYPED_TEST(DiningSuite, ABlockedThreadEatsWhenItsNeighbourGetsUp) {
  for (const int seats : {2, 5}) {
    TypeParam table(seats);
    for (const auto timeout : {std::chrono::nanoseconds(1h), std::chrono::nanoseconds::max()}) {
      table.begin(0);
      std::thread thread([&] {
        EXPECT_TRUE(table.beginFor(1, timeout));
        EXPECT_FALSE(table.isEating(0));
        table.end(1);
      });
      await([&] { return P::lot().queues() == 1; });
      table.end(0);
      thread.join();
    }
  }
}

// The model: a hungry philosopher eats once every neighbour that sat down earlier has left.
class Definition {
 public:
  explicit Definition(int seats) : since_(static_cast<std::size_t>(seats), kThinks) {}

  bool sits(int i) const { return since(i) != kThinks; }
  void sit(int i, int now) { since_[static_cast<std::size_t>(i)] = now; }
  void rise(int i) { sit(i, kThinks); }

  bool mayEat(int i) const {
    if (!sits(i)) return false;
    for (int k = 0; k < seats(); ++k) {
      if (areNeighbours(i, k, seats()) && sits(k) && since(k) < since(i)) return false;
    }
    return true;
  }

  int eaters() const {
    int count = 0;
    for (int k = 0; k < seats(); ++k) count += mayEat(k);
    return count;
  }

 private:
  static constexpr int kThinks = -1;

  int seats() const { return static_cast<int>(since_.size()); }
  int since(int i) const { return since_[static_cast<std::size_t>(i)]; }

  std::vector<int> since_;
};

template <class Seats>
void compareWithTheDefinition(int seats, Seats bits) {
  DiningTable<Seats> table(seats, bits);
  Definition oracle(seats);
  std::mt19937 random(static_cast<unsigned>(seats));
  for (int now = 0; now < 3'000; ++now) {
    const int i = static_cast<int>(random() % static_cast<unsigned>(seats));
    if (oracle.sits(i)) {
      const int others = oracle.eaters() - oracle.mayEat(i);
      oracle.rise(i);
      ASSERT_EQ(table.rise(i).count, oracle.eaters() - others);
    } else {
      const bool would = table.wouldEat(i);
      oracle.sit(i, now);
      table.sit(i);
      ASSERT_EQ(would, oracle.mayEat(i));
    }
    for (int k = 0; k < seats; ++k) ASSERT_EQ(table.mayEat(k), oracle.mayEat(k)) << now << ' ' << k;
  }
}

TEST(DiningTableTest, FollowsTheDefinitionAtAnyTable) {
  for (const int seats : kTables) {
    compareWithTheDefinition(seats, PackedSeats());
    compareWithTheDefinition(seats, ListedSeats(seats));
  }
}

}  // namespace
}  // namespace boxoffice::test
