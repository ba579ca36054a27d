// files.h on Windows. Windows does not rename a directory with open files. So while this process has files open, its
// directory stays in its place.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

#include "platform/windows_files.h"

namespace boxoffice::platform {
namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// Also opens a directory; and a link itself, not its target.
constexpr DWORD kAsItIs = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
constexpr DWORD kWriting = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA |
                           FILE_WRITE_ATTRIBUTES | FILE_DELETE_CHILD | DELETE | WRITE_DAC |
                           WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
constexpr DWORD kAnything = ~DWORD{READ_CONTROL | SYNCHRONIZE};
/// How often untilShared() tries a step, with a pause of 1 ms.
constexpr int kTries = 1000;

/// Returns the result of `step`. Tries again while another program, such as a virus scanner, has the file open.
template <class Step>
auto untilShared(Step&& step) {
  auto result = step();
  for (int i = 0; !result && GetLastError() == ERROR_SHARING_VIOLATION && i < kTries; ++i) {
    Sleep(1);
    result = step();
  }
  return result;
}

bool isMissing(DWORD error) noexcept {
  return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
}

/// Returns the path of `name` in the directory `in`, or `name` itself if there is none.
std::wstring pathIn(const File& in, const std::string& name) {
  if (!in) return wide(name);
  std::wstring path(MAX_PATH, L'\0');
  DWORD length = GetFinalPathNameByHandleW(handleOf(in), path.data(),
                                           static_cast<DWORD>(path.size()), VOLUME_NAME_DOS);
  if (length > path.size()) {
    path.resize(length);
    length = GetFinalPathNameByHandleW(handleOf(in), path.data(), length, VOLUME_NAME_DOS);
  }
  if (length == 0) refused(name, "found");
  path.resize(length);
  return path + L'\\' + wide(name);
}

template <class Facts>
Facts factsBy(const File& file, FILE_INFO_BY_HANDLE_CLASS which, const std::string& path) {
  Facts facts;
  if (!GetFileInformationByHandleEx(handleOf(file), which, &facts, sizeof facts)) {
    refused(path, "looked at");
  }
  return facts;
}

DWORD attributesOf(const File& file, const std::string& path) {
  return factsBy<FILE_BASIC_INFO>(file, FileBasicInfo, path).FileAttributes;
}

File openWith(const std::wstring& path, DWORD share, DWORD how) {
  return fileOf(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, share, ownAttributes(), how,
                            FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
}

/// Throws unless it is a plain file with one name, for this user alone.
void checkFile(const File& file, const std::string& path) {
  const DWORD attributes = attributesOf(file, path);
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) fail(path, "is a link; remove it");
  if (factsBy<FILE_STANDARD_INFO>(file, FileStandardInfo, path).NumberOfLinks > 1) {
    fail(path, "has another name, too; remove one of them");
  }
  checkOwner(file, kAnything, path);
}

/// As openFile() says.
File openChecked(const std::wstring& at, DWORD share, DWORD how, const std::string& path) {
  File file = untilShared([&] { return openWith(at, share, how); });
  if (!file) {
    if (how == OPEN_EXISTING && isMissing(GetLastError())) return file;
    refused(path, "opened");
  }
  checkFile(file, path);
  return file;
}

bool isRemote(const File& directory, const std::string& path) noexcept {
  FILE_REMOTE_PROTOCOL_INFO facts;
  wchar_t volume[MAX_PATH];
  return GetFileInformationByHandleEx(handleOf(directory), FileRemoteProtocolInfo, &facts,
                                      sizeof facts) != 0 ||
         (GetVolumePathNameW(wide(path).c_str(), volume, MAX_PATH) != 0 &&
          GetDriveTypeW(volume) == DRIVE_REMOTE);
}

}  // namespace

void File::close() noexcept {
  if (number_ >= 0) CloseHandle(reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(release())));
}

File openDirectory(const std::string& path) {
  if (!CreateDirectoryW(wide(path).c_str(), ownAttributes()) &&
      GetLastError() != ERROR_ALREADY_EXISTS) {
    refused(path, "made");
  }
  File directory = findDirectory(path);
  if (!directory) refused(path, "opened");
  return directory;
}

File findDirectory(const std::string& path) {
  File directory = fileOf(CreateFileW(wide(path).c_str(), GENERIC_READ, kShareAll, nullptr,
                                      OPEN_EXISTING, kAsItIs, nullptr));
  if (!directory) {
    if (isMissing(GetLastError())) return directory;
    refused(path, "opened");
  }
  const DWORD attributes = attributesOf(directory, path);
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0 ||
      (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    fail(path, "is not a directory, or a link to one");
  }
  checkOwner(directory, kWriting, path);
  if (isRemote(directory, path)) host::throwRemote(path);
  return directory;
}

std::vector<std::string> namesIn(const File& directory, const std::string& path) {
  std::vector<std::string> names;
  WIN32_FIND_DATAW entry;
  const HANDLE first = FindFirstFileW(pathIn(directory, "*").c_str(), &entry);
  if (first == INVALID_HANDLE_VALUE) refused(path, "read");
  const std::unique_ptr<void, decltype(&FindClose)> search(first, FindClose);
  do {
    const std::string name = narrow(entry.cFileName);
    if (name != "." && name != "..") names.push_back(name);
  } while (FindNextFileW(first, &entry));
  if (GetLastError() != ERROR_NO_MORE_FILES) refused(path, "read");
  return names;
}

