// The part that every box office shares: one word that decides, and the way to the line.
//
// A primitive gives its Rules, pure functions over the word:
//     static bool fits(Word, const Waiter&)   may this one go in now?
//     static Word take(Word, Waiter&)         the word once it has (and w.abandoned)
//     static bool isFree(Word)                may anybody who comes by take it, though others wait?
//                                             Constantly false where the line is strict.
// and gets entering, waiting, leaving and admitting, for threads and event loops alike.
//
// Bit 0 of every word is kLine. Invariants, outside a bucket:
//   1. kLine is set exactly while somebody stands in the word's line.
//   2. While kLine is clear, anybody may change the word by compare-and-swap (JavaScript too).
//   3. While kLine is set, only the holder of the bucket changes it. One exception: a word that
//      isFree may be taken by compare-and-swap.
//   4. Nobody who fits is at the head of the line, except while the word isFree or was taken from
//      free by one who came by; and then somebody in the line is invited.
//
// Fairness (DESIGN.md section 4). Whoever makes room admits the head of the line, by direct
// hand-off. Two may go before the head, until its patience is over: the leaver's own next waiter,
// to whom a hand-off costs nanoseconds instead of a wake-up; and whoever comes by while the word
// isFree and the head, invited, is still on its way. Patience is counted
// from when the head became the head, and is spent once: the release after that hands over.
//
// Memory order: whoever lets in (change) releases, whoever goes in (take) acquires. A release that
// finds others' earlier releases in the word acquires too (acq_rel): several exits may add up to
// one hand-off, and the one admitted never reads the word itself.
#pragma once

#include <cstdint>

#include "lot.h"
#include "thread_parker.h"

namespace boxoffice {

/// How long the head of a line may be overtaken before the lock is handed straight to it.
constexpr std::chrono::milliseconds kPatience{1};

/// How an attempt to get in ended: `if (mutex.tryLock())`.
struct Entry {
  bool granted = false;    ///< the lock is yours; false: not now, or not before the deadline
  bool abandoned = false;  ///< yours, and its last holder died with it: look at what it left

  explicit operator bool() const noexcept { return granted; }
};

enum class Leave : std::uint8_t {
  left,       ///< out of the line, as if it had never come
  leftAwake,  ///< the same, but a wake is on its way: take it before the waiter is destroyed
  admitted    ///< too late: the lock is ours, and so is its wake
};

template <class P, class Rules>
class Office {
 public:
  using Word = std::uint32_t;
  static constexpr Word kLine = 1;

  explicit Office(Word initial) : word_(initial) {}
  Office(const Office&) = delete;
  Office& operator=(const Office&) = delete;

  Word word() const noexcept { return word_.load(std::memory_order_acquire); }

  static Entry entry(bool in, const Waiter& w) noexcept { return {in, in && w.abandoned}; }

