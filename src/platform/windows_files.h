// Shared by the implementations of files.h and wakeups.h on Windows.
//
// A File holds the number of a handle: Windows guarantees that 32 bits of a handle are significant.
#pragma once

#define NOMINMAX  // windows.h would make macros of min and max
#include <windows.h>

#include <cstdint>
#include <string>

#include "platform/files.h"
#include "platform/host_error.h"

namespace boxoffice::platform {

using host::HostError;
using host::HostFault;

inline HANDLE handleOf(const File& file) noexcept {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(file.number()));
}

/// Returns the file of a handle, or none for null and INVALID_HANDLE_VALUE, the results of failed calls.
inline File fileOf(HANDLE handle) noexcept {
  return handle ? File(static_cast<int>(reinterpret_cast<std::intptr_t>(handle))) : File();
}

/// The place in a file, for a call on it.
inline OVERLAPPED placeAt(std::uint64_t offset) noexcept {
  OVERLAPPED place = {};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

/// The path for Windows, of any length.
std::wstring wide(const std::string& path);
/// Returns the text in UTF-8.
std::string narrow(const std::wstring& text);

[[noreturn]] void fail(const std::string& path, const std::string& what);

/// Throws HostError for GetLastError().
[[noreturn]] void refused(const std::string& path, const char* action);

/// What Windows says of an error.
std::string textOf(DWORD error);

/// For new files, directories and objects: only this user, and the system, may use them.
SECURITY_ATTRIBUTES* ownAttributes();

/// Throws unless the file belongs to this user, and other users have none of these `rights`.
void checkOwner(const File& file, DWORD rights, const std::string& path);

/// Returns the event of that name, or a new event without a name. It stays set until it is reset.
File eventOf(const wchar_t* name, bool isSet);

/// Lets all processes of this user wait for this one, in any session.
void letUserWait() noexcept;

/// As openFile(). If `isMade`, makes a missing file for this user alone. No process can remove or rename the file
/// while it is open.
File openForGood(const std::string& path, bool isMade);

}  // namespace boxoffice::platform
