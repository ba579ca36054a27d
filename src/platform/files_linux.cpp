#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "platform/files.h"
#include "platform/posix_files.h"

namespace boxoffice::platform {
namespace {

/// File systems on which other processes do not see a lock or a write to mapped memory at once: they span
/// several machines, or have a server in between.
bool isRemote(long type) {
  constexpr unsigned long kRemote[] = {NFS_SUPER_MAGIC,
                                       SMB_SUPER_MAGIC,
                                       0xFF534D42 /* cifs */,
                                       0xFE534D42 /* smb2 */,
                                       0x65735546 /* fuse, virtiofs */,
                                       V9FS_MAGIC,
                                       0x00C36400 /* ceph */,
                                       AFS_SUPER_MAGIC,
                                       CODA_SUPER_MAGIC,
                                       OCFS2_SUPER_MAGIC,
                                       0x0BD00BD0 /* lustre */,
                                       0x47504653 /* gpfs */,
                                       0x01161970 /* gfs2 */,
                                       0x786F4256 /* vboxsf */};
  return std::find(std::begin(kRemote), std::end(kRemote), static_cast<std::uint32_t>(type)) !=
         std::end(kRemote);
}

bool exists(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

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
  if ((facts.st_mode & others) != 0) {
    fail(path,
         "is open to other users; take their rights away (chmod go-rwx), or choose another "
         "directory");
  }
}

void File::close() noexcept {
  if (number_ >= 0) ::close(release());
}

std::string defaultDirectory() {
  const std::string name = "boxoffice-" + std::to_string(geteuid());
  return (exists("/dev/shm") ? "/dev/shm/" : "/tmp/") + name;
}

File openDirectory(const std::string& path) {
  const bool isNew = mkdir(path.c_str(), 0700) == 0;
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
      fail(path, "is not a directory, or a symbolic link to one");
    refused(path, "opened");
  }
  checkOwner(statOf(directory, path), S_IWGRP | S_IWOTH, path);
  struct statfs system;
  if (fstatfs(directory.number(), &system) != 0) refused(path, "looked at");
  if (isRemote(static_cast<long>(system.f_type))) {
    throw HostError(
        HostFault::unsupported,
        "boxoffice: " + path +
            " lies on a file system that is reached over a network or another program, which "
            "cannot hold locks of scope host; choose another directory");
  }
  return directory;
}

std::string bootName() {
  const std::string path = "/proc/sys/kernel/random/boot_id";
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t count = file ? read(file.number(), text, sizeof text) : -1;
  if (count < 0) refused(path, "read");
  std::string name(text, static_cast<std::size_t>(count));
  std::erase_if(name, [](char c) { return !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')); });
  if (name.size() != 32) fail(path, "does not hold the id of a run of the machine");
  return name;
}

std::vector<std::string> namesIn(const File& directory, const std::string& path) {
  // An open file of its own: two readers of one open file would share a position.
  const int again = openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : fdopendir(again),
                                                    closedir);
  if (!entries) refused(path, "read");
  std::vector<std::string> names;
  while (const dirent* const entry = readdir(entries.get())) names.emplace_back(entry->d_name);
  return names;
}

void removeDirectory(const std::string& path) noexcept {
  const File directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return;
  try {
    for (const std::string& name : namesIn(directory, path)) {
      if (name != "." && name != "..") unlinkat(directory.number(), name.c_str(), 0);
    }
  } catch (const std::exception&) {
    return;  // no memory, or no permission: it stays, as documented
  }
  rmdir(path.c_str());
}

FileId idOf(const File& file, const std::string& path) {
  const struct stat facts = statOf(file, path);
  return {facts.st_dev, facts.st_ino};
}

bool isAt(const std::string& path, const FileId& id) noexcept {
  // Not lstat(): what zig links in its place, for a glibc before 2.33, leaves errno as it was. And statx() is in musl
  // since 1.2.5 only.
  const File file(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return errno != ENOENT && errno != ENOTDIR;
  struct stat facts;
  if (fstat(file.number(), &facts) != 0) return true;
  return facts.st_dev == id.first && facts.st_ino == id.second;
}

std::string pathOf(const File& file) { return "/proc/self/fd/" + std::to_string(file.number()); }

File openFile(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO in its place would block.
  File file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return file;
    if (errno == ELOOP) fail(path, "is a symbolic link; remove it");
    refused(path, "opened");
  }
  const struct stat facts = statOf(file, path);
  if (!S_ISREG(facts.st_mode)) fail(path, "is not a regular file; remove it");
  if (facts.st_nlink > 1) fail(path, "has another name, too; remove one of them");
  checkOwner(facts, S_IRWXG | S_IRWXO, path);
  return file;
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
    // Independent of the umask.
    if (fchmod(file.number(), 0600) != 0) refused(path, "made");
    allocate(file, size, path);
  } catch (...) {
    remove(path);
    throw;
  }
  return file;
}

void allocate(const File& file, std::uint64_t size, const std::string& path) {
  do {
    errno = posix_fallocate(file.number(), 0, static_cast<off_t>(size));
  } while (errno == EINTR);
  if (errno != 0) refused(path, "given the room it needs");
}

bool rename(const std::string& from, const std::string& to) {
  // Atomic, and the file never has two names, as it would with link.
  if (syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno != EEXIST && errno != ENOENT) refused(to, "made");
  return false;
}

void remove(const std::string& path) noexcept { unlink(path.c_str()); }

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
