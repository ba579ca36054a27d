// Shared by the implementations of files.h and wakeups.h on POSIX systems: files_posix.cpp, and those of one system.
#pragma once

#include <sys/stat.h>

#include <string>

#include "platform/files.h"
#include "platform/host_error.h"

namespace boxoffice::platform {

using host::HostError;
using host::HostFault;

[[noreturn]] void fail(const std::string& path, const std::string& what);

/// Throws HostError for the error in errno.
[[noreturn]] void refused(const std::string& path, const char* action);

struct stat statOf(const File& file, const std::string& path);

/// Throws unless the file belongs to this user, and other users have none of the permissions in `others`.
void checkOwner(const struct stat& facts, mode_t others, const std::string& path);

/// Returns the directory for openat() and similar calls: `in`, or the working directory if there is none.
int startOf(const File& in) noexcept;

/// Opens a FIFO for reading and writing. If it is missing, makes it for this user alone.
File makeFifo(const std::string& path);

/// Opens one end of a FIFO. Returns none when the FIFO is missing, or for a writing end when there is no reader.
File openIfThere(const std::string& path, int mode);

/// Whether the directory lies on a file system where a lock, or a write to mapped memory, is not seen by all its
/// users at once. Each system has its own answer.
bool isRemote(const File& directory, const std::string& path);

}  // namespace boxoffice::platform
