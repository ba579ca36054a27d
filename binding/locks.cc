// The locks as functions over numbers: where the word is, which ticket. Lock logic is in src/, and
// promises are in lib/; here is only the passing of arguments.
#include "locks.h"

#include "call.h"
#include "mutex.h"
#include "weighted_semaphore.h"

namespace boxoffice::binding {
namespace {

// What enter, settle and lockSync answer where they give no ticket. Known to lib/waiters.js.
enum Outcome : std::int32_t { kGranted = -1, kGrantedAbandoned = -2, kNot = -3 };

std::int32_t granted(const Waiter& w) { return w.abandoned ? kGrantedAbandoned : kGranted; }

void passOn(Mutex& mutex, const Waiter& w) { mutex.unlock(w.agent); }
void passOn(WeightedSemaphore& semaphore, const Waiter& w) {
  semaphore.release(static_cast<std::int32_t>(w.ask), w.agent);
}

template <class Lock>
constexpr Kind kKind{[](void* lock, Waiter& w) { return static_cast<Lock*>(lock)->leave(w); },
                     [](void* lock, const Waiter& w) { passOn(*static_cast<Lock*>(lock), w); }};

/// (place, ask, priority or nothing): a ticket in line, or in at once. Waiters of one environment
/// never overtake each other, so none of them goes in while the line may hold another.
template <class Lock>
std::int32_t enter(const Call& call) {
  auto& lock = call.lock<Lock>();
  Waiter& w = call.loop().take();
  try {
    w.ask = static_cast<std::uint32_t>(call.integer(1));
    if (call.has(2)) w.priority = call.number(2);
    w.mayOvertake = false;
    call.loop().stands(w, kKind<Lock>, call.integer(0));
    if (!lock.enter(w)) return static_cast<std::int32_t>(w.ticket);
  } catch (...) {
    call.loop().give(w);
    throw;
  }
  const std::int32_t outcome = granted(w);
  call.loop().give(w);
  return outcome;
}

/// (place, ticket), invited: in now, or still in line.
template <class Lock>
std::int32_t settle(const Call& call) {
  Waiter& w = call.loop().waiter(call.integer(1));
  call.loop().answers(w);
  if (!call.lock<Lock>().settle(w, Wake::invited)) return kNot;
  const std::int32_t outcome = granted(w);
  call.loop().give(w);
  return outcome;
}

/// (place, ticket): a Leave. Unless it has left for good, there is still news to come.
template <class Lock>
std::int32_t leave(const Call& call) {
  Waiter& w = call.loop().waiter(call.integer(1));
  const Leave how = call.lock<Lock>().leave(w);
  if (how == Leave::left) call.loop().give(w);
  if (how == Leave::leftAwake) call.loop().leftAwake(w);
  return static_cast<std::int32_t>(how);
}

/// (place): takes all of ours out of the line, and answers as left does.
template <class Lock>
std::int32_t leaveAll(const Call& call) {
  EventLoop& loop = call.loop();
  loop.expectLeavers();
  call.lock<Lock>().leaveAll(loop.id(), [&loop](Waiter& w, Leave how) { loop.noteLeaver(w, how); });
  return loop.leavers();
}

/// Writes `ticket << 1 | awake` of those who have left by leaveAll: how many, and once more if that
/// is kMostNews. Of those that were awake there is still news to come.
std::int32_t leavers(const Call& call) { return call.loop().leavers(); }

template <class Lock>
std::int32_t queueSize(const Call& call) {
  return static_cast<std::int32_t>(call.lock<Lock>().queue().size);
}

template <class Lock>
double topPriority(const Call& call) {
  return call.lock<Lock>().queue().topPriority;
}

/// (place): how much news, or kNot when we do not hold it.
std::int32_t mutexUnlock(const Call& call) {
  auto& mutex = call.lock<Mutex>();
  if (mutex.owner() != call.loop().id()) return kNot;
  mutex.unlock(call.loop().id());
  return call.loop().news();
}

/// (place): how much news. For one that was let in after a holder had died, and goes again at once: the
/// next one is told in its stead.
std::int32_t mutexAbandon(const Call& call) {
  call.lock<Mutex>().abandon(call.loop().id());
  return call.loop().news();
}

/// (place): whether a promise of ours waits there.
std::int32_t mutexStands(const Call& call) {
  return call.lock<Mutex>().stands(call.loop().id()) ? 1 : 0;
}

/// (place)
std::int32_t mutexTryLock(const Call& call) {
  const Entry entry = call.lock<Mutex>().tryLock(call.loop().id());
  if (!entry) return kNot;
  return entry.abandoned ? kGrantedAbandoned : kGranted;
}

/// (place, timeout in ms), which blocks this thread.
std::int32_t mutexLockSync(const Call& call) {
  constexpr double kLongest = 1e12;  // some 30 years: beyond it, and for Infinity, no deadline
  const double ms = call.number(1);
  const Deadline deadline =
      ms > kLongest ? kNever
                    : deadlineIn(std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6)));
  const Entry entry = call.lock<Mutex>().lockUntil(deadline, call.loop().id());
  if (!entry) return kNot;
  return entry.abandoned ? kGrantedAbandoned : kGranted;
}

