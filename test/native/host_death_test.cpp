// Members that are killed, stopped or forked: which processes notice, and how they clean up.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "host/kill_points.h"
#include "host_support.h"

namespace boxoffice::host::test {
namespace {

using Lines = std::vector<std::string>;

TEST(HostDeath, IsHeardAndCleanedUpOnce) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  Process b(directory.path());
  Process c(directory.path());
  ASSERT_EQ(a.join(), 1);
  ASSERT_EQ(b.join(), 2);
  ASSERT_EQ(c.join(), 3);
  const std::string id = a.open("x");
  ASSERT_EQ(b.open("x"), id);
  ASSERT_EQ(c.open("x"), id);
  const std::string other = b.open("only-b");
  b.kill();
  a.await("rescan");
  c.await("rescan");
  // A process also cleans the segment that only b had open.
  Lines log = directory.log();
  std::sort(log.begin(), log.end());
  Lines expected{"evict 2 from " + id, "evict 2 from " + other};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(log, expected);
  a.awaitFree(2);
  Process d(directory.path());
  EXPECT_EQ(d.join(), 2);
}

TEST(HostDeath, OfANewProcessIsSeenByEarlierOnes) {
  countEvictions();
  const TemporaryDirectory directory;
  const auto membership = Membership::in(directory.path());
  Segment& segment = membership->open({Kind::keyedMutex, "x", 64});
  Process b(directory.path());
  ASSERT_EQ(b.join(), 2);
  b.open("x");
  EXPECT_TRUE(segment.header().users.has(2));
  b.kill();
  while (membership->pidOf(2) != 0) std::this_thread::yield();
  EXPECT_FALSE(segment.header().users.has(2));
  EXPECT_TRUE(segment.header().users.has(1));
}

std::atomic<bool> evicts;
std::atomic<bool> mayEvict;

struct CountRescans final : SegmentListener {
  void notified(std::uint32_t) noexcept override {}
  void rescan() noexcept override { ++rescans; }
  std::atomic<int> rescans{0};
};

TEST(HostDeath, IsToldAgainByAProcessThatOpensAnEventBesideTheCleaner) {
  const TemporaryDirectory directory;
  evicts = mayEvict = false;
  setEvict(Kind::autoResetEvent, [](const SegmentView&, ProcessSlot) {
    evicts = true;
    while (!mayEvict) std::this_thread::yield();
  });
  // The opener looks at the users in the order of their slots, up to the first that lives.
  Process victim(directory.path());
  ASSERT_EQ(victim.join(), 1);
  CountRescans listener;
  const auto membership = Membership::in(directory.path());
  victim.ask("event x", "event ");
  Segment& segment = membership->open({Kind::autoResetEvent, "x"});
  membership->setListener(segment, &listener);
  victim.kill();
  while (!evicts) std::this_thread::yield();
  Process opener(directory.path());
  ASSERT_EQ(opener.join(), 3);
  EXPECT_EQ(opener.ask("event x", "evicting"), "");
  mayEvict = true;
  while (membership->isMember(1) || listener.rescans == 0) std::this_thread::yield();
  // The opener may pass on an admission now, after the cleaner has notified all.
  const int before = listener.rescans;
  EXPECT_EQ(opener.ask("go on", "event "), std::to_string(segment.id()));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (listener.rescans == before && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_GT(listener.rescans, before);
  membership->setListener(segment, nullptr);
}

TEST(HostDeath, OfAProcessThatCleansUpIsCleanedUpInTurn) {
  for (int round = 0; round < 20; ++round) {
    const TemporaryDirectory directory;
    Process victim(directory.path());
    ASSERT_EQ(victim.join(), 1);
    const std::string id = victim.open("x");
    std::vector<std::unique_ptr<Process>> others;
    for (int i = 0; i < 3; ++i) {
      others.push_back(std::make_unique<Process>(directory.path()));
      ASSERT_EQ(others.back()->join(), i + 2);
      ASSERT_EQ(others.back()->open("x"), id);
    }
    std::ofstream(directory.path() + "/die").close();
    victim.kill();
    // One of them dies while it cleans up; the other two are notified of both deaths.
    int gone = 0;
    for (auto& other : others) {
      const bool lives = other->await("rescan") != "(gone)";
      if (!lives) ++gone;
    }
    EXPECT_EQ(gone, 1);
    directory.awaitLog(3);
    int ofVictim = 0;
    int ofCleaner = 0;
    for (const std::string& line : directory.log()) {
      (line == "evict 1 from " + id ? ofVictim : ofCleaner) += 1;
    }
    EXPECT_EQ(ofVictim, 2);  // once by the process that died during the clean-up
    EXPECT_EQ(ofCleaner, 1);
    Process next(directory.path());
    EXPECT_NE(next.join(), 0);
  }
}

/// Has a process die at this step of joining, of opening a segment, or of cleaning up after another process
/// or itself. Returns whether it reached the step.
bool dieAt(int step, const TemporaryDirectory& directory, bool beforeOthers) {
  Process witness(directory.path());
  if (!beforeOthers) witness.join();
  Process victim(directory.path());
  EXPECT_NE(victim.join(), 0);
  victim.open("x");
  if (beforeOthers) {
    victim.kill();
    victim.wait();
  }
  Process doomed(directory.path(), {"env", "BOXOFFICE_KILL=" + std::to_string(step)});
  doomed.join();
  doomed.open("y");
  if (!beforeOthers) victim.kill();
  const bool died = doomed.ask("leave", "left") == "(gone)";
  doomed.kill();
  doomed.wait();
  if (beforeOthers) witness.join();
  // The witness cleans up after both, and can open the segments that they were creating.
  EXPECT_NE(witness.open("x"), "(gone)");
  EXPECT_EQ(witness.open("y").find("error"), std::string::npos);
  EXPECT_EQ(witness.open("z").find("error"), std::string::npos);
  for (int process = 1; process <= 4; ++process) {
    if (witness.ask("pid " + std::to_string(process), "pid ") != std::to_string(witness.pid())) {
      witness.awaitFree(process);
    }
  }
  EXPECT_FALSE(directory.log().empty());
  return died;
}

TEST(HostDeath, AtAnyStepIsDealtWith) {
  for (int step = kSlotLocked; step < kMembershipStepsEnd; ++step) {
    SCOPED_TRACE(step);
    const TemporaryDirectory one;
    const TemporaryDirectory another;
    const bool after = dieAt(step, one, false);
    EXPECT_TRUE(dieAt(step, another, true) || after);
  }
}

TEST(HostDeath, OfANotifierBeforeItsByteKeepsNoOtherFromWakingTheSameProcess) {
  int deaths = 0;
  for (int round = 0; round < 20; ++round) {
    const TemporaryDirectory directory;
    Process a(directory.path());
    Process b(directory.path());
    ASSERT_EQ(a.join(), 1);
    a.open("x");
    ASSERT_EQ(b.join(), 2);
    b.open("x");
    // The process dies while it notifies the first member, if that member sleeps by then, that it has joined.
    // The first member then does not learn of this death.
    Process doomed(directory.path(), {"env", "BOXOFFICE_KILL=" + std::to_string(kByteDue)});
    deaths += doomed.join() == 0 ? 1 : 0;
    doomed.kill();
    doomed.wait();
    EXPECT_EQ(b.ask("notify 1 5", "notified"), "");
    // If it has learnt of the death after all, it may rescan instead.
    const std::string heard = a.await("");
    EXPECT_TRUE(heard == "heard 5" || heard == "rescan") << heard;
  }
  EXPECT_GT(deaths, 0);
}

TEST(HostDeath, OfAllIsCleanedUpByTheNext) {
  const TemporaryDirectory directory;
  std::string id;
  {
    Process a(directory.path());
    Process b(directory.path());
    ASSERT_EQ(a.join(), 1);
    ASSERT_EQ(b.join(), 2);
    id = a.open("x");
    b.open("x");
    // Both are stopped, so neither is notified of the other's death.
    a.stop();
    b.stop();
    a.kill();
    b.kill();
    a.wait();
    b.wait();
  }
  EXPECT_EQ(directory.log(), Lines{});
  Process c(directory.path());
  EXPECT_EQ(c.join(), 1);
  // c cleaned up after the first before it joined; the kernel reports the second death at once.
  EXPECT_EQ(c.open("x"), id);
  directory.awaitLog(2);
  EXPECT_EQ(directory.log(), (Lines{"evict 1 from " + id, "evict 2 from " + id}));
}

TEST(HostDeath, IsNotBeingStopped) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  Process b(directory.path());
  ASSERT_EQ(a.join(), 1);
  ASSERT_EQ(b.join(), 2);
  a.open("x");
  b.open("x");
  a.stop();
  {
    Process c(directory.path());
    EXPECT_EQ(c.join(), 3);
    c.open("x");
    EXPECT_EQ(c.ask("leave", "left"), "");
  }
  EXPECT_EQ(b.ask("notify 1 5", "notified"), "");
  for (const std::string& line : directory.log()) EXPECT_TRUE(line.starts_with("evict 3 ")) << line;
  a.kill(SIGCONT);
  EXPECT_EQ(a.await("rescan"),
            "");  // c has left meanwhile; the rescan also covers 5
  EXPECT_EQ(b.ask("notify 1 6", "notified"), "");
  std::string notified = a.await("heard ");
  // It also reports 5 if it was stopped while it read its mailbox.
  if (notified == "5") notified = a.await("heard ");
  EXPECT_EQ(notified, "6");
}

TEST(HostDeath, IsHeardThoughABareForkLivesOn) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  Process b(directory.path());
  ASSERT_EQ(a.join(), 1);
  ASSERT_EQ(b.join(), 2);
  a.open("x");
  b.open("x");
  EXPECT_EQ(a.ask("fork", "child "), "forked forked");
  // The parent is still a member, and receives notifications.
  EXPECT_EQ(b.ask("notify 1 3", "notified"), "");
  EXPECT_EQ(a.await("heard "), "3");
  EXPECT_EQ(directory.log(), Lines{});
  a.kill();
  EXPECT_EQ(b.await("rescan"), "");
  EXPECT_EQ(directory.log().size(), 1U);
}

