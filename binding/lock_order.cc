// The order in which locks are taken, as a function: see src/waiting/lock_order.h, and lib/diagnostics/lock_order.js,
// which knows what the callers of each environment hold.
#include "waiting/lock_order.h"

#include "exports.h"

namespace boxoffice::binding {
namespace {

/// (from, to, label): an array of the labels that lead back.
napi_value addOrder(const Call& call) {
  const Napi::Env env(call.env());
  Napi::Array back = Napi::Array::New(env);
  for (const std::string& label : lockOrder().add(call.text(0), call.text(1), call.text(2))) {
    back[back.Length()] = label;
  }
  return back;
}

}  // namespace

void defineLockOrder(Topic exports) { exports.topic("lockOrder").add<addOrder>("add"); }

}  // namespace boxoffice::binding
