// Functions that belong to no lock: the tickets and completions of an environment, and the memory of its
// locks.
#include "exports.h"
#include "platform/clock.h"
#include "platform/copies.h"

namespace boxoffice::binding {
namespace {

/// (Int32Array for completions, function for wake-ups, function that does nothing): the id of this
/// agent.
std::int32_t start(const Call& call) {
  call.loop().start(call[0], call[1], call[2]);
  return static_cast<std::int32_t>(call.loop().id());
}

std::int32_t completions(const Call& call) { return call.completions(); }

/// As completions(), with those that other threads have posted but not yet announced by a wake-up.
std::int32_t postedCompletions(const Call& call) {
  call.loop().collect();
  return call.completions();
}

/// Writes the entries of the waiters that have left by leaveAll. Returns their number. If that is
/// Completions::kMost, call it again. Invited waiters still get a completion.
std::int32_t leavers(const Call& call) { return call.loop().completions().writeLeavers(); }

/// (ticket). Gives back a ticket whose last completion has arrived.
void giveTicket(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  tickets.give(tickets.waiter(call.integer(0)));
}

/// (KeepAlive::Level)
void keepAlive(const Call& call) {
  call.loop().keepAlive().set(static_cast<KeepAlive::Level>(call.integer(0)));
}

/// Whether another environment may still cause completions for this one.
std::int32_t mayBeWoken(const Call& call) { return call.loop().mayBeWoken() ? 1 : 0; }

/// (region): its Int32Array.
napi_value array(const Call& call) { return call.loop().regions().array(call.integer(0)); }

/// (word index): its address in memory, which is the same for all threads.
double addressOf(const Call& call) {
  return static_cast<double>(
      reinterpret_cast<std::uintptr_t>(call.loop().regions().word(call.integer(0))));
}

/// (Int32Array, kind, initial word): the word index of a lock that other threads may use.
std::int32_t shareMemory(const Call& call) {
  return call.loop().shares().shareMemory(call[0], call.integer(1), call.word(2));
}

/// (table, key, kind, initial word): the word index of a lock that other threads may use.
std::int32_t shareKey(const Call& call) {
  return call.loop().shares().shareKey(call.integer(0), call.text(1), call.integer(2),
                                       call.word(3));
}

/// (word index) from shareMemory or shareKey: how many uses of the lock are left.
std::int32_t unshare(const Call& call) {
  return call.loop().shares().unshare(call.integer(0), call.loop().id());
}

/// (name, initial word of its keys, or 0 if they differ, whether its keys are names of locks): the number of the
/// table of that name.
std::int32_t openTable(const Call& call) {
  return call.loop().shares().openTable(call.text(0), call.word(1), call.integer(2) == 1);
}

/// (table). Closes a table that no lock of this environment uses any more.
void closeTable(const Call& call) { call.loop().shares().closeTable(call.integer(0)); }

/// (word index, how much). Records that other environments have put back so many units of this one.
void gave(const Call& call) { call.loop().shares().gave(call.integer(0), call.integer(1)); }

/// (table): how many of its keys are held or waited for.
std::int32_t busyCount(const Call& call) {
  return static_cast<std::int32_t>(call.loop().shares().table(call.integer(0)).busy());
}

/// (table): an array of the keys that are held or waited for.
napi_value busyKeys(const Call& call) {
  const Napi::Env env(call.env());
  Napi::Array keys = Napi::Array::New(env);
  for (const std::string& key : call.loop().shares().table(call.integer(0)).busyKeys()) {
    keys[keys.Length()] = key;
  }
  return keys;
}

/// The time of Clock, common to all threads, in milliseconds.
double now(const Call& /*call*/) {
  const std::chrono::duration<double, std::milli> time = Clock::now().time_since_epoch();
  return time.count();
}

/// (path of this copy of the package): the path of another copy that differs, the first time; else null.
napi_value joinCopies(const Call& call) {
  const Napi::Env env(call.env());
  const char* const other = boxoffice::joinCopies(call.text(0));
  return other ? Napi::Value(Napi::String::New(env, other)) : env.Null();
}

}  // namespace

void defineEnvironment(Topic exports) {
  Topic loop = exports.topic("eventLoop");
  loop.add<start>("start");
  loop.add<completions>("completions");
  loop.add<postedCompletions>("postedCompletions");
  loop.add<leavers>("leavers");
  loop.add<giveTicket>("giveTicket");
  loop.add<keepAlive>("keepAlive");
  loop.add<mayBeWoken>("mayBeWoken");
  Topic regions = exports.topic("regions");
  regions.add<array>("array");
  regions.add<addressOf>("addressOf");
  Topic shares = exports.topic("shares");
  shares.add<shareMemory>("shareMemory");
  shares.add<shareKey>("shareKey");
  shares.add<unshare>("unshare");
  shares.add<gave>("gave");
  Topic tables = exports.topic("lockTables");
  tables.add<openTable>("open");
  tables.add<closeTable>("close");
  tables.add<busyCount>("busyCount");
  tables.add<busyKeys>("busyKeys");
  exports.topic("clock").add<now>("now");
  exports.topic("copies").add<joinCopies>("join");
}

}  // namespace boxoffice::binding
