// The contracts of platform/files.h and platform/wakeups.h on Windows: the counterpart of host_files_test.cpp. Cross-compiled
// and run under Wine by .ci/wine.
#include <aclapi.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "../native/host_fault.h"
#include "platform/wakeups.h"
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

/// A directory of locks, opened, inside a temporary one.
struct HostFiles : testing::Test {
  HostFiles() { std::filesystem::create_directories(outer); }
  ~HostFiles() override { std::filesystem::remove_all(outer); }
  std::string at(const std::string& name) const { return path + "/" + name; }
  void write(const std::string& name) const { std::ofstream(at(name)) << "text"; }

  const std::string outer =
      platform::plainPath((std::filesystem::temp_directory_path() /
                           ("boxoffice-test-" + std::to_string(platform::pid())))
                              .string());
  const std::string path = outer + "/locks";
  File directory = File();
  void SetUp() override { directory = platform::openDirectory(path); }
  void TearDown() override { directory.close(); }
};

TEST_F(HostFiles, ADirectoryIsMadeAndFound) {
  EXPECT_TRUE(platform::findDirectory(path));
  EXPECT_FALSE(platform::findDirectory(outer + "/none"));
  write("x");
  EXPECT_EQ(hostFaultOf([&] { platform::findDirectory(at("x")); }), HostFault::segment);
  EXPECT_EQ(hostFaultOf([&] { platform::openDirectory(outer + "/none/in"); }), HostFault::segment);
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

TEST_F(HostFiles, TheBootHasOneIdentity) {
  EXPECT_EQ(platform::bootName().size(), 32U);
  EXPECT_EQ(platform::bootName(), platform::bootName());
}

TEST_F(HostFiles, AFileIsMadeWholeAndReplacesALeftover) {
  write("x");
  const File file = platform::createFile(at("x"), 12288);
  const platform::FileFacts facts = platform::factsOf(file, at("x"));
  EXPECT_EQ(facts.size, 12288U);
  EXPECT_GE(facts.allocated, facts.size);
  EXPECT_TRUE(facts.linked);
}

TEST_F(HostFiles, OnlyAFileOfOneNameClosedToOthersIsOpened) {
  EXPECT_FALSE(platform::openFile(at("none")));
  const auto fault = [&] { return hostFaultOf([&] { platform::openFile(at("x")); }); };
  platform::createFile(at("x"), 4096).close();
  EXPECT_EQ(fault(), std::nullopt);
  std::filesystem::create_hard_link(at("x"), at("y"));
  EXPECT_EQ(fault(), HostFault::segment);
  platform::remove(at("y"));
  EXPECT_EQ(fault(), std::nullopt);
  openToAll(at("x"), GENERIC_READ);
  EXPECT_EQ(fault(), HostFault::segment);
}

TEST_F(HostFiles, AFileIsKnownByItsIdentity) {
  const File file = platform::createFile(at("x"), 4096);
  const platform::FileId id = platform::idOf(file, at("x"));
  EXPECT_TRUE(platform::isAt(at("x"), id));
  EXPECT_TRUE(platform::isAt("x", id, directory));
  EXPECT_EQ(platform::idOf(platform::openFile("x", directory), "x"), id);
  platform::createFile(at("y"), 4096).close();
  EXPECT_FALSE(platform::isAt(at("y"), id));
  EXPECT_FALSE(platform::isAt(at("none"), id));
}

TEST_F(HostFiles, ARenameReplacesNoFile) {
  platform::createFile(at("x"), 4096).close();
  platform::createFile(at("y"), 4096).close();
  EXPECT_FALSE(platform::rename(at("x"), at("y")));
  EXPECT_FALSE(platform::rename(at("none"), at("z")));
  EXPECT_TRUE(platform::rename(at("x"), at("z")));
  EXPECT_TRUE(platform::openFile(at("z")));
}

TEST_F(HostFiles, MappingsOfAFileShareItsContentsAtDistinctGrains) {
  File file = platform::createFile(at("x"), 4096);
  std::byte* const one = platform::map(file, 4096, at("x"));
  std::byte* const two = platform::map(file, 4096, at("x"));
  for (const std::byte* const each : {one, two}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each) % platform::kMapGrain, 0U);
  }
  EXPECT_NE(one, two);
  EXPECT_EQ(two[4095], std::byte{0});
  one[4095] = std::byte{7};
  EXPECT_EQ(two[4095], std::byte{7});
  EXPECT_TRUE(platform::beginsWith(file, "\0\0", 2));
  one[0] = std::byte{1};
  EXPECT_TRUE(platform::beginsWith(file, "\1\0", 2));
  platform::unmap(one, 4096);
  platform::unmap(two, 4096);
}

