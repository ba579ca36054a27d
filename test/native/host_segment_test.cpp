// The files of locks: created once, found by name, and validated before use.

#include <fcntl.h>
#include <sys/mount.h>

#include <fstream>
#include <memory>
#include <set>

#include "host_support.h"
#include "platform/misuse.h"

namespace boxoffice::host::test {
namespace {

class HostSegment : public ::testing::Test {
 protected:
  HostSegment() { countEvictions(); }

  std::optional<HostFault> fault(const SegmentOptions& options) {
    // A new membership each time, since an open segment is not validated again.
    return hostFaultOf([&] { Membership::in(directory.path())->open(options); });
  }
  std::optional<Fault> misuse(const SegmentOptions& options) {
    try {
      Membership::in(directory.path())->open(options);
    } catch (const Misuse& error) {
      return error.fault();
    }
    return std::nullopt;
  }
  void patch(const std::string& path, std::size_t at, std::uint32_t value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }

  const TemporaryDirectory directory;
};

TEST_F(HostSegment, IsOnePerKindAndName) {
  const auto membership = Membership::in(directory.path());
  Segment& x = membership->open({Kind::mutex, "x"});
  EXPECT_EQ(&membership->open({Kind::mutex, "x"}), &x);
  Segment& keyed = membership->open({Kind::keyedMutex, "x", 100});
  EXPECT_NE(&keyed, &x);
  EXPECT_EQ(x.slots(), 1U);
  EXPECT_EQ(x.stride(), 128U);
  EXPECT_EQ(x.capacity(), 1U);
  EXPECT_EQ(keyed.slots(), 256U);
  EXPECT_EQ(keyed.capacity(), 100U);
  EXPECT_NE(x.id(), keyed.id());
  EXPECT_EQ(x.name(), "x");
  EXPECT_EQ(&x.membership(), membership.get());
  EXPECT_TRUE(x.header().users.has(1));
}

TEST_F(HostSegment, IsFoundByAnAddressInIt) {
  const auto membership = Membership::in(directory.path());
  std::vector<Segment*> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(&membership->open({Kind::keyedRWLock, std::to_string(i), 64U << (i % 8)}));
  }
  for (Segment* const segment : all) {
    for (const std::uint32_t index : {0U, 1U, segment->slots() / 2, segment->slots() - 1}) {
      EXPECT_EQ(segmentAt(segment->slot(index)), segment);
      EXPECT_EQ(segmentAt(segment->slot(index) + segment->stride() - 1), segment);
      EXPECT_EQ(segment->slotOf(segment->slot(index) + 70), index);
    }
    EXPECT_THROW(segment->slot(segment->slots()), Misuse);
  }
  int local;
  EXPECT_EQ(segmentAt(&local), nullptr);
  EXPECT_EQ(segmentAt(nullptr), nullptr);
  EXPECT_EQ(segmentAt(reinterpret_cast<void*>(~std::uintptr_t{0})), nullptr);
}

TEST_F(HostSegment, HasTokensThatGrowOverAllItsFiles) {
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto membership = Membership::in(directory.path());
    Segment& segment = membership->open({Kind::mutex, "x"});
    for (int k = 0; k < 5; ++k) {
      const std::uint64_t token = segment.fence();
      EXPECT_GT(token, last);
      last = token;
    }
    // The first round keeps the file; the later ones remove it.
    if (i > 0) std::filesystem::remove(segment.path());
  }
}

