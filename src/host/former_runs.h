// The directories of the machine's former boots, which the next process that joins removes.
#pragma once

#include <string>

#include "platform/files.h"

namespace boxoffice::host {

/// Removes the files of former boots from the open directory of that path. Only a directory with a members file of ours
/// is touched, and in it only files with names of ours: the directory may be a user's own, with folders that have the
/// name of a boot, such as a cache of MD5 sums. Throws HostError(segment) when living processes use one of them, in a
/// container with a boot id of its own.
void removeFormerRuns(const platform::File& directory, const std::string& path,
                      const std::string& boot);

}  // namespace boxoffice::host
