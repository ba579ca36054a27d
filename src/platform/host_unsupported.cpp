// Systems without scope host: every use of it begins with a directory, which this file refuses.

#include "platform/files.h"
#include "platform/host_error.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {
namespace {

[[noreturn]] void unsupported() {
  throw host::HostError(
      host::HostFault::unsupported,
      "boxoffice: locks of scope host are not supported on this system yet, only on "
      "Linux and macOS; use scope process, or an engine");
}

}  // namespace

void File::close() noexcept { number_ = -1; }

std::string defaultDirectory() { unsupported(); }
File openDirectory(const std::string&) { unsupported(); }
File findDirectory(const std::string&) { unsupported(); }
std::string bootName() { unsupported(); }
std::vector<std::string> namesIn(const File&, const std::string&) { unsupported(); }
void removeEmptyDirectory(const std::string&) noexcept {}
FileId idOf(const File&, const std::string&) { unsupported(); }
bool isAt(const std::string&, const FileId&, const File&) noexcept { return true; }

File openFile(const std::string&, const File&) { unsupported(); }
bool beginsWith(const File&, const void*, std::size_t) { unsupported(); }
bool isDenied(const std::string&, const File&) noexcept { return false; }
void touch(const File&, std::uint64_t) noexcept {}
FileFacts factsOf(const File&, const std::string&) { unsupported(); }
File createFile(const std::string&, std::uint64_t) { unsupported(); }
void setSize(const File&, std::uint64_t, const std::string&) { unsupported(); }
void allocate(const File&, std::uint64_t, const std::string&) { unsupported(); }
bool rename(const std::string&, const std::string&) { unsupported(); }
void remove(const std::string&, const File&) noexcept {}

std::byte* map(const File&, std::uint64_t, const std::string&) { unsupported(); }
void unmap(std::byte*, std::uint64_t) noexcept {}

FifoEnd& FifoEnd::operator=(FifoEnd&&) noexcept { return *this; }
void FifoEnd::close() noexcept {}
void FifoEnd::abandon() noexcept {}

FifoEnd openFifo(const std::string&) { unsupported(); }
FifoEnd openWriter(const std::string&) { unsupported(); }
FifoEnd openFifoOf(const FifoEnd&, const std::string&) { unsupported(); }
FileId idOf(const FifoEnd&, const std::string&) { unsupported(); }
bool isFifoAt(const std::string&, const FileId&) noexcept { return true; }
bool tryLock(const FifoEnd&) noexcept { return false; }
bool tryLive(const FifoEnd&) noexcept { return false; }
bool tryKeepFree(const FifoEnd&) noexcept { return false; }
void unlock(const FifoEnd&) noexcept {}
bool isStoodInFor(const FifoEnd&) { unsupported(); }
void send(const FifoEnd&) noexcept {}
void drain(const FifoEnd&) noexcept {}

Watch::Watch() { unsupported(); }
void Watch::add(const File&, std::uint32_t) { unsupported(); }
void Watch::remove(const File&) noexcept {}
unsigned Watch::wait(std::uint32_t (&)[16], int) noexcept { return 0; }

void Removals::deliver(const std::string&, const std::string&) noexcept {}
void Removals::drain() noexcept {}
void Removals::close() noexcept {}

LoopWakeup::LoopWakeup(const FifoEnd&) noexcept {}
void LoopWakeup::forget() noexcept {}

std::uint32_t pid() noexcept { return 0; }
void randomBytes(void*, std::size_t) { unsupported(); }
// No membership ever opens here, so a fork inherits none.
void aroundForks(void (*)(), void (*)(), void (*)()) {}

}  // namespace boxoffice::platform
