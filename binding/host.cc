// Scope host as functions over numbers: segments, their slots, and the state of a lock for diagnostics.
#include "exports.h"
#include "host/lock_kinds.h"
#include "kinds.h"

namespace boxoffice::binding {
namespace {

host::Segment& segmentOf(const void* address) {
  host::Segment* const segment = host::segmentAt(address);
  if (!segment) throwMisuse(Fault::badArgument, "no lock of scope host lies there");
  return *segment;
}

void describe(Napi::Object& seen, const host::HostMutex& mutex) {
  seen["locked"] = Napi::Boolean::New(seen.Env(), mutex.isLocked());
}
void describe(Napi::Object& seen, const host::HostSemaphore& semaphore) {
  seen["value"] = Napi::Number::New(seen.Env(), semaphore.value());
}
void describe(Napi::Object& seen, const host::HostRWLock& lock) {
  seen["readers"] = Napi::Number::New(seen.Env(), lock.readers());
  seen["written"] = Napi::Boolean::New(seen.Env(), lock.isWritten());
}

/// Collects process ids in an array. A class and not a lambda, because a lambda would be compiled for each kind of
/// lock.
class Pids {
 public:
  Pids(napi_env env, host::Membership& membership)
      : membership_(membership), array_(Napi::Array::New(env)) {}

  void operator()(host::ProcessSlot process) {
    // A process that has just died or just begun has no pid in its record.
    const auto pid = membership_.pidOf(process);
    if (pid) array_[array_.Length()] = Napi::Number::New(array_.Env(), pid);
  }
  Napi::Array array() const { return array_; }

