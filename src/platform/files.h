// The system calls of scope host, part 1: files in boxoffice's directory. There is one .cpp per system; the build
// chooses.
//
// Unless its comment says otherwise, a function throws HostError(segment) with the file and the reason when the
// system refuses. exec() closes everything that is opened here, and no symbolic link is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace boxoffice::platform {

/// An open file; the destructor closes it.
class File {
 public:
  File() = default;
  explicit File(int number) noexcept : number_(number) {}
  File(File&& other) noexcept : number_(other.release()) {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  ~File() { close(); }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  void close() noexcept;

 private:
  int number_ = -1;
};

// ---- the directory ----

/// Returns the path with / between its parts, like all paths here, and on Windows without `.` and `..`.
std::string plainPath(const std::string& path);
/// The environment variable of that name, in UTF-8; empty when it is not set.
std::string variable(const char* name);
bool isAbsolute(const std::string& path) noexcept;
/// Whether two names that differ only in the case of letters may be one file.
#if defined(_WIN32) || defined(__APPLE__)
constexpr bool kIgnoresCase = true;
#else
constexpr bool kIgnoresCase = false;
#endif

/// The default directory: in memory, and the same one for all sessions and services of a user.
std::string defaultDirectory();

/// Opens the directory of this path. If it is missing, makes it for this user alone; its parent must exist. The
/// directory must belong to this user, and no other user may have write access. Throws HostError(unsupported) when it
/// lies on a file system that several machines share.
File openDirectory(const std::string& path);
/// Opens the directory, or returns none when it is missing.
File findDirectory(const std::string& path);

/// Identifies the time since the machine's last boot, in 32 characters.
std::string bootName();

/// The names in the directory.
std::vector<std::string> namesIn(const File& directory, const std::string& path);

/// Removes the directory if it is empty.
void removeEmptyDirectory(const std::string& path) noexcept;

/// Identifies a file or directory.
using FileId = std::pair<std::uint64_t, std::uint64_t>;  // its device and inode
FileId idOf(const File& file, const std::string& path);

// ---- the files in it ----
// If a function gets `in`, an open directory, `path` is a name in it. So the function finds the file even if the
// directory's own path was removed, or belongs to another directory by now.

/// Whether the file still has this path. Also true when the system refuses the check.
bool isAt(const std::string& path, const FileId& id, const File& in = File()) noexcept;

struct FileFacts {
  std::uint64_t size;
  std::uint64_t allocated;  ///< bytes with blocks on the disk
  bool linked;              ///< not removed
};

/// Opens the file for reading and writing, or returns none when it is missing. It must be a regular file with one
/// link, belong to this user, and be closed to other users.
File openFile(const std::string& path, const File& in = File());
/// Opens the file as openFile() does. On POSIX systems it may be open to other users.
File openOwnFile(const std::string& path, const File& in);
/// Whether the file begins with these bytes. Reads the file, because a mapping would end the process if the file
/// became shorter.
bool beginsWith(const File& file, const void* bytes, std::size_t count);
/// Whether this process may not open the file, but others may: it belongs to the user whose directory this is.
bool isDenied(const std::string& path, const File& in) noexcept;
/// Writes a zero byte at that place. Removals reports this to every process that watches the file.
void touch(const File& file, std::uint64_t at) noexcept;
FileFacts factsOf(const File& file, const std::string& path);
/// Creates a file of this size, allocated and zeroed. Replaces a leftover of that name.
File createFile(const std::string& path, std::uint64_t size);
/// Makes the file longer, without allocating the new part if the system can allocate it later.
void setSize(const File& file, std::uint64_t size, const std::string& path);
/// Allocates the holes among the first `size` bytes of the file.
void allocate(const File& file, std::uint64_t size, const std::string& path);
/// Renames the file. False when `to` exists already, or `from` does not.
bool rename(const std::string& from, const std::string& to);
void remove(const std::string& path, const File& in = File()) noexcept;

/// Mappings begin at multiples of this, so no two share such a piece of the address space.
constexpr std::size_t kMapGrain = 65536;
constexpr unsigned kAddressBits = 48;

/// Maps the whole file, shared, at a multiple of kMapGrain.
std::byte* map(const File& file, std::uint64_t size, const std::string& path);
void unmap(std::byte* at, std::uint64_t size) noexcept;

}  // namespace boxoffice::platform
