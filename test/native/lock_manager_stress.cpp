// Event loops on many threads that use the lock manager as JavaScript does, and die with requests pending.
#include <deque>

#include "locks/lock_manager.h"
#include "stress.h"

namespace boxoffice::test {
namespace {

using Mode = LockManager::Mode;
using Manner = LockManager::Manner;
using Answer = LockManager::Answer;

/// The data that one name's lock guards: a plain book, which two concurrent holders would corrupt.
struct Chamber {
  std::u16string name;
  Book book;
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
};

class Loop final : private Wakeup {
 public:
  Loop(LockManager& manager, std::deque<Chamber>& chambers, Dice& dice)
      : manager_(manager), chambers_(chambers), dice_(dice) {}
  ~Loop() {
    while (wakeUps_ < batches_) await();  // until no poster can still use this object
    giveAgentId(id_);
  }

  void live(int turns, Violations& violations) {
    for (int i = 0; i < turns; ++i) turn(violations);
  }

  /// Runs until every request has ended.
  void end(Violations& violations) {
    while (!requests_.empty()) {
      while (letOneGo(violations)) {
      }
      if (!requests_.empty()) await();
      collect(violations);
    }
  }

  /// Ends like an environment in binding/teardown.cc.
  void die() {
    for (const auto& one : requests_) leaveChamber(*one);
    manager_.forget(client_);
    std::erase_if(requests_, [](const auto& one) { return !one->invitationSent; });
    while (!requests_.empty()) {
      await();
      if (mailbox_.collect([this](Waiter& w, Wake) { drop(w); })) ++batches_;
    }
  }

 private:
  static constexpr std::size_t kMost = 6;

  struct Request : Waiter {
    using Waiter::Waiter;
    Chamber* chamber = nullptr;
    Mode mode = Mode::exclusive;
    bool isIn = false;
    bool isGone = false;
  };

  void send() noexcept override { woken_.signal(); }
  void await() {
    woken_.wait();
    ++wakeUps_;
  }

  void turn(Violations& violations) {
    switch (dice_(8)) {
      case 0:
      case 1:
      case 2:
        if (requests_.size() < kMost) ask(violations);
        break;
      case 3:
        leaveOne();
        break;
      case 4:
      case 5:
        letOneGo(violations);
        break;
      default:
        collect(violations);
    }
  }

  void ask(Violations& violations) {
    auto made = std::make_unique<Request>(mailbox_, id_);
    Request& one = *made;
    one.chamber = &chambers_[static_cast<std::size_t>(dice_(static_cast<int>(chambers_.size())))];
    one.mode = dice_(3) == 0 ? Mode::exclusive : Mode::shared;
    if (dice_(6) == 0) one.priority = 1;
    const auto manner = dice_(5) == 0 ? Manner::ifAvailable : Manner::wait;
    const Answer answer = manager_.request(client_, one, one.chamber->name, one.mode, manner);
    if (answer == Answer::refused) return;
    requests_.push_back(std::move(made));
    if (answer == Answer::granted) goIn(one, violations);
  }

  /// Cancels a request that has not been resumed.
  void leaveOne() {
    for (const auto& one : requests_) {
      if (one->isIn || one->isGone) continue;
      if (manager_.leave(*one) == Leave::left) return drop(*one);
      one->isGone = true;
      return;
    }
  }

  bool letOneGo(Violations& violations) {
    for (const auto& one : requests_) {
      if (!one->isIn || one->isGone) continue;
      leaveChamber(*one);
      violations.unless(manager_.release(*one));
      drop(*one);
      return true;
    }
    return false;
  }

  void collect(Violations& violations) {
    const bool some = mailbox_.collect([&](Waiter& w, Wake) {
      auto& one = static_cast<Request&>(w);
      if (one.isGone) return drop(one);
      violations.unless(manager_.resume(one) == LockManager::Fate::granted);
      goIn(one, violations);
    });
    if (some) ++batches_;
  }

  void goIn(Request& one, Violations& violations) {
    one.isIn = true;
    Chamber& chamber = *one.chamber;
    if (one.mode == Mode::exclusive) {
      violations.unless(chamber.writers++ == 0 && chamber.readers == 0);
      chamber.book.write();
    } else {
      ++chamber.readers;
      violations.unless(chamber.writers == 0);
      chamber.book.read();
    }
  }

  static void leaveChamber(Request& one) {
    if (!std::exchange(one.isIn, false)) return;
    one.mode == Mode::exclusive ? --one.chamber->writers : --one.chamber->readers;
  }

  void drop(Waiter& w) {
    std::erase_if(requests_, [&w](const auto& one) { return one.get() == &w; });
  }

  LockManager& manager_;
  std::deque<Chamber>& chambers_;
  Dice& dice_;
  const AgentId id_ = takeAgentId();
  LockManager::Client client_{id_};
  LightweightSemaphore woken_;
  long wakeUps_ = 0;
  long batches_ = 0;
  Mailbox mailbox_{*this};
  std::vector<std::unique_ptr<Request>> requests_;
};

TEST(LockManagerStress, ThreadsShareAndExcludeAndDie) {
  LockManager manager;
  std::deque<Chamber> chambers;
  for (const char16_t* name : {u"a", u"b", u"c"}) chambers.emplace_back().name = name;
  Violations violations;
  inThreads(kThreads, [&](int index, Dice& dice) {
    for (int i = 0; i < rounds(2'000); ++i) {
      Loop loop(manager, chambers, dice);
      const int turns = index == 0 ? 200 : dice(200);
      loop.live(turns, violations);
      if (index % 2 == 0) {
        loop.end(violations);
      } else {
        loop.die();
      }
    }
  });
  EXPECT_TRUE(manager.query().empty());
}

TEST(LockManagerStress, ThievesLeaveOneHolder) {
  LockManager manager;
  std::atomic<long> stolen{0};
  std::atomic<long> kept{0};
  std::atomic<long> requests{0};
  const auto run = [&](int, Dice& dice) {
    struct Ears final : Wakeup {
      void send() noexcept override { sent.signal(); }
      LightweightSemaphore sent;
    } ears;
    Mailbox mailbox(ears);
    const AgentId id = takeAgentId();
    LockManager::Client client(id);
    for (int i = 0; i < rounds(20'000); ++i) {
      ++requests;
      Waiter w(mailbox, id);
      const auto manner = dice(2) == 0 ? Manner::steal : Manner::wait;
      const auto heard = [&] {
        bool come = false;
        while (!come) {
          ears.sent.wait();
          mailbox.collect([&](Waiter&, Wake) { come = true; });
        }
      };
      if (manager.request(client, w, u"a", Mode::exclusive, manner) == Answer::waiting) {
        heard();
        if (manager.resume(w) == LockManager::Fate::stolen) {
          ++stolen;
          continue;
        }
      }
      dice.dwell();
      if (manager.release(w)) {
        ++kept;
      } else {
        ++stolen;
        heard();
      }
    }
    manager.forget(client);
    giveAgentId(id);
  };
  inThreadsUntil([&] { return stolen > 0; }, kThreads, run);
  EXPECT_TRUE(manager.query().empty());
  EXPECT_EQ(stolen + kept, requests);
  EXPECT_GT(stolen, 0);
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace boxoffice::test
