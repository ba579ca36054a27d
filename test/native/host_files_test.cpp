// The contracts of platform/files.h and platform/wakeups.h, which every system keeps.

#include <algorithm>

#include "host_support.h"
#include "platform/wakeups.h"

namespace boxoffice::host::test {
namespace {

using platform::FifoEnd;
using platform::File;

/// A directory of locks, opened, inside a temporary one.
struct HostFiles : testing::Test {
  std::string at(const std::string& name) const { return path + "/" + name; }
  void write(const std::string& name) const { std::ofstream(at(name)) << "text"; }

  const TemporaryDirectory outer;
  const std::string path = outer.path() + "/locks";
  const File directory = platform::openDirectory(path);
};

TEST_F(HostFiles, ADirectoryIsMadeForThisUserAlone) {
  const mode_t before = umask(0777);
  const std::string made = outer.path() + "/made";
  EXPECT_TRUE(platform::openDirectory(made));
  umask(before);
  EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms::owner_all);
  EXPECT_FALSE(platform::findDirectory(outer.path() + "/none"));
}

TEST_F(HostFiles, ADirectoryThatOthersMayWriteToOrThatIsALinkIsRefused) {
  chmod(path.c_str(), 0770);
  EXPECT_EQ(hostFaultOf([&] { platform::findDirectory(path); }), HostFault::segment);
  chmod(path.c_str(), 0700);
  const std::string link = outer.path() + "/link";
  std::filesystem::create_directory_symlink(path, link);
  EXPECT_EQ(hostFaultOf([&] { platform::openDirectory(link); }), HostFault::segment);
}

TEST_F(HostFiles, TheBootHasOneIdentity) {
  EXPECT_EQ(platform::bootName().size(), 32U);
  EXPECT_EQ(platform::bootName(), platform::bootName());
}

TEST_F(HostFiles, AFileIsMadeWholeAndPrivateAndReplacesALeftover) {
  write("x");
  const mode_t before = umask(0777);
  const File file = platform::createFile(at("x"), 3 * kPage);
  umask(before);
  const platform::FileFacts facts = platform::factsOf(file, at("x"));
  EXPECT_EQ(facts.size, 3 * kPage);
  EXPECT_GE(facts.allocated, facts.size);
  EXPECT_TRUE(facts.linked);
  EXPECT_EQ(std::filesystem::status(at("x")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(HostFiles, HolesAreAllocated) {
  platform::createFile(at("x"), kPage).close();
  std::filesystem::resize_file(at("x"), 64 * kPage);
  const File file = platform::openFile(at("x"));
  EXPECT_LT(platform::factsOf(file, at("x")).allocated, 64 * kPage);
  platform::allocate(file, 64 * kPage, at("x"));
  EXPECT_GE(platform::factsOf(file, at("x")).allocated, 64 * kPage);
}

TEST_F(HostFiles, OnlyARegularFileOfOneNameClosedToOthersIsOpened) {
  EXPECT_FALSE(platform::openFile(at("none")));
  const auto fault = [&] { return hostFaultOf([&] { platform::openFile(at("x")); }); };
  platform::createFile(at("x"), kPage).close();
  EXPECT_EQ(fault(), std::nullopt);
  chmod(at("x").c_str(), 0640);
  EXPECT_EQ(fault(), HostFault::segment);
  chmod(at("x").c_str(), 0600);
  std::filesystem::create_hard_link(at("x"), at("y"));
  EXPECT_EQ(fault(), HostFault::segment);
  platform::remove(at("x"));
  std::filesystem::create_symlink(at("y"), at("x"));
  EXPECT_EQ(fault(), HostFault::segment);
  platform::remove(at("x"));
  platform::openFifo(at("x")).close();
  EXPECT_EQ(fault(), HostFault::segment);
}

TEST_F(HostFiles, AFileInAnOpenDirectoryIsFoundWhereverTheDirectoryIs) {
  const platform::FileId id = platform::idOf(platform::createFile(at("x"), kPage), at("x"));
  std::filesystem::rename(path, outer.path() + "/moved");
  const File replacement = platform::openDirectory(path);
  platform::createFile(at("x"), kPage).close();

  EXPECT_EQ(platform::idOf(platform::openFile("x", directory), "x"), id);
  EXPECT_TRUE(platform::isAt("x", id, directory));
  EXPECT_FALSE(platform::isAt("x", id, replacement));
  EXPECT_FALSE(platform::isAt(at("x"), id));
  platform::remove("x", directory);
  EXPECT_FALSE(platform::isAt("x", id, directory));
  EXPECT_FALSE(platform::openFile("x", directory));
  EXPECT_TRUE(platform::openFile(at("x")));
}

TEST_F(HostFiles, AnOpenFileTellsThatItWasRemoved) {
  const File file = platform::createFile(at("x"), kPage);
  platform::remove(at("x"));
  EXPECT_FALSE(platform::factsOf(file, at("x")).linked);
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
  platform::remove("y", directory);
  platform::removeEmptyDirectory(path);
  EXPECT_FALSE(std::filesystem::exists(path));
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
  platform::unmap(one, kPage);
  platform::unmap(two, kPage);
}

/// A FIFO, opened by a reader.
struct HostWakeups : HostFiles {
  const std::string fifo = at("fifo");
  FifoEnd reader = platform::openFifo(fifo);
};

TEST_F(HostWakeups, AWriterOpensOnlyBesideAReader) {
  EXPECT_TRUE(platform::openWriter(fifo));
  reader.close();
  EXPECT_FALSE(platform::openWriter(fifo));
  EXPECT_FALSE(platform::openWriter(at("none")));
}

TEST_F(HostWakeups, LocksBelongToTheOpenFileAndGoWithIt) {
  const FifoEnd other = platform::openFifo(fifo);
  EXPECT_TRUE(platform::tryLock(reader));
  EXPECT_TRUE(platform::tryLock(reader));  // its own lock is not in its way
  EXPECT_FALSE(platform::tryLock(other));
  platform::openFifo(fifo).close();  // of which a lock of the process would be gone
  EXPECT_FALSE(platform::tryLock(other));
  reader.close();
  EXPECT_TRUE(platform::tryLock(other));
}

TEST_F(HostWakeups, ALockGoesWithTheProcessThatIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    FifoEnd own = platform::openFifo(fifo);
    const char locked = platform::tryLock(own) && platform::tryLive(own) ? 1 : 0;
    if (::write(ready[1], &locked, 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  char locked = 0;
  ASSERT_EQ(read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 1);
  EXPECT_FALSE(platform::tryLock(reader));
  EXPECT_FALSE(platform::tryKeepFree(reader));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(platform::tryLock(reader));
  EXPECT_TRUE(platform::tryLive(reader));
  close(ready[0]);
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

TEST_F(HostWakeups, AWatchReportsBytesUntilTheyAreRead) {
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
  watch.remove(reader.fifo);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, AWatchReportsThatTheLastReaderHasGone) {
  platform::Watch watch;
  const FifoEnd writer = platform::openWriter(fifo);
  watch.addDeath(writer, 6);
  std::uint32_t tags[16];
  FifoEnd second = platform::openFifoOf(writer, fifo);
  EXPECT_TRUE(platform::tryLock(second));
  reader.close();
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  EXPECT_TRUE(platform::isStoodInFor(writer));
  second.close();
  ASSERT_EQ(watch.wait(tags, -1), 1U);
  EXPECT_EQ(tags[0], 6U);
  platform::send(writer);  // which raises no signal
}

TEST_F(HostWakeups, AWritingEndTakesTheLockWithoutAReader) {
  const FifoEnd writer = platform::openWriter(fifo);
  const FifoEnd another = platform::openWriter(fifo);
  reader.close();
  EXPECT_TRUE(platform::tryLock(writer));
  EXPECT_FALSE(platform::tryLock(another));
  EXPECT_FALSE(platform::tryLock(platform::openFifoOf(another, fifo)));
  EXPECT_FALSE(platform::isStoodInFor(another));
  platform::unlock(writer);
  EXPECT_TRUE(platform::tryLock(platform::openFifoOf(another, fifo)));
}

TEST_F(HostWakeups, AWatchReportsAReaderThatHadGoneBefore) {
  reader.close();
  reader = platform::openFifo(fifo);
  const FifoEnd writer = platform::openWriter(fifo);
  reader.close();
  platform::Watch watch;
  watch.addDeath(writer, 6);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 1U);
}

TEST_F(HostWakeups, AFifoThatWasRemovedIsStillLockedByOneAtATime) {
  const FifoEnd writer = platform::openWriter(fifo);
  const FifoEnd another = platform::openWriter(fifo);
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    std::filesystem::remove(entry.path());
  }
  reader.close();
  platform::Watch watch;
  watch.addDeath(another, 6);
  std::uint32_t tags[16];
  {
    const FifoEnd standIn = platform::openFifoOf(writer, fifo);
    EXPECT_TRUE(platform::tryLock(standIn));
    EXPECT_TRUE(platform::tryKeepFree(standIn));
    EXPECT_FALSE(platform::tryLock(platform::openFifoOf(another, fifo)));
    EXPECT_EQ(watch.wait(tags, 0), platform::isStoodInFor(another) ? 0U : 1U);
  }
  EXPECT_EQ(watch.wait(tags, 0), 1U);
  EXPECT_TRUE(platform::tryLock(platform::openFifoOf(another, fifo)));
  FifoEnd live = platform::openFifoOf(another, fifo);
  EXPECT_TRUE(platform::tryLive(live));
  EXPECT_TRUE(platform::tryLock(platform::openFifoOf(writer, fifo)));
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST_F(HostWakeups, AFifoIsKnownByAllItsFiles) {
  const platform::FileId id = platform::idOf(reader, fifo);
  EXPECT_EQ(platform::idOf(platform::openFifo(fifo), fifo), id);
  EXPECT_EQ(platform::idOf(platform::openWriter(fifo), fifo), id);
  EXPECT_TRUE(platform::isFifoAt(fifo, id));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  for (const auto& each : files) {
    const platform::FileId before = platform::idOf(platform::openFifo(fifo), fifo);
    std::filesystem::rename(each, outer.path() + "/moved");
    EXPECT_FALSE(platform::isFifoAt(fifo, before)) << each;
    const FifoEnd anew = platform::openFifo(fifo);
    EXPECT_NE(platform::idOf(anew, fifo), before) << each;
    EXPECT_FALSE(platform::isFifoAt(fifo, before)) << each;
  }
}

TEST_F(HostWakeups, AFullFifoBlocksNoSender) {
  const FifoEnd writer = platform::openWriter(fifo);
  for (int byte = 0; byte < (1 << 17); ++byte) platform::send(writer);
  platform::drain(reader);
  platform::Watch watch;
  watch.addReader(reader, 5);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, RemovalsAndBytesInTheBellAreReported) {
  write("x");
  platform::createFile(at("bell"), kPage).close();
  platform::Removals removals;
  removals.deliver(path, at("bell"));
  ASSERT_TRUE(removals.file());
  platform::Watch watch;
  watch.add(removals.file(), 9);
  std::uint32_t tags[16];
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  const auto isReported = [&] {
    const bool is = watch.wait(tags, -1) == 1 && tags[0] == 9;
    removals.drain();
    return is && watch.wait(tags, 0) == 0;
  };
  std::filesystem::remove(at("x"));
  EXPECT_TRUE(isReported());
  platform::touch(platform::openFile(at("bell")), 0);
  EXPECT_TRUE(isReported());
  std::filesystem::rename(path, outer.path() + "/moved");
  EXPECT_TRUE(isReported());
}

}  // namespace
}  // namespace boxoffice::host::test
