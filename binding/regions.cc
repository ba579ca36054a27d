#include "regions.h"

#include "check.h"
#include "platform/host_error.h"
#include "platform/misuse.h"

namespace boxoffice::binding {

std::int32_t* memoryOf(napi_env env, napi_value array, std::size_t& length) {
  napi_typedarray_type type{};
  void* data = nullptr;
  check(env, napi_get_typedarray_info(env, array, &type, &length, &data, nullptr, nullptr));
  if (type != napi_int32_array) {
    throw Napi::TypeError::New(env, "a lock's word lies in an Int32Array");
  }
  return static_cast<std::int32_t*>(data);
}

napi_value viewOf(napi_env env, void* words, std::size_t bytes) {
  napi_value buffer = nullptr;
  napi_value array = nullptr;
  const napi_status status =
      napi_create_external_arraybuffer(env, words, bytes, nullptr, nullptr, &buffer);
  if (status == napi_no_external_buffers_allowed) {
    throw host::HostError(
        host::HostFault::unsupported,
        "boxoffice: this runtime lets JavaScript reach no memory of an addon, as Electron with its "
        "memory cage: use scope thread, shared: true, an engine, or a process of plain Node.js");
  }
  check(env, status);
  check(env, napi_create_typedarray(env, napi_int32_array, bytes / sizeof(std::int32_t), buffer, 0,
                                    &array));
  return array;
}

std::int32_t Regions::attach(napi_value int32Array) {
  Region region;
  region.words = memoryOf(env_, int32Array, region.length);
  if (const auto known = known_.find(region.words); known != known_.end()) {
    ++all_[static_cast<std::size_t>(known->second)].uses;
    return known->second;
  }
  if (free_.empty()) {
    if (all_.size() == kMost) {
      throwMisuse(Fault::overflow,
                  "too many shared locks in this process: construct fewer at once");
    }
    free_.reserve(all_.size() + 1);
    all_.emplace_back();
    free_.push_back(static_cast<std::int32_t>(all_.size() - 1));
  }
  check(env_, napi_create_reference(env_, int32Array, 1, &region.array));
  const std::int32_t number = free_.back();
  {
    const std::lock_guard guard(mutex_);
    known_[region.words] = number;
  }
  free_.pop_back();
  all_[static_cast<std::size_t>(number)] = region;
  return number;
}

void Regions::detach(std::int32_t region) {
  auto& gone = const_cast<Region&>(at(region));
  if (--gone.uses > 0) return;
  check(env_, napi_delete_reference(env_, gone.array));
  {
    const std::lock_guard guard(mutex_);
    known_.erase(gone.words);
  }
  gone = {};
  free_.push_back(region);
}

napi_value Regions::array(std::int32_t region) const {
  napi_value array = nullptr;
  check(env_, napi_get_reference_value(env_, at(region).array, &array));
  return array;
}

const Regions::Region& Regions::at(std::int32_t region) const {
  // Unsigned, so that a negative number is out of bounds, too.
  const auto number = static_cast<std::uint32_t>(region);
  if (number >= all_.size() || !all_[number].words) {
    throwMisuse(Fault::badArgument, "there is no such region");
  }
  return all_[number];
}

Regions::Place Regions::placeOf(std::int32_t wordIndex) const {
  constexpr std::uint32_t kIndex = (1U << kIndexBits) - 1;
  const auto bits = static_cast<std::uint32_t>(wordIndex);
  return {.first = all_[bits >> kIndexBits].words, .index = bits & kIndex};
}

std::int32_t Regions::wordIndexAt(const Place& place) const noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = known_.find(place.first);
  if (known == known_.end()) return -1;
  return (known->second << kIndexBits) | static_cast<std::int32_t>(place.index);
}

void Regions::failAtWord() { throwMisuse(Fault::badArgument, "no lock's word lies there"); }

void Regions::clear() noexcept {
  for (const Region& region : all_) {
    if (region.array) napi_delete_reference(env_, region.array);
  }
  all_.clear();
}

}  // namespace boxoffice::binding