 private:
  host::Membership& membership_;
  Napi::Array array_;
};

/// (kind, name, directory or nothing, capacity or 0, initial value): the number of the segment.
std::int32_t hostOpen(const Call& call) {
  host::SegmentOptions options;
  options.kind = static_cast<host::Kind>(call.integer(0));
  options.name = call.text(1);
  options.capacity = call.word(3);
  options.start = call.integer(4);
  return call.loop().hosts().open(call.text(2), options);
}

/// (segment): the low half of a mutex's word while this environment holds it without a waiter.
std::int32_t hostHeld(const Call& call) {
  const host::ProcessSlot process =
      call.loop().hosts().at(call.integer(0)).segment().membership().process();
  return static_cast<std::int32_t>(
      host::OwnerWord::held(process, host::checkedHostAgent(call.loop().id())).bits());
}

/// (segment). Forgets the word indexes of all its locks. Returns an array of the regions that are free now.
napi_value hostForgetWords(const Call& call) {
  Napi::Array regions = Napi::Array::New(Napi::Env(call.env()));
  for (const std::int32_t region : call.loop().hosts().forgetWords(call.integer(0))) {
    regions[regions.Length()] = Napi::Number::New(regions.Env(), region);
  }
  return regions;
}

/// (segment, key if it has keys): the word index of a lock that other processes may use.
std::int32_t hostPin(const Call& call) {
  const std::int32_t number = call.integer(0);
  Hosts& hosts = call.loop().hosts();
  host::SegmentHandle& handle = hosts.at(number);
  const Kind& kind = kindOf(handle.segment().kind());
  const std::uint32_t slot = call.has(1) ? handle.pin(call.text(1)) : handle.pin();
  std::int32_t wordIndex = 0;
  try {
    wordIndex = hosts.wordIndexOf(number, slot);
  } catch (...) {
    handle.unpin(slot);
    throw;
  }
  return call.loop().shares().shareSlot(wordIndex, kind, handle, slot);
}

/// (word index): unpins the slot unless this environment holds its lock. Returns whether it did.
std::int32_t hostUnpin(const Call& call) {
  return call.loop().shares().unpinSlot(call.integer(0), call.loop().id()) ? 1 : 0;
}

/// (word index): pins the slot again if it still has the same key. If not, this environment forgets the word index.
std::int32_t hostPinAgain(const Call& call) {
  return call.loop().shares().pinSlotAgain(call.integer(0)) ? 1 : 0;
}

/// (word index): its slot, as an Int32Array.
napi_value hostSlot(const Call& call) {
  void* const address = call.loop().regions().word(call.integer(0));
  return viewOf(call.env(), address, host::strideOf(segmentOf(address).kind()));
}

/// (word index): a new fencing token, larger than all earlier ones.
napi_value hostFence(const Call& call) {
  host::Segment& segment = segmentOf(call.loop().regions().word(call.integer(0)));
  napi_value token = nullptr;
  if (napi_create_bigint_uint64(call.env(), segment.fence(), &token) != napi_ok) {
    throw Napi::Error::New(call.env());
  }
  return token;
}

/// (segment): the number of its locks that are held or waited for.
std::int32_t hostBusyCount(const Call& call) {
  std::int32_t count = 0;
  call.loop().hosts().at(call.integer(0)).forEachBusy([&](std::uint32_t, const std::string&, bool) {
    ++count;
  });
  return count;
}

/// (segment): an array with the key of each of these locks, whether the key is cut, and the word index.
napi_value hostBusy(const Call& call) {
  const Napi::Env env(call.env());
  const std::int32_t number = call.integer(0);
  Hosts& hosts = call.loop().hosts();
  struct Busy {
    std::uint32_t slot;
    std::string text;
    bool isCut;
  };
  std::vector<Busy> all;
  hosts.at(number).forEachBusy([&](std::uint32_t slot, const std::string& text, bool isCut) {
    all.push_back({slot, text, isCut});
  });
  Napi::Array busy = Napi::Array::New(env, 3 * all.size());
  std::uint32_t next = 0;
  for (const Busy& one : all) {
    busy[next++] = one.text;
    busy[next++] = Napi::Boolean::New(env, one.isCut);
    busy[next++] = Napi::Number::New(env, hosts.wordIndexOf(number, one.slot));
  }
  return busy;
}

/// (segment, word index, key): whether the lock there belongs to the key at this moment.
std::int32_t hostCarries(const Call& call) {
  const host::SegmentHandle& handle = call.loop().hosts().at(call.integer(0));
  const void* const address = call.loop().regions().word(call.integer(1));
  return handle.carries(handle.segment().slotOf(address), call.text(2)) ? 1 : 0;
}

/// (segment, key): whether the key has an entry there. It makes no entry.
std::int32_t hostHas(const Call& call) {
  const host::SegmentHandle& handle = call.loop().hosts().at(call.integer(0));
  return host::KeyArea(handle.segment().view()).has(call.text(1)) ? 1 : 0;
}

/// (word index): an object that describes the lock's state, for diagnostics.
napi_value hostLook(const Call& call) {
  const Napi::Env env(call.env());
  void* const address = call.loop().regions().word(call.integer(0));
  host::Segment& segment = segmentOf(address);
  auto* const slot = static_cast<std::byte*>(address);
  return host::withLock(segment.kind(), slot, [&](auto& lock) -> napi_value {
    Napi::Object seen = Napi::Object::New(env);
    describe(seen, lock);
    seen["waiting"] = Napi::Number::New(env, static_cast<double>(lock.queueSize()));
    Pids holders(env, segment.membership());
    lock.eachHolder(holders);
    seen["holderPids"] = holders.array();
    Pids waiters(env, segment.membership());
    lock.eachWaiter(waiters);
    seen["waiterPids"] = waiters.array();
    return seen;
  });
}

/// The number of removed segments that this process has detected.
std::int32_t hostRemovals(const Call&) { return Hosts::removals(); }

/// (segment): why it no longer grants locks, or null while it does.
napi_value hostWhyGone(const Call& call) {
  host::Segment& segment = call.loop().hosts().at(call.integer(0)).segment();
  const Napi::Env env(call.env());
  if (!segment.isGone()) return env.Null();
  return Napi::String::New(env, segment.membership().removed(segment).what());
}

/// (segment): whether that is because this process can no longer open files. Other processes still get locks.
std::int32_t hostIsLost(const Call& call) {
  return call.loop().hosts().at(call.integer(0)).segment().membership().isLost() ? 1 : 0;
}

/// (segment): whether this process holds any of its locks.
std::int32_t hostHolds(const Call& call) {
  return call.loop().hosts().at(call.integer(0)).holds() ? 1 : 0;
}

}  // namespace

void defineHost(Topic exports) {
  Topic host = exports.topic("host");
  host.add<hostOpen>("open");
  host.add<hostHeld>("held");
  host.add<hostForgetWords>("forgetWords");
  host.add<hostPin>("pin");
  host.add<hostUnpin>("unpin");
  host.add<hostPinAgain>("pinAgain");
  host.add<hostSlot>("slot");
  host.add<hostFence>("fence");
  host.add<hostBusyCount>("busyCount");
  host.add<hostBusy>("busy");
  host.add<hostCarries>("carries");
  host.add<hostHas>("has");
  host.add<hostLook>("look");
  host.add<hostRemovals>("removals");
  host.add<hostWhyGone>("whyGone");
  host.add<hostIsLost>("isLost");
  host.add<hostHolds>("holds");
}

}  // namespace boxoffice::binding
