#include "host/members.h"

#include <cstddef>
#include <utility>

#include "host/names.h"
#include "host/process_mailbox.h"
#include "platform/files.h"
#include "platform/host_error.h"
#include "platform/wakeups.h"

namespace boxoffice::host {
namespace {

using platform::File;

void make(const std::string& path) {
  std::uint32_t tag;
  platform::randomBytes(&tag, sizeof tag);
  const std::string aside =
      path + ".new-" + std::to_string(platform::pid()) + "-" + std::to_string(tag);
  const File file = platform::createFile(aside, sizeof(MembersFile));
  std::byte* const memory = platform::map(file, sizeof(MembersFile), aside);
  auto& header = reinterpret_cast<MembersFile*>(memory)->header;
  header.magic = kMembersMagic;
  header.version = kVersion;
  header.layout = kLayout;
  header.fileSize = sizeof(MembersFile);
  platform::unmap(memory, sizeof(MembersFile));
  // The file at `aside` may be gone: another process may have been faster, joined, and tidied up.
  if (!platform::rename(aside, path)) platform::remove(aside);
}

void check(const MembersHeader& header, const std::string& path) {
  const char* wrong = nullptr;
  if (header.magic != kMembersMagic) {
    wrong = "is not a file of boxoffice";
  } else if (header.version != kVersion || header.layout != kLayout) {
    wrong = "was made by another version of boxoffice, whose locks are laid out differently";
  } else if (header.fileSize != sizeof(MembersFile)) {
    wrong = "is damaged";
  }
  if (!wrong) return;
  throw HostError(HostFault::segment,
                  "boxoffice: " + path + " " + wrong +
                      "; end all processes that use this directory and remove it, or "
                      "choose another one (option directory or BOXOFFICE_DIRECTORY)");
}

}  // namespace

Members::Members(const std::string& directory) {
  const std::string path = directory + "/" + kMembersName;
  File file = platform::openFile(path);
  while (!file) {
    make(path);
    file = platform::openFile(path);
  }
  if (platform::factsOf(file, path).size != sizeof(MembersFile)) {
    throw HostError(
        HostFault::segment,
        "boxoffice: " + path +
            " has the wrong size; end all processes that use this directory and "
            "remove it, or choose another one (option directory or BOXOFFICE_DIRECTORY)");
  }
  id_ = platform::idOf(file, path);
  std::byte* const memory = platform::map(file, sizeof(MembersFile), path);
  file_ = reinterpret_cast<MembersFile*>(memory);
  try {
    check(file_->header, path);
  } catch (...) {
    platform::unmap(memory, sizeof(MembersFile));
    throw;
  }
  open_ = std::move(file);
}

bool Members::areIn(const File& directory) {
  const File file = platform::openFile(kMembersName, directory);
  return file && platform::beginsWith(file, &kMembersMagic, sizeof kMembersMagic);
}

void Members::ring() const noexcept {
  platform::touch(open_, offsetof(MembersFile, header) + offsetof(MembersHeader, bell));
}

void Members::setLost(std::string why) {
  if (lost()) return;
  whyLost_ = std::move(why);
  lost_.store(&whyLost_);
}

Members::~Members() { platform::unmap(reinterpret_cast<std::byte*>(file_), sizeof(MembersFile)); }

bool Members::isAt(const std::string& directory) const noexcept {
  return platform::isAt(directory + "/" + kMembersName, id_);
}

bool Members::isIn(const File& directory) const noexcept {
  return platform::isAt(kMembersName, id_, directory);
}

void Members::join(ProcessSlot process, std::uint64_t fifo) noexcept {
  Member& member = of(process);
  member.pid.store(platform::pid());
  member.fifo.store(fifo);
  for (Word64& entry : member.mailbox) entry.store(0);
  member.overflow.store(
      0);  // was for the previous member: no process has a reason to notify us yet
  wakeUp(
      member);  // the count goes on: a wake-up of the previous member must not match a sleep of ours
  member.state.store(kJoined);
  file_->header.roster.fetch_add(1);
}

void Members::free(ProcessSlot process) const noexcept {
  of(process).pid.store(0);
  of(process).state.store(kFree);
}

}  // namespace boxoffice::host
