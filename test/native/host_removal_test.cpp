// Files that are removed while processes use them: the processes keep using their open segments, and are
// told of the removal.

#include <atomic>
#include <fstream>
#include <memory>

#include "host/members.h"
#include "host_support.h"

namespace boxoffice::host::test {
namespace {

constexpr const char* kRemoved = "have been removed while processes used them";

/// Two members with one segment open.
struct Pair {
  Pair() {
    EXPECT_EQ(a.join(), 1);
    id = a.open("x");
    EXPECT_EQ(b.join(), 2);
    EXPECT_EQ(b.open("x"), id);
    awaitWatch(a, 2);
    awaitWatch(b, 1);
  }
  /// Waits until `process` watches that process slot's death: it has the slot's FIFO open.
  void awaitWatch(const Process& process, int slot) const {
    const std::string fifo = directory.run() + "/fifo-" + std::to_string(slot);
    const std::string open = "/proc/" + std::to_string(process.pid()) + "/fd";
    for (;;) {
      for (const auto& one : std::filesystem::directory_iterator(open)) {
        std::error_code gone;  // the process opens and closes other files meanwhile
        if (std::filesystem::read_symlink(one.path(), gone) == fifo) return;
      }
    }
  }
  /// Waits until the second member is told of the removal, and checks that it opens no further segment.
  void awaitTold() {
    EXPECT_EQ(b.await("rescan"), "");
    EXPECT_NE(b.ask("open y", "segment ").find(kRemoved), std::string::npos);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto& one : std::filesystem::directory_iterator(directory.run())) {
      all.push_back(one.path().filename());
    }
    return all;
  }

