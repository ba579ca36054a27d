// Paths, the environment and errors of Windows, as text.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "platform/windows_files.h"

namespace boxoffice::platform {
namespace {

std::wstring wideName(const std::string& text) {
  const int length = static_cast<int>(text.size());
  const int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0);
  std::wstring result(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), length, result.data(), size);
  return result;
}

std::wstring valueOf(const wchar_t* name) {
  std::wstring value(32767, L'\0');
  value.resize(GetEnvironmentVariableW(name, value.data(), static_cast<DWORD>(value.size())));
  return value;
}

}  // namespace

std::string narrow(const std::wstring& text) {
  const int length = static_cast<int>(text.size());
  const int size =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), length, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), length, result.data(), size, nullptr, nullptr);
  return result;
}

std::wstring wide(const std::string& path) {
  std::wstring result = wideName(path);
  std::replace(result.begin(), result.end(), L'/', L'\\');
  // With this in front a path may be longer than 260 characters.
  const bool isDrive = result.size() > 2 && result[1] == L':';
  return isDrive ? L"\\\\?\\" + result : result;
}

std::string textOf(DWORD error) {
  wchar_t text[256];
  const DWORD length =
      FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0,
                     text, static_cast<DWORD>(std::size(text)), nullptr);
  std::string result = narrow(std::wstring(text, length));
  while (!result.empty() && std::strchr(" .\r\n", result.back())) result.pop_back();
  return result.empty() ? "Windows error " + std::to_string(error) : result;
}

void fail(const std::string& path, const std::string& what) {
  throw HostError(HostFault::segment, "boxoffice: " + path + " " + what);
}

void refused(const std::string& path, const char* action) {
  constexpr DWORD kLacks[] = {ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY,
                              ERROR_NO_SYSTEM_RESOURCES, ERROR_COMMITMENT_LIMIT,
                              // Another program has the file open at present.
                              ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_USER_MAPPED_FILE,
                              ERROR_DELETE_PENDING};
  const DWORD error = GetLastError();
  std::string text =
      "boxoffice: " + path + " cannot be " + std::string(action) + ": " + textOf(error);
  if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL) {
    text += "; free some, ask for a smaller capacity, or choose another directory";
  }
  const bool isExhausted =
      std::find(std::begin(kLacks), std::end(kLacks), error) != std::end(kLacks);
  throw HostError(isExhausted ? HostFault::exhausted : HostFault::segment, text);
}

std::string plainPath(const std::string& given) {
  std::string path(given);
  std::replace(path.begin(), path.end(), '\\', '/');
  if (!isAbsolute(path)) return path;
  std::wstring whole(32767, L'\0');
  const DWORD length = GetFullPathNameW(wideName(path).c_str(), static_cast<DWORD>(whole.size()),
                                        whole.data(), nullptr);
  whole.resize(std::min<std::size_t>(length, whole.size()));
  path = narrow(whole);
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

std::string variable(const char* name) { return narrow(valueOf(wideName(name).c_str())); }

bool isAbsolute(const std::string& path) noexcept {
  return path.starts_with("//") || (path.size() > 2 && path[1] == ':' && path[2] == '/');
}

std::string defaultDirectory() {
  const std::string folder = variable("LOCALAPPDATA");
  if (folder.empty()) {
    fail("the folder of the user's local application data",
         "is not known: set LOCALAPPDATA, or BOXOFFICE_DIRECTORY");
  }
  return plainPath(folder) + "/boxoffice";
}

}  // namespace boxoffice::platform
