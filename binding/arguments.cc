#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace boxoffice::binding {
namespace {

const char* codeOf(Fault fault) {
  switch (fault) {
    case Fault::notHolder:
      return "ERR_LOCK_NOT_HELD";
    case Fault::overflow:
    case Fault::underflow:
      return "ERR_LOCK_RANGE";
    case Fault::notWaiting:
    case Fault::badArgument:
      break;
  }
  return "ERR_LOCK_MISUSE";
}

}  // namespace

int toCount(const Napi::Value& value, const char* name, int most) {
  if (!value.IsNumber()) {
    throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a number");
  }
  const double number = value.As<Napi::Number>().DoubleValue();
  // Written so that NaN fails, too.
  if (!(number >= 0 && number <= most && std::trunc(number) == number)) {
    throw Napi::RangeError::New(
        value.Env(), std::string(name) + " must be an integer from 0 to " + std::to_string(most));
  }
  return static_cast<int>(number);
}

void* wordAt(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsTypedArray() ||
      info[0].As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
    throw Napi::TypeError::New(env, "a lock's word lies in an Int32Array");
  }
  // Not through its ArrayBuffer: Node 20 cannot give us the one of a SharedArrayBuffer.
  std::size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, info[0], nullptr, &length, &data, nullptr, nullptr) !=
      napi_ok) {
    throw Napi::Error::New(env);
  }
  if (length == 0) throw Napi::RangeError::New(env, "the Int32Array is empty");
  constexpr std::size_t kLast = std::numeric_limits<int>::max();
  const int last = static_cast<int>(std::min(length - 1, kLast));
  return static_cast<std::int32_t*>(data) + toCount(info[1], "index", last);
}

Deadline toDeadline(const Napi::Value& milliseconds) {
  if (milliseconds.IsUndefined()) return kNever;
  if (!milliseconds.IsNumber()) {
    throw Napi::TypeError::New(milliseconds.Env(), "timeout must be a number of milliseconds");
  }
  const double ms = milliseconds.As<Napi::Number>().DoubleValue();
  if (std::isnan(ms) || ms < 0) {
    throw Napi::RangeError::New(milliseconds.Env(), "timeout must be 0 ms or more");
  }
  constexpr double kLongest = 1e12;  // some 30 years: beyond it, and for Infinity, none
  if (ms > kLongest) return kNever;
  return deadlineIn(std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6)));
}

Napi::Error errorWithCode(Napi::Env env, const char* code, const char* message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", code);
  return error;
}

void rethrow(Napi::Env env, const Misuse& misuse) {
  const bool range = misuse.fault() == Fault::overflow || misuse.fault() == Fault::underflow;
  Napi::Error error = range ? Napi::Error(Napi::RangeError::New(env, misuse.what()))
                            : Napi::Error::New(env, misuse.what());
  error.Set("code", codeOf(misuse.fault()));
  throw error;
}

}  // namespace boxoffice::binding
