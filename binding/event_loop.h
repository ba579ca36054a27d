// One instance of our JavaScript (instances.h) as an agent: its tickets, the memory its locks lie in, and the way
// its wakes take.
//
//   a wake in a turn of its own     ──▶ news ──▶ the call that caused it returns it to JavaScript
//   any other, of another thread    ──▶ mailbox ──▶ bell: one callback on the loop ──▶ news
//   a bell of another process       ──▶ the loop itself, when it sleeps (bell_ear.h) ──▶ news
//
// News are tickets with what has happened to them. JavaScript reads them from an Int32Array.
#pragma once

#include <napi.h>

#include <mutex>
#include <vector>

#include "agent.h"
#include "hosts.h"
#include "lightweight_semaphore.h"
#include "lock_manager.h"
#include "mailbox.h"
#include "office.h"
#include "regions.h"
#include "shares.h"
#include "ticket_pool.h"

namespace boxoffice::binding {

class Instances;

class EventLoop final : public Parker, private Bell {
 public:
  EventLoop(napi_env env, Instances& instances);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  AgentId id() const noexcept { return id_; }

  /// What has happened to a ticket: the low two bits of its news.
  enum News : std::int32_t { kAdmitted, kAdmittedAbandoned, kInvited };

  /// The object whose end is the end of this loop, which its Instances are told of.
  void anchorAt(napi_value anchor);
  /// `news` is an Int32Array for the news; `onNews(n)` is called when another thread has some. `look()`
  /// does nothing: that it can still be called tells a blocked thread that it is to go on. The anchor keeps
  /// all three.
  void start(napi_value news, napi_value onNews, napi_value look);

  Regions& regions() noexcept { return regions_; }
  Shares& shares() noexcept { return shares_; }
  Hosts& hosts() noexcept { return hosts_; }
  LockManager::Client& lockClient() noexcept { return lockClient_; }

  /// Is JavaScript of this environment at its end, while its thread is blocked in C++? One for each wait: a
  /// script whose time is over (vm's timeout) ends, and its environment goes on.
  class Termination final : public Stop {
   public:
    explicit Termination(EventLoop& loop) : loop_(loop) {}
    /// Such a script does not come to read the news of its call: they are for the next callback.
    ~Termination() {
      if (wasRequested_) loop_.lookUp();
    }
    Termination(const Termination&) = delete;
    Termination& operator=(const Termination&) = delete;
    bool isRequested() noexcept override;
    bool wasRequested() const noexcept { return wasRequested_; }

   private:
    EventLoop& loop_;
    bool wasRequested_ = false;
  };

  /// A fresh ticket; its waiter wakes this loop.
  Waiter& take();
  Waiter& waiter(std::int32_t ticket) { return tickets_.waiter(static_cast<Ticket>(ticket)); }
  void give(Waiter& w);
  /// `w` is about to stand in the line of the lock at `place`.
  void stands(const Waiter& w, const Kind& kind, std::int32_t place) {
    stands_[w.ticket] = {.kind = &kind, .place = place};
  }
  /// The same for a request of the lock manager, which lies in no memory that JavaScript knows.
  void stands(const Waiter& w, const Kind& kind) { stands(w, kind, kNoPlace); }
  void answers(const Waiter& w) { stands_[w.ticket].told = false; }
  /// `w`, which stands_ knows, is in.
  void took(const Waiter& w) noexcept {
    const Stand& stand = stands_[w.ticket];
    if (stand.kind->isCounted) shares_.took(stand.place, stand.kind->taken(w), w.era);
  }
  /// The era of what was granted just now, for JavaScript to find where that of the first news is.
  void postEra(std::uint32_t era) noexcept { newsBuffer_[kEras] = static_cast<std::int32_t>(era); }
  void leftAwake(const Waiter& w) { stands_[w.ticket].gone = true; }

  /// Those who leave their line all at once, for JavaScript to be told of in batches. Room for them is
  /// made first: while they leave nothing may throw.
  void expectLeavers() { leavers_.reserve(tickets_.out()); }
  void noteLeaver(Waiter& w, Leave how) noexcept;
  std::int32_t leavers();