  /// In, if that takes nobody's place. Never blocks.
  bool tryEnter(Waiter& w) noexcept {
    Word word = word_.load(std::memory_order_acquire);
    while (isOpen(word) && Rules::fits(word, w)) {
      const Word taken = Rules::take(word, w);
      // An entry that leaves no trace (a set event) needs no write, only the acquire above.
      if (taken == word || word_.compare_exchange_weak(word, taken, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }

  /// In at once (true), or in line (false): then w.parker is woken when there is news, and must
  /// call settle. Throws std::bad_alloc, and then w is neither.
  bool enter(Waiter& w) { return (w.mayOvertake && tryEnter(w)) || enterByBucket(w); }

  /// After a wake: true when w is in; false when it has left, or was invited but came too late, keeps
  /// its place and will be woken again.
  bool settle(Waiter& w, Wake how) noexcept {
    if (how == Wake::admitted) {
      w.state = Waiter::State::idle;
      return true;
    }
    auto bucket = P::lot().open(this);
    if (w.state == Waiter::State::idle) return false;  // it has left meanwhile
    if (w.state == Waiter::State::admitted) {
      w.state = Waiter::State::idle;
      return true;
    }
    return compete(w, bucket);
  }

  /// Gives up waiting. Misuse(notWaiting) when w neither waits nor has been admitted.
  Leave leave(Waiter& w) { return leave(w, unchanged); }

  /// Takes all waiters of `agent` out of the line, as leave does each, before anybody behind them is
  /// let in, and calls `gone(waiter, how)`, which must not throw. Whoever of them has been admitted
  /// already is not in the line.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    leaveAll(agent, gone, unchanged);
  }

  /// Does a waiter of `agent` stand in line?
  bool stands(AgentId agent) const { return P::lot().stands(this, agent); }

  Queue queue() const { return P::lot().queue(this); }

  /// Blocks the calling thread until w is in, or the deadline has passed (false).
  bool enterBlocking(Waiter& w, Deadline deadline) {
    if (tryEnter(w)) return true;
    if (deadline != kNever && deadline <= P::now()) return false;
    if (P::lot().spin(this)([&]() noexcept { return tryEnter(w); })) return true;
    auto& parker = P::parker();
    w.parker = &parker;
    return enter(w) || sleep(w, parker, deadline);
  }

  /// The rest of enterBlocking, for a waiter that stands in line already.
  bool sleep(Waiter& w, ThreadParker<P>& parker, Deadline deadline) {
    for (;;) {
      if (!parker.waitUntil(deadline)) {
        const Leave how = leave(w);
        if (how != Leave::left) parker.take();
        return how == Leave::admitted && settle(w, Wake::admitted);
      }
      if (settle(w, parker.how())) return true;
    }
  }

  /// Changes the word by `left`, which makes room, and admits whoever fits then. `leaver` is the
  /// agent whose own waiters are at hand. What `left` throws leaves everything as it was.
  template <class Left>
  void change(AgentId leaver, Left&& left) {
    if (changeUnless(kLine, left)) return;
    auto bucket = P::lot().open(this);
    if (bucket.empty()) {
      // The last waiter has left meanwhile, or somebody scribbled on shared memory: no crash then.
      changeUnless(0, left);
    } else {
      settleLine(bucket, leaver, left);
    }
  }

 protected:
  /// leave, taking back with `left` what waiting has meant for the word.
  template <class Left>
  Leave leave(Waiter& w, Left&& left) {
    auto bucket = P::lot().open(this);
    if (w.state == Waiter::State::idle) {
      throw Misuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    if (w.state == Waiter::State::admitted) return Leave::admitted;
    const bool awake = w.state == Waiter::State::invited;
    bucket.line().leave(w);
    settleLine(bucket, kNobody, left);  // those behind it may fit now
    return awake ? Leave::leftAwake : Leave::left;
  }

  /// leaveAll, taking back with `left` what their waiting has meant for the word.
  template <class Gone, class Left>
  void leaveAll(AgentId agent, Gone&& gone, Left&& left) {
    auto bucket = P::lot().open(this);
    if (bucket.empty()) return;
    Line& line = bucket.line();
    Waiter* next = line.find(agent);
    while (next) {
      Waiter& w = *next;
      next = w.next;
      const bool awake = w.state == Waiter::State::invited;
      line.leave(w);
      gone(w, awake ? Leave::leftAwake : Leave::left);
      next = line.find(agent, next);
    }
    settleLine(bucket, kNobody, left);
  }

  typename P::template Atomic<Word> word_;

 private:
  using Bucket = typename Lot<P>::Bucket;

  /// May one who comes by take the word without standing in line?
  static bool isOpen(Word word) noexcept { return !(word & kLine) || Rules::isFree(word); }

  /// Changes a word that nobody waits for, unless it has a bit of `obstacle`.
  template <class Left>
  bool changeUnless(Word obstacle, Left& left) {
    Word word = word_.load(std::memory_order_relaxed);
    while (!(word & obstacle)) {
      // Written even where nothing changes (an event set twice): the store carries the release.
      if (word_.compare_exchange_weak(word, left(word) & ~kLine, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  bool enterByBucket(Waiter& w) {
    auto bucket = P::lot().open(this);
    Word word = word_.load(std::memory_order_relaxed);
    const bool first = bucket.empty();
    Line& line = bucket.obtainLine();
    const bool foremost = first || w.priority > line.topPriority();
    line.enter(w);  // may throw, so before the word says that somebody waits
    for (;;) {
      const bool mayGo = foremost || (w.mayOvertake && isOpen(word));
      const bool goes = mayGo && Rules::fits(word, w);
      const Word next = goes ? Rules::take(word, w) : word | kLine;
      if (next != word && !word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                                       std::memory_order_relaxed)) {
        continue;
      }
      if (goes) {
        // An event that lets us in unchanged was only read: acquire what its setter released.
        if (next == word) word_.load(std::memory_order_acquire);
        line.leave(w);
      } else if (first) {
        startPatience(line);
      }
      return goes;
    }
  }

  /// The invited head tries to take the word, which others may take meanwhile.
  bool compete(Waiter& w, Bucket& bucket) noexcept {
    Line& line = bucket.line();
    const bool last = line.size() == 1;
    if (line.head() != &w) {  // somebody of a higher priority has come since
      line.uninvite(w);
      settleLine(bucket, kNobody, unchanged);  // invites the head, if the word is still free
      return false;
    }
    Word word = word_.load(std::memory_order_relaxed);
    while (Rules::fits(word, w)) {
      const Word taken = Rules::take(word, w);
      if (word_.compare_exchange_weak(word, last ? taken & ~kLine : taken,
                                      std::memory_order_acquire, std::memory_order_relaxed)) {
        line.leave(w);
        if (!last) {
          startPatience(line);
          settleLine(bucket, w.agent, unchanged);  // readers behind a reader
        }
        return true;
      }
    }
    line.uninvite(w);
    return false;
  }

  static Word unchanged(Word word) noexcept { return word; }

  /// Applies `left` to a word with kLine set, then lets in whoever may go now, one compare-and-swap
  /// each. Those can fail only where a free word is taken from outside, and then nothing was done.
  template <class Left>
  void settleLine(Bucket& bucket, AgentId leaver, Left&& left) {
    Line& line = bucket.line();
    Word seen = word_.load(std::memory_order_acquire);
    bool applied = false;
    for (;;) {
      const Word word = applied ? seen : left(seen);
      Waiter* const next = choose(line, leaver, word);
      Word after = next ? Rules::take(word, *next) : word;
      if (line.size() == (next ? 1 : 0)) after &= ~kLine;
      if ((after != seen || !applied) &&
          !word_.compare_exchange_strong(seen, after, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      seen = after;
      applied = true;
      if (!next) break;
      admit(bucket, *next);
    }
    if (Rules::isFree(seen) && !line.empty() && !line.invited()) {
      bucket.invite(*line.head());
    }
  }

  /// Who goes in now that the word is `word`: the head, one of the leaver's own before it, or
  /// nobody (the head does not fit, or a free word is left to whoever is first).
  static Waiter* choose(const Line& line, AgentId leaver, Word word) {
    Waiter* const head = line.head();
    if (!head || !Rules::fits(word, *head)) return nullptr;
    if (head->agent == leaver || !head->mayBeOvertaken || P::now() >= line.patience) return head;
    Waiter* const own = line.firstOf(leaver);
    if (own && Rules::fits(word, *own)) return own;
    return Rules::isFree(word) ? nullptr : head;
  }

  static void admit(Bucket& bucket, Waiter& w) {
    Line& line = bucket.line();
    const bool wasHead = line.head() == &w;
    bucket.admit(w);
    if (!wasHead || line.empty()) return;
    // Within an agent nobody needs the clock: its next waiter is the head, and goes.
    if (line.head()->agent == w.agent) {
      line.patience = Deadline::min();
    } else {
      startPatience(line);
    }
  }

  static void startPatience(Line& line) { line.patience = P::now() + kPatience; }
};

}  // namespace boxoffice
