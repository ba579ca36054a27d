// The parts of files.h that are the same on all POSIX systems.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "platform/files.h"
#include "platform/posix_files.h"

namespace boxoffice::platform {

void fail(const std::string& path, const std::string& what) {
  throw HostError(HostFault::segment, "boxoffice: " + path + " " + what);
}

void refused(const std::string& path, const char* action) {
  const int error = errno;
  std::string text =
      "cannot be " + std::string(action) + ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == EDQUOT) {
    text += "; free some, ask for a smaller capacity, or choose another directory";
  }
  if (error == EACCES || error == EPERM) {
    text += ", with uid " + std::to_string(getuid()) + " and euid " + std::to_string(geteuid()) +
            " of this process";
  }
  text = "boxoffice: " + path + " " + text;
  const bool isExhausted = error == EMFILE || error == ENFILE || error == ENOMEM;
  throw HostError(isExhausted ? HostFault::exhausted : HostFault::segment, text);
}

struct stat statOf(const File& file, const std::string& path) {
  struct stat facts;
  if (fstat(file.number(), &facts) != 0) refused(path, "looked at");
  return facts;
}

void checkOwner(const struct stat& facts, mode_t others, const std::string& path) {
  if (facts.st_uid != geteuid()) {
    fail(path, "belongs to user " + std::to_string(facts.st_uid) + ", not to user " +
                   std::to_string(geteuid()) + " of this process; choose another directory");
  }
  if ((facts.st_mode & others) == 0) return;
  if (!S_ISDIR(facts.st_mode)) {
    fail(path, "is open to other users; take their rights away (chmod go-rwx)");
  }
  fail(path,
       "is open to other users; choose a directory inside it, or, if it has no other use, take "
       "their rights away (chmod go-rwx)");
}

void File::close() noexcept {
  if (number_ >= 0) ::close(release());
}

int startOf(const File& in) noexcept { return in ? in.number() : AT_FDCWD; }

std::string plainPath(const std::string& path) { return path; }

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool isAbsolute(const std::string& path) noexcept { return path.starts_with('/'); }

File openDirectory(const std::string& path) {
  const bool isNew = mkdir(path.c_str(), 0700) == 0;
  if (!isNew && errno == ENOENT) {
    fail(path, "cannot be made, because the directory above it is missing; make that first");
  }
  if (!isNew && errno != EEXIST) refused(path, "made");
  // The umask may have removed permissions of the owner.
  if (isNew && chmod(path.c_str(), 0700) != 0) refused(path, "made");
  File directory = findDirectory(path);
  if (!directory) refused(path, "opened");
  return directory;
}

File findDirectory(const std::string& path) {
  File directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    if (errno == ENOENT) return directory;
    if (errno == ELOOP || errno == ENOTDIR)
      fail(path, "is a symbolic link or no directory; choose another directory");
    refused(path, "opened");
  }
  checkOwner(statOf(directory, path), S_IWGRP | S_IWOTH, path);
  if (isRemote(directory, path)) host::throwRemote(path);
  return directory;
}

std::vector<std::string> namesIn(const File& directory, const std::string& path) {
  // Open the directory anew, because two readers of one open file would share its position.
  const int again = openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : fdopendir(again),
                                                    closedir);
  if (!entries) refused(path, "read");
  std::vector<std::string> names;
  while (const dirent* const entry = readdir(entries.get())) names.emplace_back(entry->d_name);
  return names;
}

void removeEmptyDirectory(const std::string& path) noexcept { rmdir(path.c_str()); }

FileId idOf(const File& file, const std::string& path) {
  const struct stat facts = statOf(file, path);
  return {static_cast<std::uint64_t>(facts.st_dev), facts.st_ino};
}

File openFile(const std::string& path, const File& in) {
  File file = openOwnFile(path, in);
  if (file) checkOwner(statOf(file, path), S_IRWXG | S_IRWXO, path);
  return file;
}

File openOwnFile(const std::string& path, const File& in) {
  // O_NONBLOCK, because opening a FIFO at this path would block.
  File file(openat(startOf(in), path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return file;
    if (errno == ELOOP) fail(path, "is a symbolic link; remove it");
    refused(path, "opened");
  }
  const struct stat facts = statOf(file, path);
  if (!S_ISREG(facts.st_mode)) fail(path, "is not a regular file; remove it");
  if (facts.st_nlink > 1) fail(path, "has another name, too; remove one of them");
  checkOwner(facts, 0, path);
  return file;
}

bool isDenied(const std::string& path, const File& in) noexcept {
  struct stat place;
  struct stat file;
  if (fstat(in.number(), &place) != 0) return true;
  if (fstatat(in.number(), path.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0) return errno == EACCES;
  if (file.st_uid != place.st_uid) return false;
  return file.st_uid != geteuid() ||
         faccessat(in.number(), path.c_str(), R_OK | W_OK, AT_EACCESS) != 0;
}

void touch(const File& file, std::uint64_t at) noexcept {
  const char byte = 0;
  static_cast<void>(pwrite(file.number(), &byte, 1, static_cast<off_t>(at)));
}

bool beginsWith(const File& file, const void* bytes, std::size_t count) {
  std::string found(count, '\0');
  return pread(file.number(), found.data(), count, 0) == static_cast<ssize_t>(count) &&
         std::memcmp(found.data(), bytes, count) == 0;
}

FileFacts factsOf(const File& file, const std::string& path) {
  const struct stat facts = statOf(file, path);
  return {static_cast<std::uint64_t>(facts.st_size),
          static_cast<std::uint64_t>(facts.st_blocks) * 512, facts.st_nlink > 0};
}

File createFile(const std::string& path, std::uint64_t size) {
  remove(path);
  File file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) refused(path, "made");
  try {
    // Sets the mode whatever the umask is.
    if (fchmod(file.number(), 0600) != 0) refused(path, "made");
    allocate(file, size, path);
  } catch (...) {
    remove(path);
    throw;
  }
  return file;
}

void remove(const std::string& path, const File& in) noexcept {
  unlinkat(startOf(in), path.c_str(), 0);
}

std::byte* map(const File& file, std::uint64_t size, const std::string& path) {
  // Map a grain more than needed, then unmap the excess.
  const std::size_t room = (size + kMapGrain - 1) / kMapGrain * kMapGrain;
  void* const found = mmap(nullptr, room + kMapGrain, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) refused(path, "mapped");
  const std::size_t before =
      (kMapGrain - reinterpret_cast<std::uintptr_t>(found) % kMapGrain) % kMapGrain;
  std::byte* const at = static_cast<std::byte*>(found) + before;
  if (before > 0) munmap(found, before);
  munmap(at + room, kMapGrain - before);
  if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number(), 0) ==
      MAP_FAILED) {
    const int error = errno;
    munmap(at, room);
    errno = error;
    refused(path, "mapped");
  }
  return at;
}

void unmap(std::byte* at, std::uint64_t size) noexcept {
  munmap(at, (size + kMapGrain - 1) / kMapGrain * kMapGrain);
}

}  // namespace boxoffice::platform
