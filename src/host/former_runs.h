// The directories of the machine's former boots, which the next process that joins removes.
#pragma once

#include <string>

#include "platform/files.h"

namespace boxoffice::host {

/// Removes the files of former boots from the open directory of that path. Touches only directories with a members
/// file of boxoffice, and in them only files with its names: a user's own directory may have folders that look like
/// the name of a boot, such as a cache of MD5 sums. Throws HostError(segment) when living processes use one of the
/// directories, from a container with another boot id.
void removeFormerRuns(const platform::File& directory, const std::string& path,
                      const std::string& boot);

}  // namespace boxoffice::host
