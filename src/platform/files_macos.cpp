#include <fcntl.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>

#include "platform/files.h"
#include "platform/posix_files.h"

namespace boxoffice::platform {

std::string defaultDirectory() {
  char place[PATH_MAX];
  const std::size_t length = confstr(_CS_DARWIN_USER_TEMP_DIR, place, sizeof place);
  const bool has = length > 0 && length <= sizeof place;
  return (has ? std::string(place) : "/tmp/") + "boxoffice-" + std::to_string(geteuid());
}

bool isRemote(const File& directory, const std::string& path) {
  struct statfs system;
  if (fstatfs(directory.number(), &system) != 0) refused(path, "looked at");
  return (system.f_flags & MNT_LOCAL) == 0;
}

std::string bootName() {
  const char* const key = "kern.bootsessionuuid";
  char text[64];
  std::size_t size = sizeof text;
  if (sysctlbyname(key, text, &size, nullptr, 0) != 0) refused(key, "read");
  std::string name;
  for (const char* c = text; c < text + size; ++c) {
    const auto byte = static_cast<unsigned char>(*c);
    if (std::isxdigit(byte)) name += static_cast<char>(std::tolower(byte));
  }
  if (name.size() != 32) fail(key, "does not hold the id of a run of the machine");
  return name;
}

bool isAt(const std::string& path, const FileId& id, const File& in) noexcept {
  struct stat facts;
  if (fstatat(startOf(in), path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno != ENOENT && errno != ENOTDIR;
  }
  return static_cast<std::uint64_t>(facts.st_dev) == id.first && facts.st_ino == id.second;
}

void setSize(const File& file, std::uint64_t size, const std::string& path) {
  // F_PREALLOCATE fills no holes, so there are none.
  allocate(file, size, path);
}

void allocate(const File& file, std::uint64_t size, const std::string& path) {
  const FileFacts facts = factsOf(file, path);
  if (facts.allocated < size) {
    fstore_t room = {};
    room.fst_flags = F_ALLOCATEALL;
    room.fst_posmode = F_PEOFPOSMODE;
    room.fst_length = static_cast<off_t>(size - facts.allocated);
    if (fcntl(file.number(), F_PREALLOCATE, &room) != 0) refused(path, "given the room it needs");
  }
  if (facts.size < size && ftruncate(file.number(), static_cast<off_t>(size)) != 0) {
    refused(path, "made");
  }
}

bool rename(const std::string& from, const std::string& to) {
  // Atomic, and the file never has two names, as it would with link.
  if (renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0) return true;
  if (errno != EEXIST && errno != ENOENT) refused(to, "made");
  return false;
}

}  // namespace boxoffice::platform
