#include "callbacks.h"

#include "check.h"

namespace boxoffice::binding {

void Callbacks::start(napi_value completions, napi_value onWakeup, napi_value probe) {
  napi_value anchor = nullptr;
  check(env_, napi_get_reference_value(env_, anchor_, &anchor));
  check(env_, napi_set_named_property(env_, anchor, "completions", completions));
  check(env_, napi_set_named_property(env_, anchor, "onWakeup", onWakeup));
  check(env_, napi_set_named_property(env_, anchor, "probe", probe));
  check(env_, napi_create_reference(env_, onWakeup, 0, &onWakeup_));
  check(env_, napi_create_reference(env_, probe, 0, &probe_));
}

void Callbacks::keep(bool kept) noexcept {
  (kept ? napi_reference_ref : napi_reference_unref)(env_, anchor_, nullptr);
}

void Callbacks::callOnWakeup() noexcept {
  napi_value receiver = nullptr;
  napi_value onWakeup = nullptr;
  napi_get_undefined(env_, &receiver);
  napi_get_reference_value(env_, onWakeup_, &onWakeup);
  if (onWakeup) napi_call_function(env_, receiver, onWakeup, 0, nullptr, nullptr);
}

void Callbacks::callOnWakeupFromLoop() noexcept {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return;
  napi_value receiver = nullptr;
  napi_value onWakeup = nullptr;
  napi_get_global(env_, &receiver);
  napi_get_reference_value(env_, onWakeup_, &onWakeup);
  napi_value result = nullptr;  // Deno writes it in any case
  if (onWakeup && napi_make_callback(env_, nullptr, receiver, onWakeup, 0, nullptr, &result) ==
                      napi_pending_exception) {
    napi_value error = nullptr;
    napi_get_and_clear_last_exception(env_, &error);
    napi_fatal_exception(env_, error);
  }
  napi_close_handle_scope(env_, scope);
}

bool Callbacks::canRun() noexcept {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return false;
  napi_value probe = nullptr;
  napi_value receiver = nullptr;
  napi_get_reference_value(env_, probe_, &probe);
  napi_get_undefined(env_, &receiver);
  const bool can = napi_call_function(env_, receiver, probe, 0, nullptr, nullptr) == napi_ok;
  napi_close_handle_scope(env_, scope);
  return can;
}

void Callbacks::clear() noexcept {
  for (const napi_ref ref : {anchor_, probe_, onWakeup_}) {
    if (ref) napi_delete_reference(env_, ref);
  }
}

}  // namespace boxoffice::binding
