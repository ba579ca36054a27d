// In place of the demangler of a C++ library that becomes part of the addon, which is a tenth of it: the library wants it
// only to name the type of an exception that ends the process, and then shows the mangled name.
#include <cstddef>

extern "C" char* __cxa_demangle(const char*, char*, std::size_t*, int* status) {
  constexpr int invalidName = -2;
  if (status != nullptr) *status = invalidName;
  return nullptr;
}
