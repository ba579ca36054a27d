// The contracts of platform/files.h and platform/wakeups.h on POSIX systems, beside those of host_files_test.cpp: permissions,
// links, holes, directories that move, and FIFOs.

#include "host_files.h"
#include "host_support.h"

namespace boxoffice::host::test {
namespace {

using platform::FifoEnd;
using platform::File;

TEST_F(HostFiles, ADirectoryIsMadeForThisUserAlone) {
  const mode_t before = umask(0777);
  const std::string made = outer.path() + "/made";
  EXPECT_TRUE(platform::openDirectory(made));
  umask(before);
  EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(HostFiles, ADirectoryThatOthersMayWriteToOrThatIsALinkIsRefused) {
  chmod(path.c_str(), 0770);
  EXPECT_EQ(hostFaultOf([&] { platform::findDirectory(path); }), HostFault::segment);
  chmod(path.c_str(), 0700);
  const std::string link = outer.path() + "/link";
  std::filesystem::create_directory_symlink(path, link);
  EXPECT_EQ(hostFaultOf([&] { platform::openDirectory(link); }), HostFault::segment);
}

TEST_F(HostFiles, AFileIsMadeForThisUserAlone) {
  const mode_t before = umask(0777);
  platform::createFile(at("x"), kPage).close();
  umask(before);
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

TEST_F(HostFiles, OnlyARegularFileClosedToOthersIsOpened) {
  const auto fault = [&] { return hostFaultOf([&] { platform::openFile(at("x")); }); };
  platform::createFile(at("x"), kPage).close();
  EXPECT_EQ(fault(), std::nullopt);
  chmod(at("x").c_str(), 0640);
  EXPECT_EQ(fault(), HostFault::segment);
  chmod(at("x").c_str(), 0600);
  std::filesystem::rename(at("x"), at("y"));
  std::filesystem::create_symlink(at("y"), at("x"));
  EXPECT_EQ(fault(), HostFault::segment);
  platform::remove(at("x"));
  platform::openFifo(at("x")).close();
  EXPECT_EQ(fault(), HostFault::segment);
}

TEST_F(HostFiles, AnOwnFileIsOpenedWhateverItsRights) {
  EXPECT_FALSE(platform::openOwnFile("x", directory));
  platform::createFile(at("x"), kPage).close();
  chmod(at("x").c_str(), 0644);
  EXPECT_TRUE(platform::openOwnFile("x", directory));
  std::filesystem::create_hard_link(at("x"), at("y"));
  EXPECT_EQ(hostFaultOf([&] { platform::openOwnFile("y", directory); }), HostFault::segment);
  std::filesystem::create_symlink(at("x"), at("link"));
  platform::openFifo(at("fifo")).close();
  for (const char* const name : {"link", "fifo"}) {
    EXPECT_EQ(hostFaultOf([&] { platform::openOwnFile(name, directory); }), HostFault::segment);
  }
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

TEST_F(HostFiles, AnEmptyDirectoryIsRemovedWhileItIsOpen) {
  write("x");
  platform::remove("x", directory);
  platform::removeEmptyDirectory(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(platform::namesIn(directory, path).empty());
}

TEST_F(HostWakeups, AWriterOpensOnlyBesideAReader) {
  EXPECT_TRUE(platform::openWriter(fifo));
  reader.close();
  EXPECT_FALSE(platform::openWriter(fifo));
}

TEST_F(HostWakeups, AnOpenFileTakesItsOwnLockAgain) {
  EXPECT_TRUE(platform::tryLock(reader));
  EXPECT_TRUE(platform::tryLock(reader));
}

TEST_F(HostWakeups, AWatchReportsNoReaderThatWasRemovedFromIt) {
  platform::Watch watch;
  watch.addReader(reader, 5);
  platform::send(platform::openWriter(fifo));
  watch.remove(reader.fifo);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
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

TEST_F(HostWakeups, AWatchReportsThatTheLastReaderHasGone) {
  platform::Watch watch;
  const FifoEnd writer = platform::openWriter(fifo);
  watch.addDeath(writer, 6);
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
  EXPECT_EQ(watch.wait(tags, 0), 0U);
}

TEST_F(HostWakeups, BytesInTheBellAndTheMoveOfTheDirectoryAreReported) {
  platform::createFile(at("bell"), kPage).close();
  platform::Removals removals;
  removals.deliver(path, at("bell"));
  ASSERT_TRUE(removals.file());
  platform::Watch watch;
  watch.add(removals.file(), 9);
  EXPECT_EQ(watch.wait(tags, 0), 0U);
  const auto isReported = [&] {
    const bool is = watch.wait(tags, -1) == 1 && tags[0] == 9;
    removals.drain();
    return is && watch.wait(tags, 0) == 0;
  };
  platform::touch(platform::openFile(at("bell")), 0);
  EXPECT_TRUE(isReported());
  std::filesystem::rename(path, outer.path() + "/moved");
  EXPECT_TRUE(isReported());
}

}  // namespace
}  // namespace boxoffice::host::test
