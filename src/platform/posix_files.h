// Errors of files_linux.cpp and wakeups_linux.cpp.
#pragma once

#include <sys/stat.h>

#include <string>

#include "platform/files.h"
#include "platform/host_error.h"

namespace boxoffice::platform {

using host::HostError;
using host::HostFault;

[[noreturn]] void fail(const std::string& path, const std::string& what);

/// Throws for the error in errno.
[[noreturn]] void refused(const std::string& path, const char* action);

struct stat statOf(const File& file, const std::string& path);

/// Throws unless the file belongs to this user, and other users have none of the permissions in `others`.
void checkOwner(const struct stat& facts, mode_t others, const std::string& path);

}  // namespace boxoffice::platform