  /// A number that JavaScript finds behind the news, without a call.
  void post(std::int32_t state) noexcept { newsBuffer_[kMostNews] = state; }

  /// Writes waiting news for JavaScript and forgets them: how many, at most kMostNews.
  std::int32_t news();
  /// For a call that does not return its news: `onNews` is called for them.
  void postponeNews() noexcept {
    if (firstNews_) lookUp();
  }
  static constexpr std::int32_t kMostNews = 1024;
  /// Where the eras of the news begin (Waiter::era), behind them and the number of post().
  static constexpr std::int32_t kEras = kMostNews + 1;
  std::int32_t* newsBuffer() noexcept { return newsBuffer_; }

  /// What a pending wait of ours keeps: its instance, so that it can be admitted, and the event loop besides.
  enum class Keep : std::int32_t { nothing, instance, eventLoop };
  void keepAlive(Keep keep);
  /// Called by the loop itself, at a bell of that house: hears what there is, for whichever thread of this
  /// process. False when nobody of ours waits, and the bell thread may do it alone.
  bool hearBell(host::House& house) noexcept;
  /// Is there another environment, or has one that ended left us news?
  bool mayHear();
  /// The bell has rung: calls `onNews`.
  void hear() noexcept;
  /// JavaScript is gone, by the end of its environment or because it can no longer reach us: nothing of ours stays
  /// anywhere, and we may be destroyed.
  void end() noexcept;
  /// From any thread: calls `onNews`, though there may be none, since our neighbours have changed.
  void lookUp() noexcept;

  void wake(Waiter& w, Wake how) noexcept override;

  /// While a call of ours is about to return to JavaScript, and takes our news with it.
  class Turn {
   public:
    explicit Turn(const EventLoop* loop) noexcept : before_(std::exchange(current, loop)) {}
    ~Turn() { current = before_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const EventLoop* const before_;
  };

 private:
  static constexpr std::int32_t kNoPlace = -1;

  /// Where a ticket stands: only our own thread looks at it.
  struct Stand {
    const Kind* kind = nullptr;
    std::int32_t place = 0;
    bool told = false;  ///< its invitation has been taken, and not yet been answered
    bool gone = false;  ///< it has left, and an invitation is on its way to it all the same
  };

  void ring() noexcept override;
  void collect();
  bool allRung();
  void* lockAt(const Stand& stand) const;
  void tellNews() noexcept;
  void append(Waiter& w) noexcept;
  void takeUnread();
  void leaveLines();
  void awaitWakes();
  template <class Take>
  void takeWakes(Take&& take);

  const napi_env env_;
  Instances& instances_;
  const AgentId id_ = takeAgentId();
  static thread_local const EventLoop* current;
  TicketPool tickets_;
  std::vector<Stand> stands_;  // by ticket
  Mailbox mailbox_{*this};

  Regions regions_;
  Shares shares_;
  Hosts hosts_;
  LockManager::Client lockClient_{id_};
  // All of them weak, but for the anchor while there is something to keep.
  napi_ref anchor_ = nullptr;
  napi_ref look_ = nullptr;
  napi_ref onNews_ = nullptr;
  Keep kept_ = Keep::nothing;

  std::int32_t* newsBuffer_ = nullptr;
  std::vector<std::int32_t> leavers_;  // ticket << 1 | awake
  std::size_t leaversTold_ = 0;
  // Waiters with news, linked by `posted`, which their mailbox is done with.
  Waiter* firstNews_ = nullptr;
  Waiter* lastNews_ = nullptr;

  std::size_t batches_ = 0;  // collected, each with a ring of its own
  std::mutex bellMutex_;
  std::size_t rings_ = 0;
  bool isEnding_ = false;
  LightweightSemaphore farewell_;  // rung in place of the bell then
  std::size_t owed_ = 0;           // wakes that are still to come then
};

}  // namespace boxoffice::binding