/// (place, weight): how much news.
std::int32_t semaphoreRelease(const Call& call) {
  call.lock<WeightedSemaphore>().release(call.integer(1), call.loop().id());
  return call.loop().news();
}

/// (place, value): how much news.
std::int32_t semaphoreSetValue(const Call& call) {
  call.lock<WeightedSemaphore>().setValue(call.integer(1), call.loop().id());
  return call.loop().news();
}

std::int32_t start(const Call& call) {
  call.loop().start(call[0], call[1]);
  return static_cast<std::int32_t>(call.loop().id());
}
/// (Int32Array, whether it is shared)
std::int32_t attach(const Call& call) { return call.loop().attach(call[0], call.integer(1) != 0); }
std::int32_t detach(const Call& call) { return call.loop().detach(call.integer(0)); }
std::int32_t news(const Call& call) { return call.loop().news(); }
/// (ticket) whose last news has come.
std::int32_t giveTicket(const Call& call) {
  call.loop().give(call.loop().waiter(call.integer(0)));
  return 0;
}
std::int32_t keepAlive(const Call& call) {
  call.loop().keepAlive(call.integer(0) != 0);
  return 0;
}

class Exports {
 public:
  Exports(Napi::Object exports, EventLoop& loop) : exports_(exports), loop_(loop) {}

  template <auto function>
  void add(const std::string& name) {
    const Napi::Env env = exports_.Env();
    napi_value made = nullptr;
    if (napi_create_function(env, name.c_str(), name.size(), called<function>, &loop_, &made) !=
        napi_ok) {
      throw Napi::Error::New(env);
    }
    exports_.Set(name, made);
  }

  template <class Lock>
  void addLine(const std::string& lock) {
    add<enter<Lock>>(lock + "Enter");
    add<settle<Lock>>(lock + "Settle");
    add<leave<Lock>>(lock + "Leave");
    add<leaveAll<Lock>>(lock + "LeaveAll");
    add<queueSize<Lock>>(lock + "QueueSize");
    add<topPriority<Lock>>(lock + "TopPriority");
  }

 private:
  Napi::Object exports_;
  EventLoop& loop_;
};

}  // namespace

void defineLocks(Napi::Object exports, EventLoop& loop) {
  Exports all(exports, loop);
  all.add<start>("start");
  all.add<attach>("attach");
  all.add<detach>("detach");
  all.add<news>("news");
  all.add<leavers>("leavers");
  all.add<giveTicket>("giveTicket");
  all.add<keepAlive>("keepAlive");
  all.addLine<Mutex>("mutex");
  all.add<mutexUnlock>("mutexUnlock");
  all.add<mutexAbandon>("mutexAbandon");
  all.add<mutexStands>("mutexStands");
  all.add<mutexTryLock>("mutexTryLock");
  all.add<mutexLockSync>("mutexLockSync");
  all.addLine<WeightedSemaphore>("semaphore");
  all.add<semaphoreRelease>("semaphoreRelease");
  all.add<semaphoreSetValue>("semaphoreSetValue");
}

}  // namespace boxoffice::binding
