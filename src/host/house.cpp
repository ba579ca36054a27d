#include "host/house.h"

#include <algorithm>
#include <utility>

#include "host/bell_box.h"
#include "host/host_error.h"
#include "host/houses.h"
#include "host/kill_points.h"
#include "host/seats.h"

namespace boxoffice::host {
namespace {

/// How long until what could not be done is tried again, in ms.
constexpr int kAgain = 50;

}  // namespace

/// The one job of the house's wait pool, for as long as it stands.
class House::Listener final : public WaitPool::Job {
 public:
  explicit Listener(House& house) : house_(house) {}
  void run() noexcept override { house_.listen(); }
  void interrupt() noexcept override {
    house_.leaving_.store(true);
    house_.bells_.pullOwn();
  }

 private:
  House& house_;
};

std::shared_ptr<House> House::in(const std::string& directory) {
  return Houses::here().in(directory);
}

House::House(std::string directory, std::string path)
    : directory_(std::move(directory)), path_(std::move(path)), members_(path_), bells_(path_) {}

/// Joins, and begins to listen.
void House::open(const platform::File& place) {
  // A member variable only once it is ours: whoever has a seat cleans up after it.
  Seat free = 1;
  while (free <= kMaxSeat && !take(free)) ++free;
  if (free > kMaxSeat) {
    throw HostError(HostFault::capacity,
                    "boxoffice: all 127 processes that " + directory_ +
                        " has room for are there; choose another directory for some");
  }
  seat_ = free;
  tidy(place);
  bells_.watchDirectory();
  pool_ = std::make_unique<WaitPool>(1, std::chrono::seconds(1));
  pool_->submit(std::make_shared<Listener>(*this));
  for (Seat seat = 1; seat <= kMaxSeat; ++seat) {
    // They look at the roster when they wake.
    if (seat != seat_ && members_.joined(seat)) wake(seat, nudge(members_.of(seat)));
  }
}

/// Makes that seat ours, if nobody has it.
bool House::take(Seat seat) {
  const std::uint64_t bell = bells_.standIn(seat);
  if (bell == 0) return false;
  killPoint(kSeatLocked);
  try {
    if (members_.joined(seat)) {
      // The lock of another FIFO says nothing about who joined with the one that was here.
      if (members_.of(seat).bell.load() != bell) {
        bells_.stepDown();
        return false;
      }
      cleanUp(seat);
    }
    killPoint(kSeatCleaned);
    if (!bells_.keep()) {
      bells_.stepDown();
      return false;
    }
  } catch (...) {
    bells_.stepDown();
    throw;
  }
  members_.join(seat, bell);
  killPoint(kSeatTaken);
  return true;
}

/// Removes what others have left half-made: nobody will finish it.
void House::tidy(const platform::File& place) {
  for (const std::string& name : platform::namesIn(place, path_)) {
    if (name.starts_with("members.new-")) platform::remove(path_ + "/" + name);
  }
}

/// What that one has been making there.
std::string House::asideIn(const std::string& directory, Seat seat) {
  return directory + "/new-" + std::to_string(seat);
}

House::~House() {
  if (Houses::here().forked()) {
    // The thread, and whoever held a mutex, are the parent's. The files are closed.
    static_cast<void>(pool_.release());
  } else if (seat_ != kNoSeat) {
    if (pool_) pool_->stop();
    leave();
  }
  Houses::here().remove(*this);
}

void House::leave() noexcept {
  try {
    // Who owes a bell leaves as the dead do: who cleans up after them rings everybody.
    if (owed_.empty()) cleanUp(seat_);
  } catch (const std::exception&) {
    // The record says that we are there, and our lock goes with the bell: to the others we are dead, and
    // one of them cleans up.
  }
  bells_.close();
}

std::uint64_t House::startOf(Seat seat) const noexcept {
  return members_.joined(seat) ? members_.of(seat).started.load() : 0;
}

bool House::ifDead(Seat seat, const std::function<void()>& use) const noexcept {
  try {
    return members_.joined(seat) && bells_.ifDead(seat, members_.of(seat).bell.load(), use);
  } catch (const std::exception&) {
    return false;  // without a descriptor its death cannot be told
  }
}

void House::check() const {
  if (!Houses::here().forked()) return;
  throw HostError(
      HostFault::forked,
      "boxoffice: a process made by fork alone cannot use locks of scope host that its parent "
      "has opened; have it run a program of its own (exec)");
}

/// With segmentsMutex_.
Segment& House::add(const std::string& file, std::unique_ptr<Segment> segment) {
  for (const Segment* const other : list_) {
    if (other->id() != segment->id()) continue;
    throw HostError(HostFault::segment, "boxoffice: " + segment->path() + " is a copy of " +
                                            other->path() + "; remove it while no process uses it");
  }
  list_.reserve(list_.size() + 1);
  const auto added = segments_.emplace(file, std::move(segment)).first;
  list_.push_back(added->second.get());
  return *added->second;
}

// ---- ringing ----

void House::ring(Seat seat, std::uint32_t segment, std::uint32_t slot) noexcept {
  if (!members_.joined(seat)) return;
  wake(seat, host::ring(members_.of(seat), segment, slot));
}

void House::ringAll() noexcept {
  for (Seat seat = 1; seat <= kMaxSeat; ++seat) {
    if (members_.joined(seat)) wake(seat, ringForAll(members_.of(seat)));
  }
}

void House::wake(Seat seat, bool asleep) noexcept {
  if (!asleep || Houses::here().forked()) return;
  if (seat == seat_) {
    bells_.pullOwn();
  } else if (!bells_.pull(seat)) {
    takeBackNudge(members_.of(seat));
    owe(seat);
  }
}

/// The bell thread tries again, even if it sleeps for ever just now.
void House::owe(Seat seat) noexcept {
  owed_.add(seat);
  if (nudge(members_.of(seat_))) bells_.pullOwn();
}

// ---- the bell thread ----

void House::listen() noexcept {
  Member& own = members_.of(seat_);
  std::uint64_t roster = 0;  // grown by our own joining at least
  std::uint32_t tags[16];
  while (!leaving_.load()) {
    bool all = false;
    collect(
        own, [this](std::uint32_t segment, std::uint32_t slot) { hear(segment, slot); },
        [&all] { all = true; });
    if (all || roster != members_.roster()) {
      roster = members_.roster();
      lookAround();
    }
    if (all) rescan();
    if (!nod(own)) continue;
    const unsigned count = bells_.wait(tags, owed_.empty() ? -1 : kAgain);
    for (unsigned i = 0; i < count; ++i) hearOf(tags[i]);
    makeGood();
  }
}

void House::hearOf(std::uint32_t tag) noexcept {
  if (tag == Bells::kOwn) return bells_.drain();
  if (tag != Bells::kRemoval) return bury(static_cast<Seat>(tag));
  bells_.drainRemovals();
  inspect();
}

void House::hear(std::uint32_t segment, std::uint32_t slot) noexcept {
  Segment* heard = nullptr;
  {
    const std::lock_guard guard(segmentsMutex_);
    const auto found = std::find_if(list_.begin(), list_.end(), [segment](const Segment* each) {
      return each->id() == segment;
    });
    if (found == list_.end()) return;
    heard = *found;
  }
  heard->deliver(slot);
}

void House::help() noexcept {
  takeLetters(members_.of(seat_),
              [this](std::uint32_t segment, std::uint32_t slot) { hear(segment, slot); });
}

void House::rescan() noexcept {
  for (std::size_t i = 0;; ++i) {
    Segment* next = nullptr;
    {
      const std::lock_guard guard(segmentsMutex_);
      if (i >= list_.size()) return;
      next = list_[i];
    }
    next->rescan();
  }
}

/// Watches those who are there, and no others.
void House::lookAround() noexcept {
  for (Seat seat = 1; seat <= kMaxSeat; ++seat) {
    if (seat == seat_) continue;
    if (!members_.joined(seat)) {
      bells_.forget(seat);
      continue;
    }
    attend(seat);
  }
}

/// Watches that one, or will.
void House::attend(Seat seat) noexcept {
  try {
    const std::uint64_t bell = members_.of(seat).bell.load();
    if (bells_.watch(seat, bell) || !members_.joined(seat)) return;
    // It may have left, and another have come, with a FIFO that is there; else its death would go unheard.
    if (members_.of(seat).bell.load() == bell) setGone();
  } catch (const HostError& error) {
    error.fault() == HostFault::exhausted ? owe(seat) : setGone();
  } catch (const std::exception&) {
    owe(seat);
  }
}

/// What is owed to those who are there: an eye, and a bell. Who is dead turns out to be as soon as it is watched.
void House::makeGood() noexcept {
  Seats(owed_).each([this](Seat seat) {
    owed_.remove(seat);
    if (!members_.joined(seat)) return;
    attend(seat);
    wake(seat, nudge(members_.of(seat)));
  });
}

/// The reader of that FIFO has gone.
void House::bury(Seat seat) noexcept {
  bells_.rest(seat);
  try {
    if (members_.joined(seat)) {
      const std::uint64_t bell = bells_.standInForDead(seat);
      if (bell == 0) {
        // Somebody cleans up. Should it die over that, its end of the FIFO tells.
        attend(seat);
        return;
      }
      if (members_.joined(seat) && members_.of(seat).bell.load() == bell) cleanUp(seat);
    }
    bells_.forget(seat);
  } catch (const HostError& error) {
    // The lock is free again: somebody else cleans up, or we do.
    error.fault() == HostFault::exhausted ? owe(seat) : setGone();
  } catch (const std::exception&) {
    owe(seat);
  }
  bells_.stepDown();
}

/// With the lock of that seat. May end at any point, and is then done again by somebody else.
void House::cleanUp(Seat dead) {
  {
    const std::lock_guard guard(segmentsMutex_);
    for (Segment* const segment : list_) Segment::evict(segment->view(), dead);
    killPoint(kOpenOnesCleaned);
    evictInFiles(dead);
  }
  killPoint(kOthersCleaned);
  // First told, then written down: should we end in between, it is done again by somebody else. The other
  // way round nobody would know that there is anything to tell.
  ringAll();
  killPoint(kAllTold);
  members_.free(dead);
  killPoint(kWrittenDown);
}

}  // namespace boxoffice::host
