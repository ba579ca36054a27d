// The segments of scope host that an environment has opened: their numbers, and views of their slots.
#pragma once

#include <napi.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "host/segment_handle.h"
#include "host_wakeup_poll.h"
#include "regions.h"

namespace boxoffice::binding {

class EventLoop;

class Hosts {
 public:
  Hosts(napi_env env, EventLoop& loop, Regions& regions)
      : env_(env), loop_(loop), regions_(regions) {}

  /// Opens the segment. Returns its number, which is valid until the environment ends.
  std::int32_t open(const std::string& directory, const host::SegmentOptions& options);
  host::SegmentHandle& at(std::int32_t number) const;

  /// The word index of a slot of that segment for JavaScript: the low half of its first word.
  std::int32_t wordIndexOf(std::int32_t number, std::uint32_t slot);

  /// Forgets the word indexes of all locks of that segment. Returns the regions that are free now.
  std::vector<std::int32_t> forgetWords(std::int32_t number);

  /// Called when a waiter of this environment needs the loop: makes the loop listen to the wake-ups of its process.
  void listen() noexcept {
    for (HostWakeupPoll* const poll : polls_) poll->listen();
  }
  void forget(const HostWakeupPoll& poll) noexcept { std::erase(polls_, &poll); }

  /// The number of removed segments of this process. It grows before the environments are called.
  static std::int32_t removals() noexcept;

  /// Called when the instance ends and holds nothing any more.
  void clear() noexcept {
    for (HostWakeupPoll* const poll : polls_) poll->close();
    polls_.clear();
    opened_.clear();
    numbers_.clear();
  }

 private:
  struct Opened {
    host::SegmentHandle::Pointer handle;
    std::vector<std::int32_t> regions;  // of the slots, one after the other, or kNone
  };

  static constexpr std::int32_t kNone = -1;

  std::size_t check(std::int32_t number) const;
  void listenTo(host::Membership& membership);

  const napi_env env_;
  EventLoop& loop_;
  Regions& regions_;
  std::vector<Opened> opened_;
  /// The number of each segment. A file has one number, however a caller writes its directory, so that a slot has one
  /// word index.
  std::unordered_map<const host::Segment*, std::int32_t> numbers_;
  std::vector<HostWakeupPoll*> polls_;  // one per membership, on systems that have them
};

}  // namespace boxoffice::binding
