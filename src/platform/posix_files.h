// What files_linux.cpp and wakeups_linux.cpp say when the system refuses.
#pragma once

#include <sys/stat.h>

#include <string>

#include "platform/files.h"
#include "platform/host_error.h"

namespace boxoffice::platform {

using host::HostError;
using host::HostFault;

[[noreturn]] void fail(const std::string& path, const std::string& what);

/// For the error that errno tells.
[[noreturn]] void refused(const std::string& path, const char* action);

struct stat statOf(const File& file, const std::string& path);

/// Ours, and nobody else's to do with what `others` says.
void checkOwner(const struct stat& facts, mode_t others, const std::string& path);

}  // namespace boxoffice::platform
