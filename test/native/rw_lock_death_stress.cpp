// Agents that die while they read, write, upgrade or wait, as in binding/teardown.cc: their reads are given
// back, late admissions are passed on, and each death of a writer is reported once.
#include "../../binding/kinds.h"
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using Rules = RWLockRules;

class RWLockDeathStress : public testing::Test {
 protected:
  ~RWLockDeathStress() override {
    const bool untold = (wordOf(lock_).load() & Rules::kAbandoned) != 0;
    EXPECT_EQ(deaths_, told_ + untold) << "each death of a writer is told to one";
    EXPECT_EQ(wordOf(lock_).load() & ~Rules::kAbandoned, 0U);
    expectNoWaiters<Platform>();
  }

  void wrote(const Waiter& w) {
    told_ += w.abandoned;
    book_.write();
  }
  void reads(const Waiter& w) {
    told_ += w.abandoned;
    book_.read();
  }

  RWLock lock_;
  Book book_;
  std::atomic<int> deaths_{0};
  std::atomic<int> told_{0};
  std::atomic<int> tooLate_{0};
  std::atomic<int> upgradesTooLate_{0};

  /// An agent with several pending waits, none of which blocks.
  class Mortal final : private Wakeup {
   public:
    explicit Mortal(RWLockDeathStress& test) : test_(test) {}
    ~Mortal() { giveAgentId(id_); }

    void liveAndDie(Dice& dice) {
      for (int left = 1 + dice(3); left > 0; --left) ask(dice(2) ? Rules::kRead : Rules::kWrite);
      if (reads_ > 0 && dice(2)) upgrade();
      if (dice(2)) std::this_thread::yield();
      dice.dwell();
      dice(2) ? cancelAll() : quitEach();
      while (owed_ > 0) {
        woken_.wait();
        mailbox_.collect([this](Waiter& w, Wake) { come(w); });
      }
      if (lock().abandon(id_)) ++test_.deaths_;
      lock().abandonReads(reads_);
    }

   private:
    RWLock& lock() { return test_.lock_; }

    void ask(std::uint32_t what) {
      Waiter& w = newWaiter();
      w.ask = what;
      if (!lock().enter(w)) return;
      waits_[--count_] = false;
      if (what == Rules::kWrite) return test_.wrote(w);
      test_.reads(w);
      ++reads_;
    }

    void upgrade() {
      Waiter& w = newWaiter();
      const auto how = lock().enterUpgrade(w);
      if (how == RWLock::Upgrade::waiting) return;
      waits_[--count_] = false;
      if (how == RWLock::Upgrade::refused) return;
      --reads_;
      test_.wrote(w);
    }

    Waiter& newWaiter() {
      Waiter& w = waiters_[count_];
      waits_[count_++] = true;
      std::destroy_at(&w);
      std::construct_at(&w, mailbox_, id_);
      w.mayOvertake = false;
      return w;
    }

    void quitEach() {
      for (int i = 0; i < count_; ++i) left(i, binding::quit(lock(), waiters_[i]));
    }

    void cancelAll() {
      lock().leaveAll(id_, [this](Waiter& w, Leave how) { left(indexOf(w), how); });
      // leaveAll does not find a waiter that was already admitted.
      for (int i = 0; i < count_; ++i) {
        if (waits_[i] && !left_[i]) left(i, binding::quit(lock(), waiters_[i]));
      }
    }

    int indexOf(const Waiter& w) const { return static_cast<int>(&w - waiters_.data()); }

    void left(int i, Leave how) {
      left_[i] = true;
      waits_[i] = how == Leave::admitted;
      if (how != Leave::left) ++owed_;
    }

    void come(Waiter& w) {
      --owed_;
      if (!waits_[indexOf(w)]) return;
      ++test_.tooLate_;
      if (w.ask == Rules::kUpgrade) ++test_.upgradesTooLate_;
      binding::passOn(lock(), w);
    }

    RWLockDeathStress& test_;
    const AgentId id_ = takeAgentId();
    LightweightSemaphore woken_;
    Mailbox mailbox_{*this};
    std::array<Waiter, 4> waiters_;
    std::array<bool, 4> waits_{};  // queued, or admitted too late
    std::array<bool, 4> left_{};   // has left the queue, or was found admitted
    int count_ = 0;
    int owed_ = 0;
    std::uint32_t reads_ = 0;

    void send() noexcept override { woken_.signal(); }
  };

  /// The visit of an agent that stays alive.
  void visit(Dice& dice) {
    const Deadline deadline = dice(2) ? kNever : Clock::now() + dice.upTo(50us);
    if (dice(4) == 0) {
      const Entry entry = lock_.lockWriteUntil(deadline);
      if (!entry) return;
      told_ += entry.abandoned;
      book_.write();
      dice.dwell();
      lock_.unlockWrite();
      return;
    }
    const Entry entry = lock_.lockReadUntil(deadline);
    if (!entry) return;
    told_ += entry.abandoned;
    book_.read();
    dice.dwell();
    const Entry upgraded = dice(4) ? Entry{} : lock_.upgradeUntil(Clock::now() + dice.upTo(50us));
    if (!upgraded) {
      book_.read();
      return lock_.unlockRead();
    }
    told_ += upgraded.abandoned;
    book_.write();
    lock_.unlockWrite();
  }
};

TEST_F(RWLockDeathStress, ReadsComeBackAndEachDeathOfAWriterIsToldOnce) {
  // A visitor that is not scheduled for a second keeps its read, and meanwhile no other agent writes, or dies writing.
  const auto met = [this] {
    return deaths_ > 0 && told_ > 0 && tooLate_ > 0 && upgradesTooLate_ > 0;
  };
  inThreadsUntil(met, kThreads, [this](int index, Dice& dice) {
    for (int i = 0; i < rounds(60'000); ++i) {
      if (index % 2 == 0) {
        Mortal(*this).liveAndDie(dice);
      } else {
        visit(dice);
      }
    }
  });
  EXPECT_GT(deaths_, 0);
  EXPECT_GT(told_, 0);
  EXPECT_GT(tooLate_, 0);
  EXPECT_GT(upgradesTooLate_, 0);
}

TEST(RWLockTeardownTest, AnUpgradeThatCameTooLateIsTheReadThatItWasAndPassesTheDeathOn) {
  for (const bool tell : {false, true}) {
    Notes loop;
    RWLock lock;
    lock.lockRead();
    lock.lockRead();
    Waiter late(loop, kAnna);
    EXPECT_EQ(lock.enterUpgrade(late), RWLock::Upgrade::waiting);
    lock.abandonReads(1, tell);
    EXPECT_EQ(loop.take(), Heard{admitted(late)});
    EXPECT_EQ(late.abandoned, tell);
    binding::passOn(lock, late);
    EXPECT_EQ(lock.writer(), kNoAgent);
    EXPECT_EQ(lock.lockRead().abandoned, tell);
    binding::Holding aRead;
    aRead.change(1);
    binding::abandon(lock, kAnna, aRead);
    EXPECT_EQ(lock.readers(), 1U) << "the read of another is left alone";
    lock.unlockRead();
    EXPECT_EQ(wordOf(lock).load(), 0U);
  }
}

}  // namespace
}  // namespace boxoffice::test
