// Leaving the line of a lock, as functions over numbers: the same for all that have a line of their own.
#pragma once

#include "call.h"

namespace boxoffice::binding {

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

}  // namespace boxoffice::binding
