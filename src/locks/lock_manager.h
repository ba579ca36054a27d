// The lock manager of the Web Locks standard: exclusive and shared locks by name, for all threads of the
// process, strictly first come, first served within a priority.
//
//   name ─▶ Resource   held   one exclusive request, or any number of shared ones
//                      queue  a WaitQueue: whoever waits for them
//
// A request is a Waiter: `ask` is its Mode, `then` its Resource.
//
//              request                     others have gone             release
//   idle ─────────────────▶ waiting ─────────────────────▶ admitted ─────────────────▶ idle
//    │                        │ leave: idle                  │ steal: idle
//    └── nobody in its way ── told, and admitted             └─ its client is told, and settles
//
// Whatever others do to a request (grant it, steal its lock) is posted to its parker as an invitation:
// the client comes and asks for it with settle. One invitation at a time is on its way (`news`), however
// much happens meanwhile; and until it has come, the waiter must stay.
//
// Invariants, whenever nobody is inside:
//   1. Whoever is first in a queue is kept out by those who hold: else it would have been let in.
//   2. A Resource exists while somebody has a part in it, or its last exclusive holder died and nobody
//      has been told.
//   3. What a client has parts of, only its own calls change: a request counts as `waiting` until its
//      client has been told of its end, as `told` from there on. So does one that has been stolen.
//
// One mutex guards all of it, held for a look-up and a few links. Wakes are sent after it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "locks/lock_word.h"
#include "waiting/wait_queue.h"

namespace boxoffice {

class LockManager {
  struct Part;
  struct Resource;

 public:
  enum class Mode : std::uint32_t { exclusive, shared };
  enum class Manner : std::uint8_t {
    wait,         ///< in the queue
    ifAvailable,  ///< now, or not at all
    steal         ///< now, from whoever holds it
  };
  enum class Answer : std::uint8_t { waiting, granted, refused };
  enum class Fate : std::uint8_t { granted, stolen };

  /// One agent, as the manager knows it: it must be forgotten before it goes.
  class Client {
   public:
    explicit Client(AgentId who) : agent(who) {}
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Does it wait for something that others can let it into? To be asked by its own thread: only its own
    /// calls change it.
    bool waitsForOthers() const noexcept { return waitsFor_ > 0; }

    const AgentId agent;
    std::int32_t thread = 0;  ///< what query calls it

   private:
    friend LockManager;
    /// How many names it waits for, and others can let it in there, for all it has been told.
    std::size_t waitsFor_ = 0;
  };

  /// What one request is, for query.
  struct Entry {
    std::u16string name;
    Mode mode;
    bool isHeld;
    std::int32_t thread;
  };

  LockManager() = default;
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;

  /// `w` is of `client` and as new. Throws std::bad_alloc, or Misuse(badArgument) for a priority that is
  /// NaN; then nothing has changed. Granted: w.abandoned says whether the last exclusive holder died.
  Answer request(Client& client, Waiter& w, std::u16string_view name, Mode mode, Manner manner);

  /// After an invitation. Granted as from request; stolen, and then `w` is out of it all.
  Fate settle(Waiter& w);

  /// Gives up what has not been settled; leftAwake where an invitation is still to come. A grant that
  /// comes too late goes to the next.
  Leave leave(Waiter& w);

  /// Lets go. False when the lock has been stolen: of that an invitation is still to come.
  bool release(Waiter& w);

  /// `dead` holds nothing any more, and waits for nothing. Of its waiters, those with `news` are still
  /// to be woken.
  void forget(Client& dead) noexcept;

  /// Name by name, those first that have been busy for longest; who holds it first, in the order of the
  /// grants, then who waits, in the order of the queue.
  std::vector<Entry> query() const;

 private:
  struct Part {
    struct Count {
      std::uint32_t exclusive = 0;
      std::uint32_t shared = 0;
    };

    Client* client;
    Count waiting{};
    Count told{};

    bool isEmpty() const noexcept;
    bool waitsForOthers() const noexcept;
  };

  struct Resource {
    std::uint64_t since = 0;
    WaitQueue queue;
    Fifo held;
    std::vector<Part> parts;
    bool abandoned = false;

    bool hasRoomFor(const Waiter& w) const noexcept;
    const Part& partOf(AgentId agent) const noexcept;
    Part& partOf(AgentId agent) noexcept {
      return const_cast<Part&>(std::as_const(*this).partOf(agent));
    }
  };

  struct Hash {
    // NOLINTNEXTLINE(readability-identifier-naming): the standard's name for it
    using is_transparent = void;
    std::size_t operator()(std::u16string_view name) const noexcept {
      return std::hash<std::u16string_view>()(name);
    }
  };
  using Resources = std::unordered_map<std::u16string, Resource, Hash, std::equal_to<>>;
  using Named = Resources::value_type;

  class Wakes;

  static Named& named(const Waiter& w) noexcept { return *static_cast<Named*>(w.then); }

  Named& obtain(std::u16string_view name);
  static Part& obtainPart(Resource& resource, Client& client);
  static void count(Part& part, const Waiter& w, int waiting, int told) noexcept;
  static void countOut(Part& part, const Waiter& w) noexcept;
  static void grant(Resource& resource, Waiter& w) noexcept;
  static void passOnDeath(Resource& resource, const Waiter& w) noexcept;
  static void steal(Resource& resource, Wakes& wakes) noexcept;
  static void admit(Resource& resource, Wakes& wakes) noexcept;
  static bool forgetIn(Resource& resource, Client& dead) noexcept;
  void end(Waiter& w, Wakes& wakes) noexcept;
  void tidy(Named& named) noexcept;

  /// Nodes of names that are idle, for the next ones to come.
  static constexpr std::size_t kSpares = 16;
  static constexpr std::size_t kLongestSpare = 256;

  mutable std::mutex mutex_;
  Resources resources_;
  std::vector<Resources::node_type> spares_;
  std::uint64_t ages_ = 0;
};

/// The process's.
LockManager& lockManager();

}  // namespace boxoffice
