#include "realm.h"

#include <array>

#include "check.h"

namespace boxoffice::binding {
namespace {

/// A function or a buffer made in a vm context keeps that context alive. These functions replace them
/// wherever the process keeps a reference: hooks, ports, timers, and memory that other threads use.
constexpr const char* kSource = R"js(((weakRef, outside) => {
  'use strict'
  const kept = new WeakMap()
  const ends = new FinalizationRegistry(({ handle, method }) => handle[method]())
  return {
    /** Returns an Int32Array of this realm over the shared memory of the Int32Array `words`. */
    adopt(words) {
      if (words instanceof Int32Array && words.buffer instanceof SharedArrayBuffer) return words
      return new Int32Array(structuredClone(words.buffer), words.byteOffset, words.length)
    },
    /**
     * Returns functions that call `methods` until `instance`, the object with the package's functions,
     * has been collected.
     */
    weakly(instance, methods) {
      kept.set(instance, [methods, kept.get(instance)])
      const valueOf = weakRef(methods)
      const callers = Object.keys(methods).map((name) => [
        name,
        (a, b, c, d) => valueOf()?.[name](a, b, c, d),
      ])
      return Object.fromEntries(callers)
    },
    /** Calls that method of `handle`, an object of Node's, once `instance` has been collected. */
    endWith(instance, handle, method) {
      ends.register(instance, { handle, method })
    },
    outside,
  }
}))js";

napi_value valueOf(napi_env env, napi_callback_info info) {
  void* ref = nullptr;
  napi_value value = nullptr;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &ref);
  napi_get_reference_value(env, static_cast<napi_ref>(ref), &value);
  return value;
}

/// (object): a function that returns the object, or undefined when it has been collected. Unlike
/// WeakRef.deref() it does not keep the object alive for the turn, because the hooks call it in
/// every turn.
napi_value weakRef(napi_env env, napi_callback_info info) {
  std::size_t count = 1;
  napi_value object = nullptr;
  napi_ref ref = nullptr;
  napi_value value = nullptr;
  const auto onGone = [](napi_env its, void* gone, void*) {
    napi_delete_reference(its, static_cast<napi_ref>(gone));
  };
  if (napi_get_cb_info(env, info, &count, &object, nullptr, nullptr) != napi_ok ||
      napi_create_reference(env, object, 0, &ref) != napi_ok ||
      napi_create_function(env, "valueOf", NAPI_AUTO_LENGTH, valueOf, ref, &value) != napi_ok ||
      napi_add_finalizer(env, value, ref, onGone, nullptr, nullptr) != napi_ok) {
    napi_throw_error(env, "ERR_LOCK_MISUSE", "boxoffice: there is no weak reference to this");
  }
  return value;
}

/// (function): calls it outside of the caller's asynchronous context, as ThreadWakeup::openOutside() does, and
/// returns its result. A handle that is made there keeps no store of an AsyncLocalStorage.
napi_value outside(napi_env env, napi_callback_info info) {
  std::size_t count = 1;
  napi_value function = nullptr;
  napi_value receiver = nullptr;
  napi_value result = nullptr;
  bool hasThrown = false;
  if (napi_get_cb_info(env, info, &count, &function, nullptr, nullptr) != napi_ok ||
      napi_create_object(env, &receiver) != napi_ok ||
      napi_make_callback(env, nullptr, receiver, function, 0, nullptr, &result) == napi_ok) {
    return result;
  }
  // A runtime other than Node.js may lack that function.
  napi_is_exception_pending(env, &hasThrown);
  if (!hasThrown) napi_call_function(env, receiver, function, 0, nullptr, &result);
  return result;
}

}  // namespace

napi_value makeRealm(napi_env env) {
  napi_value source = nullptr;
  napi_value make = nullptr;
  napi_value receiver = nullptr;
  napi_value realm = nullptr;
  std::array<napi_value, 2> functions{};
  check(env, napi_create_string_utf8(env, kSource, NAPI_AUTO_LENGTH, &source));
  check(env, napi_run_script(env, source, &make));
  check(env, napi_get_undefined(env, &receiver));
  check(env,
        napi_create_function(env, "weakRef", NAPI_AUTO_LENGTH, weakRef, nullptr, &functions[0]));
  check(env,
        napi_create_function(env, "outside", NAPI_AUTO_LENGTH, outside, nullptr, &functions[1]));
  check(env, napi_call_function(env, receiver, make, functions.size(), functions.data(), &realm));
  return realm;
}

}  // namespace boxoffice::binding
