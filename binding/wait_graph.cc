// The wait-for graph as functions over numbers: see src/waiting/wait_graph.h, and lib/diagnostics,
// which knows the chain of each wait. Ids, locks and moments are numbers that fit a double.
#include "waiting/wait_graph.h"

#include <vector>

#include "exports.h"

namespace boxoffice::binding {
namespace {

WaitGraph::Id idOf(const Call& call, int i) { return static_cast<WaitGraph::Id>(call.number(i)); }

WaitGraph::Lock lockOf(const Call& call, int i) {
  return static_cast<WaitGraph::Lock>(call.number(i));
}

/// (lock, want, capacity, moment, label)
WaitGraph::Claim claimOf(const Call& call) {
  return {.lock = lockOf(call, 0),
          .want = static_cast<std::int64_t>(call.number(1)),
          .capacity = static_cast<std::int64_t>(call.number(2)),
          .agent = call.loop().id(),
          .since = static_cast<WaitGraph::Moment>(call.number(3)),
          .label = call.text(4)};
}

/// Returns [the refused wait, label of a wait, label of a hold, ...], or an empty array without a cycle.
napi_value arrayOf(const Call& call, const std::optional<WaitGraph::Cycle>& cycle) {
  const Napi::Env env(call.env());
  Napi::Array array = Napi::Array::New(env);
  if (!cycle) return array;
  array[0U] = Napi::Number::New(env, static_cast<double>(cycle->refused));
  for (const WaitGraph::Step& step : cycle->steps) {
    array[array.Length()] = step.wait;
    array[array.Length()] = step.hold;
  }
  return array;
}

/// (word index of a lock that threads share, or nothing): the lock's number.
double graphLock(const Call& call) {
  if (!call.has(0)) return static_cast<double>(waitGraph().name());
  const void* word = call.loop().regions().word(call.integer(0));
  return static_cast<double>(reinterpret_cast<std::uintptr_t>(word));
}

double graphNow(const Call&) { return static_cast<double>(waitGraph().now()); }

double graphWait(const Call& call) { return static_cast<double>(waitGraph().wait(claimOf(call))); }

double graphHold(const Call& call) { return static_cast<double>(waitGraph().hold(claimOf(call))); }

void graphEnd(const Call& call) { waitGraph().end(idOf(call, 0)); }

/// (hold, array of waits): an array of a cycle.
napi_value graphDepend(const Call& call) {
  const Napi::Array given(call.env(), call[1]);
  std::vector<WaitGraph::Id> waits;
  for (std::uint32_t i = 0; i < given.Length(); ++i) {
    const double id = given.Get(i).As<Napi::Number>().DoubleValue();
    waits.push_back(static_cast<WaitGraph::Id>(id));
  }
  return arrayOf(call, waitGraph().depend(idOf(call, 0), std::move(waits)));
}

napi_value graphBlock(const Call& call) { return arrayOf(call, waitGraph().block(idOf(call, 0))); }

void graphLoosen(const Call& call) { waitGraph().loosen(lockOf(call, 0)); }

}  // namespace

void defineWaitGraph(Topic exports) {
  Topic graph = exports.topic("waitGraph");
  graph.add<graphLock>("lock");
  graph.add<graphNow>("now");
  graph.add<graphWait>("wait");
  graph.add<graphHold>("hold");
  graph.add<graphEnd>("end");
  graph.add<graphDepend>("depend");
  graph.add<graphBlock>("block");
  graph.add<graphLoosen>("loosen");
}

}  // namespace boxoffice::binding
