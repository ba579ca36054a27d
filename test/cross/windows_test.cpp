// The contracts of platform/files.h and platform/wakeups.h on Windows, beside those of host_files_test.cpp: access lists, paths,
// and processes that are waited for. .ci/wine compiles both and runs them under Wine.
#include <aclapi.h>

#include <algorithm>

#include "../native/host_files.h"
#include "platform/windows_files.h"

// The streams of GoogleTest name these functions, which zig's C library for Windows lacks. A null locale is that of C.
extern "C" {
inline void* makeNoLocale(int, const char*) { return nullptr; }
inline void freeNoLocale(void*) {}
void* (*__imp__create_locale)(int, const char*) = makeNoLocale;
void (*__imp__free_locale)(void*) = freeNoLocale;
}

namespace boxoffice::host::test {
namespace {

using platform::FifoEnd;
using platform::File;

/// Gives all users of the machine these rights to the file.
void openToAll(const std::string& path, DWORD rights) {
  SID_IDENTIFIER_AUTHORITY world = SECURITY_WORLD_SID_AUTHORITY;
  PSID everyone = nullptr;
  ASSERT_TRUE(
      AllocateAndInitializeSid(&world, 1, SECURITY_WORLD_RID, 0, 0, 0, 0, 0, 0, 0, &everyone));
  EXPLICIT_ACCESSW entry = {};
  entry.grfAccessPermissions = rights;
  entry.grfAccessMode = SET_ACCESS;
  entry.Trustee.TrusteeForm = TRUSTEE_IS_SID;
  entry.Trustee.ptstrName = static_cast<wchar_t*>(everyone);
  PACL list = nullptr;
  ASSERT_EQ(SetEntriesInAclW(1, &entry, nullptr, &list), DWORD{ERROR_SUCCESS});
  std::wstring wide = platform::wide(path);
  EXPECT_EQ(SetNamedSecurityInfoW(wide.data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr,
                                  nullptr, list, nullptr),
            DWORD{ERROR_SUCCESS});
  LocalFree(list);
  FreeSid(everyone);
}

TEST_F(HostFiles, ADirectoryThatOthersMayWriteToIsRefused) {
  openToAll(path, GENERIC_READ);
  EXPECT_EQ(hostFaultOf([&] { platform::findDirectory(path); }), std::nullopt);
  openToAll(path, GENERIC_ALL);
  EXPECT_EQ(hostFaultOf([&] { platform::findDirectory(path); }), HostFault::segment);
}

TEST_F(HostFiles, APathIsPutIntoItsPlainForm) {
  EXPECT_EQ(platform::plainPath("C:\\a\\\\b\\..\\c\\.\\d"), "C:/a/c/d");
  EXPECT_EQ(platform::plainPath("C:/a/b. "), "C:/a/b");
  EXPECT_TRUE(platform::isAbsolute("C:/a"));
  for (const char* const path : {"a", "/a", "C:a", "./a", ""}) {
    EXPECT_FALSE(platform::isAbsolute(platform::plainPath(path))) << path;
  }
}

TEST_F(HostFiles, AFileThatAnotherProgramHasOpenIsWaitedForAndThenALack) {
  platform::createFile(at("x"), 4096).close();
  const HANDLE held = CreateFileW(platform::wide(at("x")).c_str(), GENERIC_READ, FILE_SHARE_READ,
                                  nullptr, OPEN_EXISTING, 0, nullptr);
  EXPECT_EQ(hostFaultOf([&] { platform::openFile(at("x")); }), HostFault::exhausted);
  std::thread other([held] {
    Sleep(50);
    CloseHandle(held);
  });
  EXPECT_TRUE(platform::openFile(at("x")));
  other.join();
}

TEST_F(HostFiles, OnlyAFileClosedToOthersIsOpened) {
  const auto fault = [&] { return hostFaultOf([&] { platform::openFile(at("x")); }); };
  platform::createFile(at("x"), 4096).close();
  EXPECT_EQ(fault(), std::nullopt);
  openToAll(at("x"), GENERIC_READ);
  EXPECT_EQ(fault(), HostFault::segment);
}

TEST_F(HostWakeups, AWritingEndOfAMemberThatHasLeftIsOver) {
  ASSERT_TRUE(platform::tryLive(reader));
  reader.close();
  const FifoEnd writer = platform::openWriter(fifo);
  platform::Watch watch;
  watch.addDeath(writer, 6);
  EXPECT_EQ(watch.wait(tags, 0), 1U);
  EXPECT_TRUE(platform::isOver(writer));
}

/// As when it is elevated, or in another session.
TEST_F(HostWakeups, AMemberThatLetsNoOtherWaitIsReportedAndStillWoken) {
  ASSERT_TRUE(platform::tryLive(reader));
  const HANDLE self = GetCurrentProcess();
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR held = nullptr;
  ASSERT_EQ(GetSecurityInfo(self, SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr,
                            &list, nullptr, &held),
            DWORD{ERROR_SUCCESS});
  ACL none;
  InitializeAcl(&none, sizeof none, ACL_REVISION);
  SetSecurityInfo(self, SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, &none,
                  nullptr);
  const FifoEnd writer = platform::openWriter(fifo);
  SetSecurityInfo(self, SE_KERNEL_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, list,
                  nullptr);
  LocalFree(held);
  EXPECT_TRUE(platform::isOver(writer));
  platform::Watch watch;
  watch.addReader(reader, 5);
  platform::send(writer);
  EXPECT_EQ(watch.wait(tags, 0), 1U);
}

TEST_F(HostWakeups, AMemberThatComesBackIsAnotherOne) {
  ASSERT_TRUE(platform::tryLive(reader));
  const FifoEnd before = platform::openWriter(fifo);
  reader.close();
  reader = platform::openFifo(fifo);
  ASSERT_TRUE(platform::tryLive(reader));
  const FifoEnd after = platform::openWriter(fifo);
  platform::Watch watch;
  watch.addDeath(before, 6);
  watch.addDeath(after, 7);
  ASSERT_EQ(watch.wait(tags, 0), 1U);
  EXPECT_EQ(tags[0], 6U);
  EXPECT_TRUE(platform::isOver(before));
  EXPECT_FALSE(platform::isOver(after));
}

TEST_F(HostWakeups, MoreAreWatchedThanWindowsWaitsForAtOnce) {
  constexpr std::uint32_t kMany = 100;
  std::vector<FifoEnd> members;
  std::vector<FifoEnd> writers;
  platform::Watch watch;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const std::string each = at("fifo-" + std::to_string(i + 2));
    members.push_back(platform::openFifo(each));
    ASSERT_TRUE(platform::tryLive(members.back()));
    writers.push_back(platform::openWriter(each));
    watch.addDeath(writers.back(), i);
  }
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  for (const std::uint32_t i : {0U, 30U, 31U, 32U, kMany - 1}) {
    members[i].close();
    ASSERT_EQ(watch.wait(tags, 5000), 1U) << i;
    EXPECT_EQ(tags[0], i);
    watch.removeDeath(writers[i]);
    EXPECT_EQ(watch.wait(tags, 0), 0U) << i;
  }
  for (FifoEnd& each : members) each.close();
  // The rest comes in pieces of sixteen.
  std::size_t left = kMany - 5;
  while (left > 0) {
    const unsigned count = watch.wait(tags, 5000);
    ASSERT_GT(count, 0U) << left;
    for (unsigned i = 0; i < count; ++i) watch.removeDeath(writers[tags[i]]);
    left -= std::min<std::size_t>(left, count);
  }
}

TEST_F(HostWakeups, AFifoOpenedByItsWritingEndIsTheSame) {
  const FifoEnd again = platform::openFifoOf(platform::openWriter(fifo), fifo);
  EXPECT_EQ(platform::idOf(again, fifo), platform::idOf(reader, fifo));
}

}  // namespace
}  // namespace boxoffice::host::test
