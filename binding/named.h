// Objects shared by name between the agents of this process. A name lives as long as somebody
// holds its object; it is free again after that.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace boxoffice::binding {

template <class T>
class Named {
 public:
  /// The living object called `name`; there being none, a new one made from `arguments`.
  template <class... Arguments>
  static std::shared_ptr<T> open(const std::string& name, Arguments... arguments) {
    Named& all = instance();
    const std::lock_guard guard(all.mutex_);
    std::weak_ptr<T>& entry = all.objects_[name];
    if (auto living = entry.lock()) return living;
    std::shared_ptr<T> made(new T(arguments...), [name](T* object) {
      delete object;
      instance().forget(name);
    });
    entry = made;
    return made;
  }

 private:
  // Never destroyed: the last agent may end while static objects are taken down.
  static Named& instance() {
    static auto* const all = new Named;
    return *all;
  }

  void forget(const std::string& name) {
    const std::lock_guard guard(mutex_);
    const auto entry = objects_.find(name);
    // Somebody may have made a new object of that name since the old one expired.
    if (entry != objects_.end() && entry->second.expired()) objects_.erase(entry);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<T>> objects_;
};

}  // namespace boxoffice::binding
