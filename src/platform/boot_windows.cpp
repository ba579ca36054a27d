// The boot's name on Windows: the time at which a volatile key of the registry was made. Windows removes the key when the
// machine starts anew, and when the user has logged off and runs no service, so that no process of the user is left. No
// process writes into the key.
#include <cstdio>

#include "platform/windows_files.h"

namespace boxoffice::platform {
namespace {

void check(LSTATUS error) {
  if (error == ERROR_SUCCESS) return;
  SetLastError(static_cast<DWORD>(error));
  refused("the name of this run of the machine", "read");
}

}  // namespace

std::string bootName() {
  HKEY key = nullptr;
  // The first process makes the key, and the others open it.
  check(RegCreateKeyExW(HKEY_CURRENT_USER, L"Software\\boxoffice-boot", 0, nullptr,
                        REG_OPTION_VOLATILE, KEY_QUERY_VALUE, nullptr, &key, nullptr));
  FILETIME made;
  const LSTATUS error = RegQueryInfoKeyW(key, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                         nullptr, nullptr, nullptr, nullptr, &made);
  RegCloseKey(key);
  check(error);
  char name[33];
  std::snprintf(name, sizeof name, "%032llx",
                static_cast<unsigned long long>(std::uint64_t{made.dwHighDateTime} << 32 |
                                                made.dwLowDateTime));
  return name;
}

}  // namespace boxoffice::platform
