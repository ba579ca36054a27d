// What scope host needs of the system, first part: files in a directory of its own. One .cpp per system; the build chooses. Where there is none
// yet, every function throws HostError(unsupported).
//
// Unless it says otherwise, a function throws HostError(segment) when the system refuses, naming the file
// and the reason. Everything it opens is closed by exec, and no symbolic link is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace boxoffice::platform {

/// An open file, closed at the end.
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

/// The directory for those who name none: in memory, and the same one for all sessions and services of
/// a user.
std::string defaultDirectory();

/// The directory of this path, made for us alone if it is missing; its parent must exist. It must be ours,
/// and writable for nobody else; HostError(unsupported) when it lies on a file system of several machines.
File openDirectory(const std::string& path);
/// The same, and none when it is missing.
File findDirectory(const std::string& path);
/// A path to what is open there, whatever has become of its own.
std::string pathOf(const File& file);

/// What tells this run of the machine from all others, in 32 characters.
std::string bootName();

/// The names in it.
std::vector<std::string> namesIn(const File& directory, const std::string& path);

/// Removes a directory of a former run of the machine, with the files in it. What cannot be removed stays:
/// nobody looks at it.
void removeDirectory(const std::string& path) noexcept;

/// Whether it is the same directory.
using FileId = std::pair<std::uint64_t, std::uint64_t>;  // its device, and its number there
FileId idOf(const File& file, const std::string& path);
/// Whether that file still has this path. True, too, when the system does not let us look.
bool isAt(const std::string& path, const FileId& id) noexcept;

// ---- regular files ----

struct FileFacts {
  std::uint64_t size;
  std::uint64_t allocated;  ///< bytes that have their place on the disk
  bool linked;              ///< not removed
};

/// The file, for reading and writing; none when it is missing. It must be a regular file of one name, ours
/// and open to nobody else.
File openFile(const std::string& path);
FileFacts factsOf(const File& file, const std::string& path);
/// A new file of this size, its room taken, full of zeros; in place of what is left of an earlier one.
File createFile(const std::string& path, std::uint64_t size);
/// Takes the room for all of it, where there are holes.
void allocate(const File& file, std::uint64_t size, const std::string& path);
/// Gives it another name; false when there is such a file already, or none to rename.
bool rename(const std::string& from, const std::string& to);
void remove(const std::string& path) noexcept;

/// Mappings begin at multiples of this: no two share such a piece of the address space.
constexpr std::size_t kMapGrain = 65536;
constexpr unsigned kAddressBits = 48;

/// All of it, shared, at a multiple of kMapGrain.
std::byte* map(const File& file, std::uint64_t size, const std::string& path);
void unmap(std::byte* at, std::uint64_t size) noexcept;

}  // namespace boxoffice::platform
