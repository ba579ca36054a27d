// The lock manager of the Web Locks standard as functions over numbers; see queue_calls.h. A
// request keeps its ticket from its start until its release, and all its completions are
// invitations.
#include "locks/lock_manager.h"

#include <array>

#include "exports.h"
#include "kinds.h"
#include "outcome.h"
#include "pending_ticket.h"

namespace boxoffice::binding {
namespace {

using Mode = LockManager::Mode;
using Manner = LockManager::Manner;

/// When an environment ends, the manager has already forgotten its requests. Only an invitation may
/// still be on its way.
constexpr Kind kRequest{
    .quit = [](void*, Waiter& w) { return w.invitationSent ? Leave::leftAwake : Leave::left; },
    .passOn = [](void*, const Waiter&) {},
    .abandon = [](void*, AgentId, const Holding&) {},
    .isHeld = [](void*, AgentId, const Holding&) { return false; },
};

/// A text argument, unchanged, with unpaired surrogates.
class Name {
 public:
  Name(const Call& call, int i) {
    const auto read = [&](char16_t* room, std::size_t size) {
      std::size_t length = 0;
      if (napi_get_value_string_utf16(call.env(), call[i], room, size, &length) != napi_ok) {
        throw Napi::Error::New(call.env());
      }
      return length;
    };
    const std::size_t length = read(short_.data(), short_.size());
    view_ = {short_.data(), length};
    if (length < short_.size() - 1) return;  // otherwise it may have been cut
    long_.resize(read(nullptr, 0) + 1);
    view_ = {long_.data(), read(long_.data(), long_.size())};
  }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;

  std::u16string_view view() const noexcept { return view_; }

 private:
  std::array<char16_t, 128> short_;
  std::u16string long_;
  std::u16string_view view_;
};

/// (number): identifies this environment in query.
void startClient(const Call& call) { call.loop().lockClient().thread = call.integer(0); }

/// Posts whether this environment waits for a name that it does not hold itself, as far as it knows. Every
/// call does this. The number is behind the completions.
void postWaits(const Call& call) {
  call.loop().completions().post(call.loop().lockClient().waitsForOthers() ? 1 : 0);
}

/// (name, mode | manner << kModeBits, priority or nothing): ticket << kAnswerBits | a RequestAnswer, or kNotGranted. A
/// steal may cause completions for other requests.
std::int32_t request(const Call& call) {
  EventLoop& loop = call.loop();
  const Name name(call, 0);
  const std::int32_t how = call.integer(1);
  PendingTicket ticket(loop, kRequest, Tickets::kNoWord);
  Waiter& w = ticket.waiter();
  if (call.has(2)) w.priority = call.number(2);
  const auto answer = lockManager().request(loop.lockClient(), w, name.view(),
                                            static_cast<Mode>(how & ((1 << kModeBits) - 1)),
                                            static_cast<Manner>(how >> kModeBits));
  postWaits(call);
  const auto keep = [&ticket](RequestAnswer now) { return ticket.keep() << kAnswerBits | now; };
  if (answer == LockManager::Answer::waiting) return keep(kWaiting);
  if (answer != LockManager::Answer::granted) return kNotGranted;
  return keep(w.abandoned ? kGrantedNowAbandoned : kGrantedNow);
}

/// (ticket), invited: an Outcome, or kStolen.
std::int32_t resume(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(0));
  tickets.waitOf(w).isInvited = false;
  const auto fate = lockManager().resume(w);
  postWaits(call);
  if (fate == LockManager::Fate::granted) return outcomeOf(true, w);
  tickets.give(w);
  return kStolen;
}

/// (ticket), not resumed yet: a Leave.
std::int32_t leave(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(0));
  const Leave how = lockManager().leave(w);
  postWaits(call);
  tickets.left(w, how);
  return static_cast<std::int32_t>(how);
}

/// (ticket, anything if the holder has not seen its grant): the number of completions. If it is kStolen, a completion
/// for the ticket is still to come.
std::int32_t release(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(0));
  const bool isHeld = lockManager().release(w, call.has(1));
  postWaits(call);
  tickets.left(w, isHeld ? Leave::left : Leave::leftAwake);
  return isHeld ? call.completions() : kStolen;
}

/// An array of name, mode | kHeldRequest, number of the environment, and so on.
napi_value query(const Call& call) {
  const Napi::Env env(call.env());
  const std::vector<LockManager::Entry> entries = lockManager().query();
  Napi::Array all = Napi::Array::New(env, entries.size() * 3);
  std::uint32_t at = 0;
  for (const LockManager::Entry& one : entries) {
    // Not a Napi::String, because its assignment uses UTF-8, which has no unpaired surrogates.
    all[at++] = one.name;
    all[at++] = Napi::Number::New(
        env, static_cast<std::int32_t>(one.mode) | (one.isHeld ? kHeldRequest : 0));
    all[at++] = Napi::Number::New(env, one.thread);
  }
  return all;
}

}  // namespace

void defineLockManager(Topic exports) {
  Topic manager = exports.topic("lockManager");
  manager.add<startClient>("start");
  manager.add<request>("request");
  manager.add<resume>("resume");
  manager.add<leave>("leave");
  manager.add<release>("release");
  manager.add<query>("query");
}

}  // namespace boxoffice::binding