  const TemporaryDirectory directory;
  Process a{directory.path()};
  Process b{directory.path()};
  std::string id;
};

TEST(HostRemoval, OfAllFilesIsToldAndTheDeadAreCleanedUp) {
  for (int round = 0; round < 20; ++round) {
    Pair pair;
    std::filesystem::remove_all(pair.directory.run());
    pair.awaitTold();
    pair.a.kill();
    pair.directory.awaitLog(1);
    EXPECT_EQ(pair.directory.log().front(), "evict 1 from " + pair.id);
    EXPECT_EQ(pair.b.await("rescan"), "");
  }
}

TEST(HostRemoval, OfAllFilesLeavesADeathThatIsSeenAtTheSameTime) {
  for (int round = 0; round < 20; ++round) {
    Pair pair;
    pair.b.stop();
    std::filesystem::remove_all(pair.directory.run());
    pair.a.kill();
    pair.a.wait();
    pair.b.kill(SIGCONT);
    pair.directory.awaitLog(1);
    EXPECT_EQ(pair.directory.log().front(), "evict 1 from " + pair.id);
    pair.awaitTold();
  }
}

TEST(HostRemoval, DoesNotTouchNewFilesInTheSamePlace) {
  Pair pair;
  pair.b.stop();
  std::filesystem::remove_all(pair.directory.run());
  Process c(pair.directory.path());
  ASSERT_EQ(c.join(), 1);  // the process slot that the first member has in the removed directory
  const std::string id = c.open("x");
  EXPECT_NE(id, pair.id);
  c.open("y");
  pair.a.kill();
  pair.b.kill(SIGCONT);
  pair.awaitTold();
  pair.directory.awaitLog(1);
  // The first member's death is cleaned up in the removed files only: c has the same process slot in the new
  // ones.
  EXPECT_EQ(pair.directory.log(), std::vector<std::string>{"evict 1 from " + pair.id});
  Process d(pair.directory.path());
  ASSERT_EQ(d.join(), 2);
  EXPECT_EQ(d.open("x"), id);
  c.kill();
  EXPECT_EQ(d.await("rescan"), "");
}

TEST(HostRemoval, OfAnyFileThatIsNeededIsTold) {
  for (const std::string& name : Pair().files()) {
    SCOPED_TRACE(name);
    Pair pair;
    ASSERT_TRUE(std::filesystem::remove(pair.directory.run() + "/" + name));
    if (name.ends_with(kSegmentSuffix)) {
      // This removes one lock; the others are unaffected.
      EXPECT_EQ(pair.b.await("rescan"), "");
      EXPECT_NE(pair.b.ask("open x", "segment ").find("removed while"), std::string::npos);
      EXPECT_EQ(pair.b.open("y"), pair.a.open("y"));
      continue;
    }
    pair.awaitTold();
    // A newcomer is refused, since it could not be notified of every death.
    Process c(pair.directory.path());
    EXPECT_NE(c.join(), 0);
    EXPECT_NE(c.open("x").find("removed"), std::string::npos);
  }
}

TEST(HostRemoval, OfADirectoryRefusesItToAProcessThatHadIt) {
  countEvictions();
  for (const bool isInner : {true, false}) {
    const TemporaryDirectory outer;
    const std::string path = outer.path() + "/locks";
    auto membership = Membership::in(path);
    std::filesystem::rename(isInner ? membership->path() : path, outer.path() + "/gone");
    EXPECT_EQ(hostFaultOf([&] { Membership::in(path); }), HostFault::segment);
    EXPECT_EQ(hostFaultOf([&] { membership->open({Kind::mutex, "x"}); }), HostFault::segment);
    EXPECT_TRUE(membership->isGone());
    membership.reset();
    EXPECT_FALSE(Membership::in(path)->isGone());
  }
}

TEST(HostRemoval, OfAFileThatIsNotInUseMakesANewOne) {
  countEvictions();
  const TemporaryDirectory directory;
  const auto membership = Membership::in(directory.path());
  Segment& first = membership->open({Kind::mutex, "x"});
  const std::uint32_t id = first.id();
  std::filesystem::remove(directory.file(Kind::mutex, "x"));
  Segment& second = membership->open({Kind::mutex, "x"});
  EXPECT_NE(second.id(), id);
  EXPECT_TRUE(first.isGone());
  EXPECT_FALSE(second.isGone());
  EXPECT_EQ(&membership->open({Kind::mutex, "x"}), &second);
}

TEST(HostRemoval, IsToldWhereTheProcessThatWroteItDownDiedBeforeItTold) {
  for (const bool isOfOneLock : {true, false}) {
    Pair pair;
    const std::string path = pair.directory.file(Kind::keyedMutex, "x");
    if (isOfOneLock) {
      const platform::File file = platform::openFile(path);
      std::byte* const memory = platform::map(file, sizeof(SegmentHeader), path);
      reinterpret_cast<SegmentHeader*>(memory)->gone.store(1);
      platform::unmap(memory, sizeof(SegmentHeader));
      std::filesystem::remove(path);
      EXPECT_EQ(pair.b.await("rescan"), "");
    } else {
      Members(pair.directory.run()).setGone();
      std::filesystem::remove_all(pair.directory.run());
      pair.awaitTold();
    }
  }
}

/// A listener that waits for a rescan.
class Listening final : public SegmentListener {
 public:
  void notified(std::uint32_t) noexcept override {}
  void rescan() noexcept override {
    isTold_.store(true);
    isTold_.notify_all();
  }
  void await() const { isTold_.wait(false); }

 private:
  std::atomic<bool> isTold_{false};
};

TEST(HostRemoval, IsToldToAListenerThatComesAfterTheOthersWereTold) {
  countEvictions();
  const TemporaryDirectory outer;
  const std::string path = outer.path() + "/locks";
  const auto membership = Membership::in(path);
  Segment& late = membership->open({Kind::mutex, "late"});
  Segment& early = membership->open({Kind::mutex, "early"});
  Listening first;
  Listening second;
  membership->setListener(early, &first);
  std::filesystem::rename(path, outer.path() + "/gone");
  first.await();
  membership->setListener(late, &second);
  second.await();
  membership->setListener(early, nullptr);
  membership->setListener(late, nullptr);
}

TEST(HostRemoval, OfFilesOfFormerProcessesIsNone) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  ASSERT_EQ(a.join(), 1);
  a.open("x");
  EXPECT_EQ(a.ask("leave", "left"), "");
  std::filesystem::remove(directory.file(Kind::keyedMutex, "x"));
  Process b(directory.path());
  EXPECT_EQ(b.join(), 1);
  EXPECT_EQ(b.open("x").find("error"), std::string::npos);
}

}  // namespace
}  // namespace boxoffice::host::test
