// Objects that exist once per process, however many copies of this library are loaded into it. A server and
// one of its dependencies may each bring a copy, and the locks of one name, or in one memory, must be one
// lock.
//
// Every copy, in the program or in a library, publishes its registry under a name that only copies of the very
// same source have (published.h). All copies use the registry of the copy that was loaded first, which stays in
// memory for ever. Copies of other sources have a separate interface: see copies.h.
#pragma once

#include <typeinfo>

namespace boxoffice {

/// Returns the object of that name; `make` creates it if there is none. It is never destroyed.
void* findProcessWide(const char* name, void* (*make)());

/// Names the sources of this copy.
const char* digestOfSources() noexcept;

/// The T of this process.
template <class T>
T& processWide() {
  static T* const one =
      static_cast<T*>(findProcessWide(typeid(T).name(), []() -> void* { return new T; }));
  return *one;
}

}  // namespace boxoffice