TEST_F(HostSegment, HasASafeFileForEveryName) {
  std::set<std::string> files;
  const std::string long1(300, 'a');
  const std::string long2 = long1 + "b";
  const std::string wide(80, '\x01');
  const std::vector<std::string> names{"a",
                                       "A",
                                       "a.b",
                                       "..",
                                       "/etc/passwd",
                                       "../x",
                                       "%",
                                       "a%",
                                       "~",
                                       "a b",
                                       "ä",
                                       long1,
                                       long2,
                                       wide,
                                       wide + "\x02",
                                       std::string("a\0b", 3),
                                       std::string(65536, '/')};
  const auto membership = Membership::in(directory.path());
  for (const std::string& name : names) {
    const std::string file = fileName(Kind::keyedSemaphore, name);
    EXPECT_LE(file.size(), 255U);
    EXPECT_EQ(
        file.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-_.%~"),
        std::string::npos);
    EXPECT_TRUE(files.insert(file).second) << file;
    EXPECT_EQ(kindOfFile(file), Kind::keyedSemaphore);
    Segment& segment = membership->open({Kind::keyedSemaphore, name, 64, 1});
    EXPECT_TRUE(std::filesystem::exists(segment.path()));
    EXPECT_EQ(std::filesystem::path(segment.path()).parent_path(), directory.run());
  }
  EXPECT_EQ(misuse({Kind::mutex, ""}), Fault::badArgument);
  EXPECT_EQ(misuse({Kind::mutex, std::string(65537, 'a')}), Fault::badArgument);
  EXPECT_EQ(misuse({Kind{}, "a"}), Fault::badArgument);
  EXPECT_EQ(misuse({static_cast<Kind>(99), "a"}), Fault::badArgument);
  EXPECT_EQ(misuse({Kind::keyedMutex, "a", kMaxCapacity + 1}), Fault::badArgument);
  for (const char* const other : {"members", "mutex", ".lock", "mutexx.a.lock", "new-1"}) {
    EXPECT_EQ(kindOfFile(other), Kind{}) << other;
  }
  EXPECT_EQ(kindOfFile("mutex.a.lock"), Kind::mutex);
}

TEST_F(HostSegment, KeepsItsCapacityAndItsUnits) {
  const auto membership = Membership::in(directory.path());
  membership->open({Kind::keyedMutex, "x", 128});
  membership->open({Kind::semaphore, "x", 0, 3});
  for (int open = 0; open < 2; ++open) {
    EXPECT_EQ(misuse({Kind::keyedMutex, "x", 256}), Fault::mismatch);
    EXPECT_EQ(misuse({Kind::keyedMutex, "x"}), std::nullopt);
    EXPECT_EQ(misuse({Kind::semaphore, "x", 0, 4}), Fault::mismatch);
    EXPECT_EQ(misuse({Kind::semaphore, "x", 0, 3}), std::nullopt);
  }
}

TEST_F(HostSegment, IsOpenedAgainAfterARefusedOpen) {
  misuse({Kind::semaphore, "x", 0, 3});
  const auto membership = Membership::in(directory.path());
  for (int open = 0; open < 2; ++open) {
    EXPECT_EQ(misuse({Kind::semaphore, "x", 0, 4}), Fault::mismatch);
  }
  EXPECT_EQ(misuse({Kind::semaphore, "x", 0, 3}), std::nullopt);
}

TEST_F(HostSegment, BeginsAsASemaphoreOfItsValue) {
  const auto membership = Membership::in(directory.path());
  Segment& segment = membership->open({Kind::semaphore, "x", 0, -7});
  EXPECT_EQ(segment.start(), -7);
  EXPECT_EQ(reinterpret_cast<SemaphoreSlot*>(segment.slot(0))->value.load(), -7);
}

TEST_F(HostSegment, IsMadeOnceByManyAtOnce) {
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 6; ++i) all.push_back(std::make_unique<Process>(directory.path()));
  for (auto& process : all) process->tell("join");
  std::set<std::string> processes;
  for (auto& process : all) processes.insert(process->await("slot "));
  EXPECT_EQ(processes, (std::set<std::string>{"1", "2", "3", "4", "5", "6"}));
  for (int name = 0; name < 30; ++name) {
    for (auto& process : all) process->tell("open " + std::to_string(name));
    std::set<std::string> ids;
    for (auto& process : all) ids.insert(process->await("segment "));
    EXPECT_EQ(ids.size(), 1U);
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory.run())) {
    EXPECT_EQ(entry.path().filename().string().find("new"), std::string::npos) << entry.path();
  }
}

