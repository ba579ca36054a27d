// The contracts of platform/files.h and platform/wakeups.h that every system keeps in the same way.
// host_files_posix_test.cpp and test/cross/windows_test.cpp have what differs.

#include "host_files.h"

#include <algorithm>

namespace boxoffice::host::test {
namespace {

using platform::FifoEnd;
using platform::File;

TEST_F(HostFiles, ADirectoryIsMadeAndFound) {
  EXPECT_TRUE(platform::findDirectory(path));
  EXPECT_FALSE(platform::findDirectory(outer.path() + "/none"));
  write("x");
  EXPECT_EQ(hostFaultOf([&] { platform::findDirectory(at("x")); }), HostFault::segment);
  EXPECT_EQ(hostFaultOf([&] { platform::openDirectory(outer.path() + "/none/in"); }),
            HostFault::segment);
}

TEST_F(HostFiles, TheBootHasOneIdentity) {
  EXPECT_EQ(platform::bootName().size(), 32U);
  EXPECT_EQ(platform::bootName(), platform::bootName());
}

TEST_F(HostFiles, AFileIsMadeWholeAndReplacesALeftover) {
  write("x");
  const File file = platform::createFile(at("x"), 3 * kPage);
  const platform::FileFacts facts = platform::factsOf(file, at("x"));
  EXPECT_EQ(facts.size, 3 * kPage);
  EXPECT_GE(facts.allocated, facts.size);
  EXPECT_TRUE(facts.linked);
}

TEST_F(HostFiles, OnlyAFileOfOneNameIsOpened) {
  EXPECT_FALSE(platform::openFile(at("none")));
  const auto fault = [&] { return hostFaultOf([&] { platform::openFile(at("x")); }); };
  platform::createFile(at("x"), kPage).close();
  EXPECT_EQ(fault(), std::nullopt);
  std::filesystem::create_hard_link(at("x"), at("y"));
  EXPECT_EQ(fault(), HostFault::segment);
  platform::remove(at("y"));
  EXPECT_EQ(fault(), std::nullopt);
}

TEST_F(HostFiles, AFileIsKnownByItsIdentity) {
  const File file = platform::createFile(at("x"), kPage);
  const platform::FileId id = platform::idOf(file, at("x"));
  EXPECT_TRUE(platform::isAt(at("x"), id));
  EXPECT_TRUE(platform::isAt("x", id, directory));
  EXPECT_EQ(platform::idOf(platform::openFile("x", directory), "x"), id);
  platform::createFile(at("y"), kPage).close();
  EXPECT_FALSE(platform::isAt(at("y"), id));
  EXPECT_FALSE(platform::isAt(at("none"), id));
}

TEST_F(HostFiles, ARenameReplacesNoFile) {
  platform::createFile(at("x"), kPage).close();
  platform::createFile(at("y"), kPage).close();
  EXPECT_FALSE(platform::rename(at("x"), at("y")));
  EXPECT_FALSE(platform::rename(at("none"), at("z")));
  EXPECT_TRUE(platform::rename(at("x"), at("z")));
  EXPECT_TRUE(platform::openFile(at("z")));
}

TEST_F(HostFiles, TheNamesOfADirectoryAreReadAnewEachTime) {
  const auto has = [&](const std::string& name) {
    const std::vector<std::string> names = platform::namesIn(directory, path);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  write("x");
  EXPECT_TRUE(has("x"));
  write("y");
  EXPECT_TRUE(has("x") && has("y"));
  platform::removeEmptyDirectory(path);
  EXPECT_TRUE(has("x") && has("y"));
  platform::remove("x", directory);
  EXPECT_FALSE(has("x"));
}

TEST_F(HostFiles, MappingsOfAFileShareItsContentsAtDistinctGrains) {
  const File file = platform::createFile(at("x"), kPage);
  std::byte* const one = platform::map(file, kPage, at("x"));
  std::byte* const two = platform::map(file, kPage, at("x"));
  for (const std::byte* const each : {one, two}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each) % platform::kMapGrain, 0U);
  }
  EXPECT_NE(one, two);
  EXPECT_EQ(two[kPage - 1], std::byte{0});
  one[kPage - 1] = std::byte{7};
  EXPECT_EQ(two[kPage - 1], std::byte{7});
  EXPECT_TRUE(platform::beginsWith(file, "\0\0", 2));
  one[0] = std::byte{1};
  EXPECT_TRUE(platform::beginsWith(file, "\1\0", 2));
  platform::unmap(one, kPage);
  platform::unmap(two, kPage);
}

TEST_F(HostWakeups, LocksBelongToTheOpenFileAndGoWithIt) {
  const FifoEnd other = platform::openFifo(fifo);
  EXPECT_TRUE(platform::tryLock(reader));
  EXPECT_FALSE(platform::tryLock(other));
  platform::openFifo(fifo).close();  // of which a lock of the process would be gone
  EXPECT_FALSE(platform::tryLock(other));
  reader.close();
  EXPECT_TRUE(platform::tryLock(other));
  platform::unlock(other);
  EXPECT_TRUE(platform::tryLock(platform::openFifo(fifo)));
}

TEST_F(HostWakeups, TheSecondLockIsKeptFreeBySeveralAndHeldByOne) {
  FifoEnd other = platform::openFifo(fifo);
  FifoEnd third = platform::openFifo(fifo);
  EXPECT_TRUE(platform::tryLock(third));  // of the two locks, each is taken by itself
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
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  const FifoEnd writer = platform::openWriter(fifo);
  platform::send(writer);
  for (int look = 0; look < 2; ++look) {
    ASSERT_EQ(watch.wait(tags, -1), 1U);
    EXPECT_EQ(tags[0], 5U);
  }
  platform::drain(reader);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, AWatchReportsAMemberThatLeaves) {
  ASSERT_TRUE(platform::tryLive(reader));
  { const FifoEnd another = platform::openWriter(fifo); }  // whose end is not the member's
  const FifoEnd writer = platform::openWriter(fifo);
  platform::Watch watch;
  watch.addDeath(writer, 6);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  reader.close();
  ASSERT_EQ(watch.wait(tags, 5000), 1U);
  EXPECT_EQ(tags[0], 6U);
  watch.removeDeath(writer);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, AWatchReportsAMemberThatHadLeftBefore) {
  ASSERT_TRUE(platform::tryLive(reader));
  const FifoEnd writer = platform::openWriter(fifo);
  reader.close();
  platform::Watch watch;
  watch.addDeath(writer, 6);
  EXPECT_EQ(watch.wait(tags, 0), 1U);
}

TEST_F(HostWakeups, AFifoIsKnownByItsFiles) {
  const platform::FileId id = platform::idOf(reader, fifo);
  EXPECT_EQ(platform::idOf(platform::openFifo(fifo), fifo), id);
  const FifoEnd writer = platform::openWriter(fifo);
  EXPECT_EQ(platform::idOf(writer, fifo), id);
  EXPECT_TRUE(platform::isFifoAt(fifo, id));
  EXPECT_FALSE(platform::isFifoAt(at("none"), id));
  EXPECT_FALSE(platform::openWriter(at("none")));
}

TEST_F(HostWakeups, RemovalsAreReportedWhileTheyAreWatched) {
  write("x");
  write("y");
  platform::createFile(at("bell"), kPage).close();
  platform::Removals removals;
  removals.deliver(path, at("bell"));
  ASSERT_TRUE(removals.file());
  platform::Watch watch;
  watch.add(removals.file(), 9);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  std::filesystem::remove(at("x"));
  ASSERT_EQ(watch.wait(tags, 5000), 1U);
  EXPECT_EQ(tags[0], 9U);
  removals.drain();
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  watch.remove(removals.file());
  std::filesystem::remove(at("y"));
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  removals.close();
}

}  // namespace
}  // namespace boxoffice::host::test
