// Systems without scope host: every way into it begins with a directory, which is refused here.

#include "platform/files.h"
#include "platform/host_error.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {
namespace {

[[noreturn]] void unsupported() {
  throw host::HostError(
      host::HostFault::unsupported,
      "boxoffice: locks of scope host are not there for this system yet, only for "
      "Linux; use scope process, or scope cluster");
}

}  // namespace

void File::close() noexcept { number_ = -1; }

std::string defaultDirectory() { unsupported(); }
File openDirectory(const std::string&) { unsupported(); }
File findDirectory(const std::string&) { unsupported(); }
std::string pathOf(const File&) { unsupported(); }
std::string bootName() { unsupported(); }
std::vector<std::string> namesIn(const File&, const std::string&) { unsupported(); }
void removeDirectory(const std::string&) noexcept {}
FileId idOf(const File&, const std::string&) { unsupported(); }
bool isAt(const std::string&, const FileId&) noexcept { return true; }

File openFile(const std::string&) { unsupported(); }
FileFacts factsOf(const File&, const std::string&) { unsupported(); }
File createFile(const std::string&, std::uint64_t) { unsupported(); }
void allocate(const File&, std::uint64_t, const std::string&) { unsupported(); }
bool rename(const std::string&, const std::string&) { unsupported(); }
void remove(const std::string&) noexcept {}

std::byte* map(const File&, std::uint64_t, const std::string&) { unsupported(); }
void unmap(std::byte*, std::uint64_t) noexcept {}

File openFifo(const std::string&) { unsupported(); }
File openWriter(const std::string&) { unsupported(); }
File openFifoOf(const File&) { unsupported(); }
bool tryLock(const File&) noexcept { return false; }
bool tryLive(const File&) noexcept { return false; }
bool tryKeepFree(const File&) noexcept { return false; }
void send(const File&) noexcept {}
void drain(const File&) noexcept {}

Watch::Watch() { unsupported(); }
void Watch::add(const File&, std::uint32_t) { unsupported(); }
void Watch::remove(const File&) noexcept {}
unsigned Watch::wait(std::uint32_t (&)[16], int) noexcept { return 0; }

void Removals::deliver(const std::string&) noexcept {}
void Removals::drain() noexcept {}

LoopWakeup::LoopWakeup(const File&) noexcept {}
void LoopWakeup::forget() noexcept {}

std::uint32_t pid() noexcept { return 0; }
void randomBytes(void*, std::size_t) { unsupported(); }
// No membership ever opens here, so a fork inherits nothing of one.
void aroundForks(void (*)(), void (*)(), void (*)()) {}

}  // namespace boxoffice::platform
