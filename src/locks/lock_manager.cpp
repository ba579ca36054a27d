#include "locks/lock_manager.h"

#include <algorithm>
#include <utility>

#include "platform/process_wide.h"

namespace boxoffice {

/// Waiters to invite once the mutex is free, linked as their mailbox would.
class LockManager::Wakes {
 public:
  Wakes() = default;
  ~Wakes() {
    for (Waiter* next = first_; next;) {
      Waiter& w = *std::exchange(next, next->posted);  // once woken, the waiter may be destroyed
      w.parker->wake(w, Wake::invited);
    }
  }
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  void add(Waiter& w) noexcept {
    if (std::exchange(w.invitationSent, true)) return;
    w.posted = nullptr;
    (first_ ? last_->posted : first_) = &w;
    last_ = &w;
  }

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

bool LockManager::Resource::hasRoomFor(const Waiter& w) const noexcept {
  const auto isShared = [](const Waiter& one) {
    return one.ask == static_cast<std::uint32_t>(Mode::shared);
  };
  return !held.head || (isShared(*held.head) && isShared(w));
}

const LockManager::Part& LockManager::Resource::partOf(AgentId agent) const noexcept {
  return *std::find_if(parts.begin(), parts.end(),
                       [agent](const Part& part) { return part.client->agent == agent; });
}

LockManager::Answer LockManager::request(Client& client, Waiter& w, std::u16string_view name,
                                         Mode mode, Manner manner) {
  checkPriority(w);
  if (!client.claim_) client.claim_ = CopyClaim("lock manager", "the lock manager");
  Wakes wakes;
  const std::lock_guard guard(mutex_);
  Named& at = obtain(name);
  try {
    Resource& resource = at.second;
    Part& part = obtainPart(resource, client);
    w.ask = static_cast<std::uint32_t>(mode);
    w.then = &at;
    if (manner == Manner::steal) steal(resource, wakes);
    const bool isFirst = resource.queue.empty() || w.priority > resource.queue.topPriority();
    if (manner == Manner::steal || (isFirst && resource.hasRoomFor(w))) {
      grant(resource, w);
      w.told = true;
      count(part, w, 0, +1);
      return Answer::granted;
    }
    if (manner == Manner::wait) {
      resource.queue.enter(w);
      count(part, w, +1, 0);
      return Answer::waiting;
    }
  } catch (...) {
    tidy(at);
    throw;
  }
  tidy(at);
  return Answer::refused;
}

LockManager::Fate LockManager::resume(Waiter& w) {
  const std::lock_guard guard(mutex_);
  Named& at = named(w);
  Part& part = at.second.partOf(w.agent);
  w.invitationSent = false;
  if (w.state == Waiter::State::admitted) {
    w.told = true;
    count(part, w, -1, +1);
    return Fate::granted;
  }
  countOut(part, w);
  tidy(at);
  return Fate::stolen;
}

Leave LockManager::leave(Waiter& w) {
  Wakes wakes;
  const std::lock_guard guard(mutex_);
  end(w, wakes);
  return w.invitationSent ? Leave::leftAwake : Leave::left;
}

bool LockManager::release(Waiter& w, bool isUndelivered) {
  Wakes wakes;
  const std::lock_guard guard(mutex_);
  const bool isHeld = w.state == Waiter::State::admitted;
  if (isHeld && isUndelivered && w.abandoned) named(w).second.abandoned = true;
  end(w, wakes);
  return isHeld;
}

void LockManager::forget(Client& dead) noexcept {
  Wakes wakes;
  const std::lock_guard guard(mutex_);
  for (auto next = resources_.begin(); next != resources_.end();) {
    Named& at = *next++;
    if (!forgetIn(at.second, dead)) continue;
    admit(at.second, wakes);
    tidy(at);
  }
  dead.waitsFor_ = 0;
}

std::vector<LockManager::Entry> LockManager::query() const {
  const std::lock_guard guard(mutex_);
  std::vector<const Named*> all;
  for (const Named& at : resources_) all.push_back(&at);
  std::sort(all.begin(), all.end(), [](const Named* one, const Named* other) {
    return one->second.since < other->second.since;
  });
  std::vector<Entry> entries;
  for (const Named* at : all) {
    const Resource& resource = at->second;
    const auto note = [&](const Waiter& w, bool isHeld) {
      const std::int32_t thread = resource.partOf(w.agent).client->thread;
      entries.push_back({at->first, static_cast<Mode>(w.ask), isHeld, thread});
    };
    for (const Waiter* w = resource.held.head; w; w = w->next) note(*w, true);
    resource.queue.each([&](const Waiter& w) { note(w, false); });
  }
  return entries;
}

LockManager::Named& LockManager::obtain(std::u16string_view name) {
  if (const auto known = resources_.find(name); known != resources_.end()) return *known;
  if (spares_.empty()) {
    // Reserves room for the node of the name: tidy, which keeps the node, must not fail.
    spares_.reserve(kSpares);
    Named& made = *resources_.try_emplace(std::u16string(name)).first;
    made.second.since = ++ages_;
    return made;
  }
  spares_.back().key().assign(name);
  Named& found = *resources_.insert(std::move(spares_.back())).position;
  spares_.pop_back();
  found.second.since = ++ages_;
  return found;
}

/// Drops empty parts, and the resource when none is left.
void LockManager::tidy(Named& named) noexcept {
  Resource& resource = named.second;
  std::erase_if(resource.parts, [](const Part& one) { return one.isEmpty(); });
  if (!resource.parts.empty() || resource.abandoned) return;
  auto node = resources_.extract(resources_.find(named.first));
  const bool isToStay = spares_.size() < kSpares && node.key().capacity() <= kLongestSpare;
  if (isToStay) spares_.push_back(std::move(node));
}

LockManager::Part& LockManager::obtainPart(Resource& resource, Client& client) {
  for (Part& part : resource.parts) {
    if (part.client == &client) return part;
  }
  return resource.parts.emplace_back(Part{.client = &client});
}

bool LockManager::Part::isEmpty() const noexcept {
  return waiting.exclusive + waiting.shared + told.exclusive + told.shared == 0;
}

/// Whether other agents can admit the client. While it holds a shared lock, they cannot admit its exclusive request.
/// They can admit another shared one, if only an exclusive request of theirs is in its way.
bool LockManager::Part::waitsForOthers() const noexcept {
  if (told.exclusive > 0) return false;
  return waiting.shared > 0 || (waiting.exclusive > 0 && told.shared == 0);
}

/// Adds `waiting` and `told` to the counts of the mode of `w`.
void LockManager::count(Part& part, const Waiter& w, int waiting, int told) noexcept {
  const bool isShared = w.ask == static_cast<std::uint32_t>(Mode::shared);
  const auto add = [isShared](Part::Count& to, int change) {
    std::uint32_t& number = isShared ? to.shared : to.exclusive;
    number += static_cast<std::uint32_t>(change);
  };
  if (part.waitsForOthers()) --part.client->waitsFor_;
  add(part.waiting, waiting);
  add(part.told, told);
  if (part.waitsForOthers()) ++part.client->waitsFor_;
}

void LockManager::countOut(Part& part, const Waiter& w) noexcept {
  w.told ? count(part, w, 0, -1) : count(part, w, -1, 0);
}

void LockManager::grant(Resource& resource, Waiter& w) noexcept {
  resource.held.pushBack(w);
  w.state = Waiter::State::admitted;
  w.abandoned = std::exchange(resource.abandoned, false);
}

/// Makes the next holder learn of a death, if `w` had a grant of which its client never heard.
void LockManager::passOnDeath(Resource& resource, const Waiter& w) noexcept {
  if (!w.told && w.abandoned) resource.abandoned = true;
}

void LockManager::steal(Resource& resource, Wakes& wakes) noexcept {
  for (Waiter* w = std::exchange(resource.held, {}).head; w; w = w->next) {
    w->state = Waiter::State::idle;
    passOnDeath(resource, *w);
    wakes.add(*w);
  }
}

/// Admits the requests that fit now.
void LockManager::admit(Resource& resource, Wakes& wakes) noexcept {
  WaitQueue& queue = resource.queue;
  for (Waiter* w = queue.head(); w && resource.hasRoomFor(*w); w = queue.head()) {
    queue.leave(*w);
    grant(resource, *w);
    wakes.add(*w);
  }
}

/// Ends a request in any state.
void LockManager::end(Waiter& w, Wakes& wakes) noexcept {
  Named& at = named(w);
  Resource& resource = at.second;
  if (w.state == Waiter::State::waiting) {
    resource.queue.leave(w);
  } else if (w.state == Waiter::State::admitted) {
    resource.held.remove(w);
    w.state = Waiter::State::idle;
    passOnDeath(resource, w);
  }
  countOut(resource.partOf(w.agent), w);
  admit(resource, wakes);
  tidy(at);
}

/// Ends the requests of `dead` for this resource. Returns whether there were any.
bool LockManager::forgetIn(Resource& resource, Client& dead) noexcept {
  const auto part = std::find_if(resource.parts.begin(), resource.parts.end(),
                                 [&dead](const Part& one) { return one.client == &dead; });
  if (part == resource.parts.end()) return false;
  resource.parts.erase(part);
  resource.queue.leaveAll(dead.agent, [](Waiter&, bool) {});
  for (Waiter* next = resource.held.head; next;) {
    Waiter& w = *std::exchange(next, next->next);
    if (w.agent != dead.agent) continue;
    resource.held.remove(w);
    w.state = Waiter::State::idle;
    const bool isExclusive = w.ask == static_cast<std::uint32_t>(Mode::exclusive);
    if (w.told ? isExclusive : w.abandoned) resource.abandoned = true;
  }
  return true;
}

LockManager& lockManager() { return processWide<LockManager>(); }

}  // namespace boxoffice