/// A FIFO, opened by a reader.
struct HostWakeups : HostFiles {
  std::string fifo;
  FifoEnd reader;
  void SetUp() override {
    HostFiles::SetUp();
    fifo = at("fifo-1");
    reader = platform::openFifo(fifo);
  }
  void TearDown() override {
    reader.close();
    HostFiles::TearDown();
  }
};

TEST_F(HostWakeups, LocksBelongToTheOpenFileAndGoWithIt) {
  const FifoEnd other = platform::openFifo(fifo);
  EXPECT_TRUE(platform::tryLock(reader));
  EXPECT_FALSE(platform::tryLock(other));
  platform::openFifo(fifo).close();
  EXPECT_FALSE(platform::tryLock(other));
  reader.close();
  EXPECT_TRUE(platform::tryLock(other));
  platform::unlock(other);
  EXPECT_TRUE(platform::tryLock(platform::openFifo(fifo)));
}

TEST_F(HostWakeups, TheSecondLockIsKeptFreeBySeveralAndHeldByOne) {
  FifoEnd other = platform::openFifo(fifo);
  FifoEnd third = platform::openFifo(fifo);
  EXPECT_TRUE(platform::tryLock(third));
  EXPECT_TRUE(platform::tryKeepFree(other));
  EXPECT_TRUE(platform::tryKeepFree(third));
  EXPECT_FALSE(platform::tryLive(reader));
  other.close();
  EXPECT_FALSE(platform::tryLive(reader));
  third.close();
  EXPECT_TRUE(platform::tryLive(reader));
  EXPECT_FALSE(platform::tryKeepFree(platform::openFifo(fifo)));
}

TEST_F(HostWakeups, AWatchReportsAWakeUpUntilItIsHandled) {
  ASSERT_TRUE(platform::tryLive(reader));
  platform::Watch watch;
  watch.addReader(reader, 5);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  const FifoEnd writer = platform::openWriter(fifo);
  platform::send(writer);
  for (int look = 0; look < 2; ++look) {
    ASSERT_EQ(watch.wait(tags, -1), 1U);
    EXPECT_EQ(tags[0], 5U);
  }
  platform::drain(reader);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  platform::send(writer);
  watch.remove(reader.extra[0]);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, AWatchReportsAMemberThatLeaves) {
  ASSERT_TRUE(platform::tryLive(reader));
  const FifoEnd writer = platform::openWriter(fifo);
  platform::Watch watch;
  watch.addDeath(writer, 6);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  reader.close();
  ASSERT_EQ(watch.wait(tags, 1000), 1U);
  EXPECT_EQ(tags[0], 6U);
  watch.removeDeath(writer);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, AWatchReportsAMemberThatHadLeftBefore) {
  ASSERT_TRUE(platform::tryLive(reader));
  reader.close();
  const FifoEnd writer = platform::openWriter(fifo);
  platform::Watch watch;
  watch.addDeath(writer, 6);
  std::uint32_t tags[16];
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
  std::uint32_t tags[16];
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
  std::uint32_t tags[16];
  ASSERT_EQ(watch.wait(tags, 0), 1U);
  EXPECT_EQ(tags[0], 6U);
  EXPECT_TRUE(platform::isOver(before));
  EXPECT_FALSE(platform::isOver(after));
}

TEST_F(HostWakeups, AWritingEndThatClosesTakesNoRecordAway) {
  ASSERT_TRUE(platform::tryLive(reader));
  { const FifoEnd writer = platform::openWriter(fifo); }
  const FifoEnd writer = platform::openWriter(fifo);
  platform::Watch watch;
  watch.addDeath(writer, 6);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 0U);
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
  std::uint32_t tags[16];
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

TEST_F(HostWakeups, AFifoIsKnownByItsFile) {
  const platform::FileId id = platform::idOf(reader, fifo);
  EXPECT_EQ(platform::idOf(platform::openFifo(fifo), fifo), id);
  EXPECT_EQ(platform::idOf(platform::openWriter(fifo), fifo), id);
  EXPECT_EQ(platform::idOf(platform::openFifoOf(platform::openWriter(fifo), fifo), fifo), id);
  EXPECT_TRUE(platform::isFifoAt(fifo, id));
  EXPECT_FALSE(platform::isFifoAt(at("fifo-2"), id));
  EXPECT_FALSE(platform::openWriter(at("fifo-2")));
}

TEST_F(HostWakeups, RemovalsAreReported) {
  write("x");
  platform::Removals removals;
  removals.deliver(path, at("bell"));
  ASSERT_TRUE(removals.file());
  platform::Watch watch;
  watch.add(removals.file(), 9);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  std::filesystem::remove(at("x"));
  ASSERT_EQ(watch.wait(tags, 5000), 1U);
  EXPECT_EQ(tags[0], 9U);
  removals.drain();
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  removals.close();
}

}  // namespace
}  // namespace boxoffice::host::test