TEST_F(HostSegment, NeverTakesThePlaceOfAnother) {
  const std::string made = directory.path() + "/made";
  const std::string there = directory.path() + "/there";
  platform::createFile(made, 2 * kPage);
  EXPECT_TRUE(platform::rename(made, there));
  EXPECT_FALSE(platform::rename(made, there));  // gone
  platform::createFile(made, kPage);
  EXPECT_FALSE(platform::rename(made, there));
  EXPECT_EQ(std::filesystem::file_size(there), 2 * kPage);
}

TEST_F(HostSegment, IsRefusedWhenItsHeaderIsInvalid) {
  const SegmentOptions options{Kind::keyedMutex, "x", 64};
  const std::string path = directory.file(options.kind, options.name);
  const auto afresh = [&] {
    std::filesystem::remove_all(path);
    ASSERT_EQ(fault(options), std::nullopt);
  };
  const auto size = planOf(Kind::keyedMutex, 64).fileSize;
  for (const std::size_t at : {offsetof(SegmentHeader, magic), offsetof(SegmentHeader, version),
                               offsetof(SegmentHeader, layout), offsetof(SegmentHeader, kind),
                               offsetof(SegmentHeader, capacity), offsetof(SegmentHeader, buckets),
                               offsetof(SegmentHeader, slots), offsetof(SegmentHeader, stride),
                               offsetof(SegmentHeader, fileSize)}) {
    for (const std::uint32_t value : {0U, 0xFFFFFFFFU, 0x80000001U, 12345U}) {
      afresh();
      patch(path, at, value);
      EXPECT_EQ(fault(options), HostFault::segment) << at << " " << value;
    }
  }
  afresh();
  patch(path, offsetof(SegmentHeader, id), 0);
  EXPECT_EQ(fault(options), HostFault::segment);
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kPage - 1},
                                     std::uint64_t{kPage}, size - 1, size + 1, 2 * size}) {
    afresh();
    std::filesystem::resize_file(path, length);
    EXPECT_EQ(fault(options), HostFault::segment) << length;
  }
  afresh();
  std::ofstream(path, std::ios::binary) << std::string(size, 'g');
  EXPECT_EQ(fault(options), HostFault::segment);
  // A file of another kind under this name.
  ASSERT_EQ(fault({Kind::keyedRWLock, "x", 64}), std::nullopt);
  std::filesystem::rename(directory.file(Kind::keyedRWLock, "x"), path);
  EXPECT_EQ(fault(options), HostFault::segment);
}

std::uint64_t allocatedAt(const std::string& path) {
  struct stat facts;
  EXPECT_EQ(stat(path.c_str(), &facts), 0);
  return static_cast<std::uint64_t>(facts.st_blocks) * 512;
}

TEST_F(HostSegment, TakesRoomForItsFirstRowsUntilItGrows) {
  const SegmentOptions options{Kind::keyedMutex, "x"};
  const std::string path = directory.file(options.kind, options.name);
  const auto membership = Membership::in(directory.path());
  Segment& segment = membership->open(options);
  const Plan& plan = segment.view().plan;
  EXPECT_EQ(segment.capacity(), 65536U);
  EXPECT_EQ(std::filesystem::file_size(path), plan.fileSize);
  EXPECT_GE(allocatedAt(path), allocatedSize(plan, kFirstRows));
  EXPECT_LT(allocatedAt(path), 3'000'000U);
  EXPECT_TRUE(segment.grow(20));
  EXPECT_EQ(segment.view().rows(), 20U);
  EXPECT_GE(allocatedAt(path), allocatedSize(plan, 20));
  EXPECT_LT(allocatedAt(path), allocatedSize(plan, 24));
  EXPECT_TRUE(segment.grow(10));
  EXPECT_EQ(segment.view().rows(), 20U);
  segment.grow(kBucketEntries);
  EXPECT_GE(allocatedAt(path), plan.fileSize);
}

TEST_F(HostSegment, HasNoHolesInUsedRows) {
  const SegmentOptions options{Kind::keyedMutex, "x"};
  const std::string path = directory.file(options.kind, options.name);
  std::uint64_t size = 0;
  {
    const auto membership = Membership::in(directory.path());
    Segment& segment = membership->open(options);
    segment.grow(16);
    size = allocatedSize(segment.view().plan, 16);
  }
  // As in a sparse copy.
  const platform::File file = platform::openFile(path);
  ASSERT_EQ(fallocate(file.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kPage,
                      static_cast<off_t>(size - kPage)),
            0);
  ASSERT_LT(allocatedAt(path), size);
  EXPECT_EQ(fault(options), std::nullopt);
  EXPECT_GE(allocatedAt(path), size);
}

