#include "exports.h"

#include "check.h"

namespace boxoffice::binding {

Topic Topic::topic(const char* name) {
  const Napi::Object functions = Napi::Object::New(anchor_.Env());
  functions_.Set(name, functions);
  return {anchor_, functions, loop_};
}

void Topic::add(const char* name, std::int32_t number) {
  functions_.Set(name, Napi::Number::New(anchor_.Env(), number));
}

void Topic::add(const char* name, napi_callback callback) {
  const Napi::Env env = anchor_.Env();
  napi_value made = nullptr;
  check(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, &loop_, &made));
  // A function keeps the instance that it belongs to alive.
  check(env, napi_set_named_property(env, made, "anchor", anchor_));
  functions_.Set(name, made);
}

}  // namespace boxoffice::binding
