#include "call.h"

#include "platform/host_error.h"
#include "platform/misuse.h"

namespace boxoffice::binding {
namespace {

const char* codeOf(Fault fault) {
  switch (fault) {
    case Fault::notHolder:
      return "ERR_LOCK_NOT_HELD";
    case Fault::overflow:
    case Fault::underflow:
      return "ERR_LOCK_RANGE";
    case Fault::mismatch:
      return "ERR_LOCK_MISMATCH";
    case Fault::notWaiting:
    case Fault::badArgument:
      break;
  }
  return "ERR_LOCK_MISUSE";
}

const char* codeOf(host::HostFault fault) {
  switch (fault) {
    case host::HostFault::segment:
    case host::HostFault::exhausted:
      return "ERR_LOCK_SEGMENT";
    case host::HostFault::capacity:
      return "ERR_LOCK_CAPACITY";
    case host::HostFault::unsupported:
      return "ERR_LOCK_UNSUPPORTED";
    case host::HostFault::forked:
      break;
  }
  return "ERR_LOCK_FORKED";
}

/// Throws an error with the property `found`: the word with which the existing lock began.
void throwOtherStart(napi_env env, const OtherStart& mismatch) noexcept {
  napi_value code = nullptr;
  napi_value message = nullptr;
  napi_value error = nullptr;
  napi_value found = nullptr;
  const bool isMade =
      napi_create_string_utf8(env, codeOf(mismatch.fault()), NAPI_AUTO_LENGTH, &code) == napi_ok &&
      napi_create_string_utf8(env, mismatch.what(), NAPI_AUTO_LENGTH, &message) == napi_ok &&
      napi_create_error(env, code, message, &error) == napi_ok &&
      napi_create_uint32(env, mismatch.found(), &found) == napi_ok &&
      napi_set_named_property(env, error, "found", found) == napi_ok;
  if (isMade) napi_throw(env, error);
}

/// Throws the current C++ exception in JavaScript.
void rethrow(napi_env env) noexcept {
  try {
    throw;
  } catch (const Napi::Error& error) {
    // Not ThrowAsJavaScriptException, because it throws in C++ while the environment is being terminated, and
    // no caller would catch that.
    try {
      if (!error.IsEmpty()) napi_throw(env, error.Value());
    } catch (const Napi::Error&) {
    }
  } catch (const OtherStart& mismatch) {
    throwOtherStart(env, mismatch);
  } catch (const Misuse& misuse) {
    const bool range = misuse.fault() == Fault::overflow || misuse.fault() == Fault::underflow;
    const auto throwError = range ? napi_throw_range_error : napi_throw_error;
    throwError(env, codeOf(misuse.fault()), misuse.what());
  } catch (const host::HostError& error) {
    napi_throw_error(env, codeOf(error.fault()), error.what());
  } catch (const std::bad_alloc&) {
    napi_throw_error(env, "ERR_LOCK_MEMORY", "boxoffice: out of memory");
  } catch (const std::exception& other) {
    napi_throw_error(env, "ERR_LOCK_MISUSE", other.what());
  }
}

}  // namespace

void fail(napi_env env) { throw Napi::Error::New(env); }

std::string Call::text(int i) const {
  std::size_t length = 0;
  check(env_, napi_get_value_string_utf8(env_, arguments_[i], nullptr, 0, &length));
  std::string text(length, '\0');
  check(env_, napi_get_value_string_utf8(env_, arguments_[i], text.data(), length + 1, &length));
  return text;
}

napi_value Call::result(double value) const {
  napi_value made = nullptr;
  check(env_, napi_create_double(env_, value, &made));
  return made;
}

napi_value receive(napi_env env, napi_callback_info info,
                   napi_value (*function)(const Call& call)) noexcept {
  try {
    const Call call(env, info);
    const EventLoop::Turn turn(&call.loop());
    return function(call);
  } catch (...) {
    rethrow(env);
    return nullptr;
  }
}

}  // namespace boxoffice::binding