TEST_F(HostSegment, DoesNotGrowAFileThatIsNotItsOwn) {
  const SegmentOptions options{Kind::keyedMutex, "x"};
  const std::string path = directory.file(options.kind, options.name);
  const auto membership = Membership::in(directory.path());
  Segment& segment = membership->open(options);
  std::filesystem::remove(path);
  EXPECT_FALSE(segment.grow(kBucketEntries));
  platform::createFile(path, kPage);
  EXPECT_FALSE(segment.grow(kBucketEntries));
  EXPECT_EQ(segment.view().rows(), kFirstRows);
  EXPECT_EQ(std::filesystem::file_size(path), kPage);
}

TEST_F(HostSegment, IsRefusedUnlessItIsAPrivateFileOfOurs) {
  const SegmentOptions options{Kind::mutex, "x"};
  const std::string path = directory.file(options.kind, options.name);
  ASSERT_EQ(fault(options), std::nullopt);
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_GE(static_cast<std::uint64_t>(facts.st_blocks) * 512, planOf(Kind::mutex, 1).fileSize);
  for (const mode_t mode : {0640, 0604, 0620, 0666}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(fault(options), HostFault::segment);
  }
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(fault(options), std::nullopt);
  const std::string other = directory.path() + "/other";
  std::filesystem::create_hard_link(path, other);
  EXPECT_EQ(fault(options), HostFault::segment);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(other, path);
  EXPECT_EQ(fault(options), HostFault::segment);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(directory.path() + "/nothing", path);
  EXPECT_EQ(fault(options), HostFault::segment);
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/nothing"));
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(fault(options), HostFault::segment);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(fault(options), HostFault::segment);
  std::filesystem::remove(path);
  if (geteuid() == 0) {
    ASSERT_EQ(fault(options), std::nullopt);
    ASSERT_EQ(chown(path.c_str(), 4711, 4711), 0);
    EXPECT_EQ(fault(options), HostFault::segment);
  }
}

TEST_F(HostSegment, LeavesNothingWhereThereIsNoRoom) {
  const std::string small = directory.path() + "/small";
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0) {
    GTEST_SKIP() << "this machine does not let us mount anything";
  }
  {
    const auto membership = Membership::in(small);
    EXPECT_EQ(hostFaultOf([&] { membership->open({Kind::keyedMutex, "x"}); }), HostFault::segment);
    membership->open({Kind::keyedMutex, "x", 1024});
    const Segment& other = membership->open({Kind::keyedMutex, "y", 8192});
    EXPECT_EQ(hostFaultOf([&] { other.grow(kBucketEntries); }), HostFault::segment);
    EXPECT_EQ(other.view().rows(), kFirstRows);
    for (const auto& entry : std::filesystem::directory_iterator(membership->path())) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("new")) << entry.path();
    }
  }
  umount2(small.c_str(), MNT_DETACH);
}

TEST_F(HostSegment, ThatIsACopyIsRefused) {
  const auto membership = Membership::in(directory.path());
  membership->open({Kind::mutex, "x"});
  std::filesystem::copy_file(directory.file(Kind::mutex, "x"), directory.file(Kind::mutex, "y"));
  const auto open = [&] { membership->open({Kind::mutex, "y"}); };
  EXPECT_EQ(hostFaultOf(open), HostFault::segment);
  std::filesystem::remove(directory.file(Kind::mutex, "y"));
  EXPECT_EQ(hostFaultOf(open), std::nullopt);
}

TEST_F(HostSegment, IsNotOpenedWithoutAWayToCleanIt) {
  setEvict(Kind::lockManager, nullptr);
  EXPECT_EQ(misuse({Kind::lockManager, "x"}), Fault::badArgument);
}

}  // namespace
}  // namespace boxoffice::host::test
