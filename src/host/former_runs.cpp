#include "host/former_runs.h"

#include <mutex>

#include "host/members.h"
#include "host/names.h"
#include "host/wakeups.h"
#include "platform/host_error.h"
#include "platform/wakeups.h"

namespace boxoffice::host {
namespace {

using platform::File;

std::string pathOf(const std::string& directory, const std::string& name) {
  std::string path(directory);
  path += '/';
  path += name;
  return path;
}

/// Returns the directory of a former boot, if boxoffice has made it.
File findRun(const std::string& path) {
  try {
    File run = platform::findDirectory(path);
    if (run && Members::areIn(run)) return run;
  } catch (const HostError& error) {
    if (error.fault() == HostFault::exhausted) throw;
    // The directory belongs to another user, or lies on a file system where this scope keeps no files.
  }
  return {};
}

/// Whether a living process uses the files.
bool isInUse(const File& run, const std::string& path) {
  const std::lock_guard shut(forkGate());
  for (const std::string& name : platform::namesIn(run, path)) {
    if (!isFifoName(name)) continue;
    // Not tryLock(), because after a start of the machine several processes look at once.
    if (!platform::tryKeepFree(platform::openFifo(pathOf(path, name)))) return true;
  }
  return false;
}

void removeRun(const File& run, const std::string& path) {
  for (const std::string& name : platform::namesIn(run, path)) {
    if (isOwnName(name)) platform::remove(name, run);
  }
  // Remove the members file last: if this process dies before, the next one still recognizes the directory.
  platform::remove(kMembersName, run);
  platform::removeEmptyDirectory(path);
}

void removeUnlessInUse(const std::string& path, const std::string& directory) {
  const File run = findRun(path);
  if (!run) return;
  try {
    if (!isInUse(run, path)) return removeRun(run, path);
  } catch (const HostError& error) {
    if (error.fault() == HostFault::exhausted) throw;
    return;  // with a file of another kind in the place of one of ours: it stays
  }
  throw HostError(
      HostFault::segment,
      "boxoffice: " + directory +
          " is in use by processes that see another "
          "/proc/sys/kernel/random/boot_id, as in containers of LXC and systemd-nspawn: "
          "with those this one cannot share locks; choose another directory");
}

}  // namespace

void removeFormerRuns(const File& directory, const std::string& path, const std::string& boot) {
  for (const std::string& name : platform::namesIn(directory, path)) {
    const bool isRun = name.size() == boot.size() &&
                       name.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (isRun && name != boot) removeUnlessInUse(pathOf(path, name), path);
  }
}

}  // namespace boxoffice::host
