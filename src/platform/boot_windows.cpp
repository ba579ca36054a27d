// The boot's name on Windows: a random one in a key of the registry that goes with the boot, or when the user has logged
// off and runs no service: then none of its processes is left.
#include <cstdio>

#include "platform/wakeups.h"
#include "platform/windows_files.h"

namespace boxoffice::platform {
namespace {

const std::string kWhat = "the name of this run of the machine";

class Key {
 public:
  Key() {
    const LSTATUS error =
        RegCreateKeyExW(HKEY_CURRENT_USER, L"Software\\boxoffice", 0, nullptr, REG_OPTION_VOLATILE,
                        KEY_QUERY_VALUE | KEY_SET_VALUE, nullptr, &key_, nullptr);
    check(error);
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() { RegCloseKey(key_); }

  /// Empty when there is none.
  std::string name() const {
    char text[33] = {};
    DWORD size = sizeof text;
    const LSTATUS error = RegGetValueA(key_, nullptr, "boot", RRF_RT_REG_SZ, nullptr, text, &size);
    if (error == ERROR_FILE_NOT_FOUND) return {};
    check(error);
    return text;
  }

  void setName(const std::string& name) const {
    check(RegSetValueExA(key_, "boot", 0, REG_SZ, reinterpret_cast<const BYTE*>(name.c_str()),
                         static_cast<DWORD>(name.size() + 1)));
  }

 private:
  static void check(LSTATUS error) {
    if (error == ERROR_SUCCESS) return;
    SetLastError(static_cast<DWORD>(error));
    refused(kWhat, "read");
  }

  HKEY key_ = nullptr;
};

/// One process at a time.
class Turn {
 public:
  Turn()
      : mutex_(fileOf(CreateMutexW(ownAttributes(), FALSE,
                                   (L"Global\\boxoffice-boot-" + userName()).c_str()))) {
    if (!mutex_) refused(kWhat, "read");
    // A process that has died meanwhile has set the name as a whole, or not at all.
    WaitForSingleObject(handleOf(mutex_), INFINITE);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { ReleaseMutex(handleOf(mutex_)); }

 private:
  File mutex_;
};

std::string randomName() {
  unsigned char bytes[16];
  randomBytes(bytes, sizeof bytes);
  char text[33];
  for (int i = 0; i < 16; ++i) std::snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  return text;
}

}  // namespace

std::string bootName() {
  const Key key;
  const Turn turn;
  std::string name = key.name();
  if (name.size() == 32) return name;
  name = randomName();
  key.setName(name);
  return name;
}

}  // namespace boxoffice::platform