void removeEmptyDirectory(const std::string& path) noexcept {
  try {
    RemoveDirectoryW(wide(path).c_str());
  } catch (const std::bad_alloc&) {
    // The directory stays, as when Windows refuses.
  }
}

FileId idOf(const File& file, const std::string& path) {
  BY_HANDLE_FILE_INFORMATION facts;
  if (!GetFileInformationByHandle(handleOf(file), &facts)) refused(path, "looked at");
  return {facts.dwVolumeSerialNumber,
          std::uint64_t{facts.nFileIndexHigh} << 32 | facts.nFileIndexLow};
}

bool isAt(const std::string& path, const FileId& id, const File& in) noexcept {
  try {
    const File found = fileOf(CreateFileW(pathIn(in, path).c_str(), FILE_READ_ATTRIBUTES, kShareAll,
                                          nullptr, OPEN_EXISTING, kAsItIs, nullptr));
    if (!found) return !isMissing(GetLastError());
    return idOf(found, path) == id;
  } catch (const std::exception&) {
    return true;  // as files.h says
  }
}

File openFile(const std::string& path, const File& in) {
  return openChecked(pathIn(in, path), kShareAll, OPEN_EXISTING, path);
}

File openOwnFile(const std::string& path, const File& in) { return openFile(path, in); }

File openForGood(const std::string& path, bool isMade) {
  return openChecked(wide(path), FILE_SHARE_READ | FILE_SHARE_WRITE,
                     isMade ? OPEN_ALWAYS : OPEN_EXISTING, path);
}

bool beginsWith(const File& file, const void* bytes, std::size_t count) {
  std::string found(count, '\0');
  OVERLAPPED start = placeAt(0);
  DWORD got = 0;
  return ReadFile(handleOf(file), found.data(), static_cast<DWORD>(count), &got, &start) &&
         got == count && std::memcmp(found.data(), bytes, count) == 0;
}

bool isDenied(const std::string& path, const File& in) noexcept {
  try {
    const std::wstring at = pathIn(in, path);
    if (openWith(at, kShareAll, OPEN_EXISTING) || GetLastError() != ERROR_ACCESS_DENIED)
      return false;
    const DWORD attributes = GetFileAttributesW(at.c_str());
    return attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  } catch (const std::exception&) {
    return true;
  }
}

// Does nothing, because no process watches the file on Windows: a wake-up there needs no resource that could be
// lacking.
void touch(const File&, std::uint64_t) noexcept {}

FileFacts factsOf(const File& file, const std::string& path) {
  const auto facts = factsBy<FILE_STANDARD_INFO>(file, FileStandardInfo, path);
  const auto size = static_cast<std::uint64_t>(facts.EndOfFile.QuadPart);
  // The whole file is allocated: see setSize().
  return {size, size, !facts.DeletePending && facts.NumberOfLinks > 0};
}

File createFile(const std::string& path, std::uint64_t size) {
  remove(path);
  File file = openWith(wide(path), kShareAll, CREATE_NEW);
  if (!file) refused(path, "made");
  try {
    setSize(file, size, path);
  } catch (...) {
    remove(path);
    throw;
  }
  return file;
}

// NTFS allocates the whole file, since it is not marked as sparse: holes in a mapping could not be allocated later.
void setSize(const File& file, std::uint64_t size, const std::string& path) {
  FILE_END_OF_FILE_INFO end;
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(size);
  if (!SetFileInformationByHandle(handleOf(file), FileEndOfFileInfo, &end, sizeof end)) {
    refused(path, "given the room it needs");
  }
}

void allocate(const File&, std::uint64_t, const std::string&) {}

bool rename(const std::string& from, const std::string& to) {
  const std::wstring there = wide(to);
  const std::wstring here = wide(from);
  if (untilShared([&] { return MoveFileExW(here.c_str(), there.c_str(), 0) != 0; })) return true;
  const DWORD error = GetLastError();
  if (error != ERROR_ALREADY_EXISTS && error != ERROR_FILE_EXISTS && !isMissing(error)) {
    refused(to, "made");
  }
  return false;
}

void remove(const std::string& path, const File& in) noexcept {
  try {
    DeleteFileW(pathIn(in, path).c_str());
  } catch (const std::exception&) {
    // The file stays, as when Windows refuses.
  }
}

std::byte* map(const File& file, std::uint64_t size, const std::string& path) {
  const File section =
      fileOf(CreateFileMappingW(handleOf(file), nullptr, PAGE_READWRITE, 0, 0, nullptr));
  if (!section) refused(path, "mapped");
  void* const at = MapViewOfFile(handleOf(section), FILE_MAP_ALL_ACCESS, 0, 0, size);
  if (!at) refused(path, "mapped");
  return static_cast<std::byte*>(at);
}

void unmap(std::byte* at, std::uint64_t) noexcept { UnmapViewOfFile(at); }

}  // namespace boxoffice::platform
