// Scope host as functions over numbers: which segment, which slot of it, and what there is to see of it.
#include "exports.h"
#include "host/lock_kinds.h"
#include "kinds.h"

namespace boxoffice::binding {
namespace {

host::Segment& segmentOf(const void* address) {
  host::Segment* const segment = host::segmentAt(address);
  if (!segment) throw Misuse(Fault::badArgument, "no lock of scope host lies there");
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

/// (kind, name, directory or nothing, capacity or 0, value at first): the number of the segment.
std::int32_t hostOpen(const Call& call) {
  host::SegmentOptions options;
  options.kind = static_cast<host::Kind>(call.integer(0));
  options.name = call.text(1);
  options.capacity = call.word(3);
  options.start = call.integer(4);
  return call.loop().hosts().open(call.text(2), options);
}

/// (segment): the low half of a mutex's word while this environment holds it and nobody waits.
std::int32_t hostHeld(const Call& call) {
  const host::ProcessSlot process =
      call.loop().hosts().at(call.integer(0)).segment().membership().process();
  return static_cast<std::int32_t>(
      host::OwnerWord::held(process, host::checkedHostAgent(call.loop().id())).bits());
}

/// (segment, key where it has keys): the place of a lock that other processes may know.
std::int32_t hostPin(const Call& call) {
  const std::int32_t number = call.integer(0);
  Hosts& hosts = call.loop().hosts();
  host::SegmentHandle& handle = hosts.at(number);
  const Kind& kind = kindOf(handle.segment().kind());
  const std::uint32_t slot = call.has(1) ? handle.pin(call.text(1)) : handle.pin();
  std::int32_t place = 0;
  try {
    place = hosts.placeOf(number, slot);
  } catch (...) {
    handle.unpin(slot);
    throw;
  }
  return call.loop().shares().shareSlot(place, kind, handle, slot);
}

/// (place): whether this thread let go of the slot, which it does unless it holds the lock.
std::int32_t hostUnpin(const Call& call) {
  return call.loop().shares().unpinSlot(call.integer(0), call.loop().id()) ? 1 : 0;
}

/// (place): whether the slot is that of the same key, and pinned. If not, then nothing of ours lies there.
std::int32_t hostPinAgain(const Call& call) {
  return call.loop().shares().pinSlotAgain(call.integer(0)) ? 1 : 0;
}

/// (place): the number of a grant there, larger than all before.
napi_value hostFence(const Call& call) {
  host::Segment& segment = segmentOf(call.loop().regions().word(call.integer(0)));
  napi_value token = nullptr;
  if (napi_create_bigint_uint64(call.env(), segment.fence(), &token) != napi_ok) {
    throw Napi::Error::New(call.env());
  }
  return token;
}

/// (segment): how many of its locks are held or waited for.
std::int32_t hostBusyCount(const Call& call) {
  std::int32_t count = 0;
  call.loop().hosts().at(call.integer(0)).forEachBusy([&](std::uint32_t, const std::string&) {
    ++count;
  });
  return count;
}

/// (segment): an array of those, each as its key, as far as it is known, and its place.
napi_value hostBusy(const Call& call) {
  const Napi::Env env(call.env());
  const std::int32_t number = call.integer(0);
  Hosts& hosts = call.loop().hosts();
  struct Busy {
    std::uint32_t slot;
    std::string text;
  };
  std::vector<Busy> all;
  hosts.at(number).forEachBusy([&](std::uint32_t slot, const std::string& text) {
    all.push_back({slot, text});
  });
  Napi::Array busy = Napi::Array::New(env, 2 * all.size());
  std::uint32_t next = 0;
  for (const Busy& one : all) {
    busy[next++] = Napi::String::New(env, one.text);
    busy[next++] = Napi::Number::New(env, hosts.placeOf(number, one.slot));
  }
  return busy;
}

/// (place): what there is to see of it, for people.
napi_value hostLook(const Call& call) {
  const Napi::Env env(call.env());
  void* const address = call.loop().regions().word(call.integer(0));
  host::Segment& segment = segmentOf(address);
  auto* const slot = static_cast<std::byte*>(address);
  const auto pids = [&](auto&& each) {
    Napi::Array all = Napi::Array::New(env);
    each([&](host::ProcessSlot process) {
      // Whoever died just now, or has begun just now, has none.
      if (const auto pid = segment.membership().pidOf(process)) {
        all[all.Length()] = Napi::Number::New(env, pid);
      }
    });
    return all;
  };
  return host::withLock(segment.kind(), slot, [&](auto& lock) -> napi_value {
    Napi::Object seen = Napi::Object::New(env);
    describe(seen, lock);
    seen["waiting"] = Napi::Number::New(env, static_cast<double>(lock.queueSize()));
    seen["holderPids"] = pids([&](auto&& use) { lock.eachHolder(use); });
    seen["waiterPids"] = pids([&](auto&& use) { lock.eachWaiter(use); });
    return seen;
  });
}

/// How many segments of this process have turned out to be gone.
std::int32_t hostRemovals(const Call&) { return Hosts::removals(); }

/// (segment): why there is nothing to be had from it any more; null while there is.
napi_value hostWhyGone(const Call& call) {
  host::Segment& segment = call.loop().hosts().at(call.integer(0)).segment();
  const Napi::Env env(call.env());
  if (!segment.isGone()) return env.Null();
  return Napi::String::New(env, segment.membership().removed(segment).what());
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
  host.add<hostPin>("pin");
  host.add<hostUnpin>("unpin");
  host.add<hostPinAgain>("pinAgain");
  host.add<hostFence>("fence");
  host.add<hostBusyCount>("busyCount");
  host.add<hostBusy>("busy");
  host.add<hostLook>("look");
  host.add<hostRemovals>("removals");
  host.add<hostWhyGone>("whyGone");
  host.add<hostHolds>("holds");
}

}  // namespace boxoffice::binding
