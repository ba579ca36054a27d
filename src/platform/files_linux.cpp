#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "platform/files.h"
#include "platform/posix_files.h"

namespace boxoffice::platform {
namespace {

/// File systems on which other processes do not see a lock or a write to mapped memory at once: they span
/// several machines, or have a server in between.
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

bool exists(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

std::string defaultDirectory() {
  const std::string name = "boxoffice-" + std::to_string(geteuid());
  return (exists("/dev/shm") ? "/dev/shm/" : "/tmp/") + name;
}

bool isRemote(const File& directory, const std::string& path) {
  struct statfs system;
  if (fstatfs(directory.number(), &system) != 0) refused(path, "looked at");
  const auto type = static_cast<std::uint32_t>(system.f_type);
  return std::find(std::begin(kRemote), std::end(kRemote), type) != std::end(kRemote);
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

bool isAt(const std::string& path, const FileId& id, const File& in) noexcept {
  struct stat facts;
  if (fstatat(startOf(in), path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    return facts.st_dev == id.first && facts.st_ino == id.second;
  }
  // The replacement for fstatat() that zig links for a glibc before 2.33 does not set errno. And musl has statx() only
  // since 1.2.5.
  char target;
  return readlinkat(startOf(in), path.c_str(), &target, 1) >= 0 ||
         (errno != ENOENT && errno != ENOTDIR);
}

void setSize(const File& file, std::uint64_t size, const std::string& path) {
  if (ftruncate(file.number(), static_cast<off_t>(size)) != 0) refused(path, "made");
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
  const int error = errno;
  if (error == EEXIST || error == ENOENT) return false;
  remove(from);
  if (error == EINVAL || error == ENOSYS) {
    fail(to,
         "lies on a file system that cannot rename files without replacing others, as ZFS before "
         "2.2; choose another directory");
  }
  errno = error;
  refused(to, "made");
}

}  // namespace boxoffice::platform