TEST(HostDeath, IsHeardThoughAChildWithItsOwnProgramLivesOn) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  Process b(directory.path());
  ASSERT_EQ(a.join(), 1);
  ASSERT_EQ(b.join(), 2);
  a.open("x");
  b.open("x");
  EXPECT_EQ(a.ask("spawn", "spawned"), "");
  a.kill();
  EXPECT_EQ(b.await("rescan"), "");
  EXPECT_EQ(directory.log().size(), 1U);
}

TEST(HostDeath, AcrossPidNamespaces) {
  if (std::system("unshare --pid --fork --kill-child true 2>/dev/null") != 0) {
    GTEST_SKIP() << "this machine does not let us make pid namespaces";
  }
  const TemporaryDirectory directory;
  Process a(directory.path());
  Process b(directory.path(), {"unshare", "--pid", "--fork", "--kill-child"});
  Process c(directory.path(), {"unshare", "--pid", "--fork", "--kill-child"});
  ASSERT_EQ(a.join(), 1);
  ASSERT_EQ(b.join(), 2);
  ASSERT_EQ(c.join(), 3);
  const std::string id = a.open("x");
  EXPECT_EQ(b.open("x"), id);
  EXPECT_EQ(c.open("x"), id);
  // Both have pid 1 in their namespaces, yet count as two processes.
  EXPECT_EQ(a.ask("pid 2", "pid "), "1");
  EXPECT_EQ(a.ask("pid 3", "pid "), "1");
  EXPECT_EQ(b.ask("notify 3 7", "notified"), "");
  EXPECT_EQ(c.await("heard "), "7");
  b.kill();
  EXPECT_EQ(a.await("rescan"), "");
  EXPECT_EQ(directory.log(), Lines{"evict 2 from " + id});
  EXPECT_EQ(c.ask("notify 1 9", "notified"), "");
  EXPECT_EQ(a.await("heard "), "9");
}

}  // namespace
}  // namespace boxoffice::host::test
