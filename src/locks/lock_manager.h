// The lock manager of the Web Locks standard: exclusive and shared locks by name, for all threads of the
// process, strictly first come, first served within a priority.
//
//   name ─▶ Resource   held   one exclusive request, or any number of shared ones
//                      queue  a WaitQueue of requests
//
// A request is a Waiter: `ask` is its Mode, `then` its Resource.
//
//              request                     other holders have gone      release
//   idle ─────────────────▶ waiting ─────────────────────▶ admitted ─────────────────▶ idle
//    │                        │ leave: idle                  │ steal: idle
//    └── at once, if free ─── told, and admitted             └─ its client is invited, and resumes
//
// When another client changes a request (grants it, steals its lock), its parker gets an invitation:
// the client calls resume for the outcome. At most one invitation is on its way
// (`invitationSent`), even after several changes. Until it has arrived, the waiter must stay.
//
// Invariants, while no call is in progress:
//   1. Holders keep out the first request of a queue; otherwise it would have been admitted.
//   2. A Resource exists while a client has a part in it, or its last exclusive holder died and no later
//      holder was told.
//   3. Only a client's own calls change its parts in resources. A request counts as `waiting` until its
//      client was told of its end, and as `told` after that. The same applies to a stolen lock.
//
// One mutex guards all of it, held for a look-up and a few links. Wakes are sent after it is released.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "locks/lock_word.h"
#include "platform/copies.h"
#include "waiting/wait_queue.h"

namespace boxoffice {

class LockManager {
  struct Part;
  struct Resource;

 public:
  enum class Mode : std::uint32_t { exclusive, shared };
  enum class Manner : std::uint8_t {
    wait,         ///< in the queue
    ifAvailable,  ///< at once, or not at all
    steal         ///< at once, from the holders
  };
  enum class Answer : std::uint8_t { waiting, granted, refused };
  enum class Fate : std::uint8_t { granted, stolen };

  /// An agent's record in the manager. Call forget before destroying it.
  class Client {
   public:
    explicit Client(AgentId who) : agent(who) {}
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Whether the client waits for a lock that other agents can release. Call it on the client's thread: only its own
    /// calls change the answer.
    bool waitsForOthers() const noexcept { return waitsFor_ > 0; }

    const AgentId agent;
    std::int32_t thread = 0;  ///< its id in query

   private:
    friend LockManager;
    /// From its first request on.
    CopyClaim claim_;
    /// The number of names for which the client waits for other agents, as far as it was told.
    std::size_t waitsFor_ = 0;
  };

  /// A request, as query reports it.
  struct Entry {
    std::u16string name;
    Mode mode;
    bool isHeld;
    std::int32_t thread;
  };

  LockManager() = default;
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;

  /// Requests the lock `name`. `w` must be a fresh waiter of `client`. Throws std::bad_alloc, or Misuse(badArgument)
  /// for a priority that is NaN, and then changes nothing. When granted, w.abandoned tells whether the last exclusive
  /// holder died.
  Answer request(Client& client, Waiter& w, std::u16string_view name, Mode mode, Manner manner);

  /// Returns the outcome after an invitation: granted, as from request, or stolen. A stolen `w` is no longer part of
  /// the manager.
  Fate resume(Waiter& w);

  /// Gives up a request that was not resumed. Returns leftAwake when an invitation is still to come. A grant that
  /// came too late goes to the next request.
  Leave leave(Waiter& w);

  /// Releases. Returns false when the lock was stolen: the invitation that says so is still to come. With
  /// `isUndelivered` the next holder is told of a death that this one has not been told of.
  bool release(Waiter& w, bool isUndelivered = false);

  /// Ends all requests of `dead`. Waiters with `invitationSent` are still to be woken.
  void forget(Client& dead) noexcept;

  /// Returns the requests name by name, the name in use for longest first. For each name the holders come first, in
  /// the order of their grants, then the queue.
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

  /// Nodes of idle names, kept for new ones.
  static constexpr std::size_t kSpares = 16;
  static constexpr std::size_t kLongestSpare = 256;

  mutable std::mutex mutex_;
  Resources resources_;
  std::vector<Resources::node_type> spares_;
  std::uint64_t ages_ = 0;
};

/// The manager of this process.
LockManager& lockManager();

}  // namespace boxoffice
