// Members of a directory: process slots, wake-ups, the directory itself.

#include <poll.h>

#include <fstream>
#include <memory>
#include <semaphore>

#include "host/members.h"
#include "host_support.h"
#include "platform/wakeups.h"

namespace boxoffice::host::test {
namespace {

TEST(Membership, IsOnePerDirectoryAndProcess) {
  countEvictions();
  const TemporaryDirectory directory;
  const TemporaryDirectory another;
  const auto membership = Membership::in(directory.path());
  EXPECT_EQ(Membership::in(directory.path() + "/"), membership);
  EXPECT_NE(Membership::in(another.path()), membership);
  EXPECT_EQ(membership->process(), 1);
  EXPECT_EQ(membership->pidOf(1), static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(membership->pidOf(2), 0U);
  membership->check();
}

TEST(Membership, GivesItsProcessSlotBackWhenItIsLeft) {
  countEvictions();
  const TemporaryDirectory directory;
  Process b(directory.path());
  {
    const auto membership = Membership::in(directory.path());
    membership->open({Kind::mutex, "x"});
    EXPECT_EQ(b.join(), 2);
    b.open("x");
    evictions = 0;
  }
  EXPECT_EQ(evictions, 1);  // of our own process slot, in the one segment that was open
  EXPECT_EQ(b.await("rescan"), "");
  b.awaitFree(1);
  EXPECT_EQ(Membership::in(directory.path())->process(), 1);
}

TEST(Membership, ANotificationReachesTheProcessItIsFor) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  Process b(directory.path());
  ASSERT_EQ(a.join(), 1);
  const std::string id = a.open("x");
  ASSERT_EQ(b.join(), 2);
  ASSERT_EQ(b.open("x"), id);
  // The first member may not have seen the new one yet.
  EXPECT_EQ(a.ask("notify 2 7", "notified"), "");
  EXPECT_EQ(b.await("heard "), "7");
  EXPECT_EQ(b.ask("notify 1 0", "notified"), "");
  EXPECT_EQ(a.await("heard "), "0");
  EXPECT_EQ(b.ask("notify 2 5", "notified"), "");
  EXPECT_EQ(b.await("heard "), "5");
  // An unused process slot; an invalid slot; an invalid process slot.
  EXPECT_EQ(b.ask("notify 3 5", "notified"), "");
  EXPECT_EQ(b.ask("notify 1 4000000", "notified"), "");
  EXPECT_EQ(b.ask("notify 0 5", "notified"), "");
  EXPECT_EQ(b.ask("notify 1 6", "notified"), "");
  EXPECT_EQ(a.await("heard "), "6");
}

/// Records the slot of each notification, and blocks its caller until the test releases `go`.
struct BusyListener final : SegmentListener {
  void notified(std::uint32_t slot) noexcept override {
    last = slot;
    entered.release();
    go.acquire();
  }
  void rescan() noexcept override {}

  std::uint32_t last = 0;
  std::binary_semaphore entered{0};
  std::binary_semaphore go{0};
};

TEST(Membership, HelpDoesNotWaitForTheWakeUpThread) {
  countEvictions();
  const TemporaryDirectory directory;
  const auto membership = Membership::in(directory.path());
  Segment& one = membership->open({Kind::mutex, "one"});
  Segment& two = membership->open({Kind::mutex, "two"});
  BusyListener busy;
  BusyListener helped;
  membership->setListener(one, &busy);
  membership->setListener(two, &helped);
  membership->notify(membership->process(), one.id(), 0);
  busy.entered.acquire();
  membership->notify(membership->process(), two.id(), 0);
  helped.go.release();
  membership->help();
  EXPECT_TRUE(helped.entered.try_acquire());
  busy.go.release();
  membership->setListener(one, nullptr);
  membership->setListener(two, nullptr);
}

TEST(Membership, ALoopWakeupReportsEachByteOnceAndTakesNone) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/fifo";
  const platform::FifoEnd fifo = platform::openFifo(path);
  platform::LoopWakeup loopWakeup(fifo);
  platform::LoopWakeup another(fifo);
  ASSERT_TRUE(loopWakeup);
  const auto hears = [](const platform::LoopWakeup& each) {
    pollfd wanted = {.fd = each.number(), .events = POLLIN, .revents = 0};
    return poll(&wanted, 1, 0) == 1;
  };
  EXPECT_FALSE(hears(loopWakeup));
  for (int round = 0; round < 3; ++round) {
    platform::send(fifo);  // the earlier bytes are still unread
    EXPECT_TRUE(hears(loopWakeup));
    EXPECT_TRUE(hears(another));
    loopWakeup.forget();
    EXPECT_FALSE(hears(loopWakeup));
    another.forget();
  }
  platform::send(fifo);
  platform::drain(fifo);
  EXPECT_FALSE(hears(loopWakeup));
  loopWakeup.forget();
  platform::send(fifo);
  EXPECT_TRUE(hears(loopWakeup));
}

TEST(Membership, NoNotificationIsLostUnderLoad) {
  const TemporaryDirectory directory;
  Process echo(directory.path());
  ASSERT_EQ(echo.join(), 1);
  echo.open("x");
  ASSERT_EQ(echo.ask("echo", "echoing"), "");
  std::vector<std::unique_ptr<Process>> players;
  for (int process = 2; process <= 4; ++process) {
    players.push_back(std::make_unique<Process>(directory.path()));
    ASSERT_EQ(players.back()->join(), process);
    players.back()->open("x");
  }
  // Each player waits for an answer before its next notify: a lost one stops the test.
  for (auto& player : players) ASSERT_EQ(player->ask("play 1 5000", "playing"), "");
  for (int process = 2; process <= 4; ++process) {
    EXPECT_EQ(players[static_cast<std::size_t>(process - 2)]->await("heard "),
              std::to_string(process));
  }
}

TEST(Membership, HasRoomFor127Processes) {
  countEvictions();
  const TemporaryDirectory directory;
  std::vector<platform::FifoEnd> others;
  { const auto made = Membership::in(directory.path()); }
  for (int process = 1; process <= kMaxProcess; ++process) {
    others.push_back(platform::openFifo(directory.run() + "/fifo-" + std::to_string(process)));
    ASSERT_TRUE(platform::tryLock(others.back()));
  }
  EXPECT_EQ(hostFaultOf([&] { Membership::in(directory.path()); }), HostFault::capacity);
  others.back().close();
  EXPECT_EQ(Membership::in(directory.path())->process(), kMaxProcess);
}

TEST(Membership, LeavesOtherSlotsWhenItCannotJoin) {
  countEvictions();
  const TemporaryDirectory directory;
  Process a(directory.path());
  ASSERT_EQ(a.join(), 1);
  a.open("x");
  std::ofstream(directory.run() + "/fifo-2").close();
  evictions = 0;
  EXPECT_EQ(hostFaultOf([&] { Membership::in(directory.path()); }), HostFault::segment);
  EXPECT_EQ(evictions, 0);
  EXPECT_EQ(a.ask("pid 1", "pid "), std::to_string(a.pid()));
}

TEST(Membership, AnotherFifoInTheSamePlaceSaysNothingAboutALife) {
  const TemporaryDirectory directory;
  Process a(directory.path());
  ASSERT_EQ(a.join(), 1);
  a.open("x");
  unlink((directory.run() + "/fifo-1").c_str());
  Process b(directory.path());
  EXPECT_EQ(b.join(), 2);
  EXPECT_TRUE(directory.log().empty());
}

TEST(Membership, IsWhereTheEnvironmentSays) {
  countEvictions();
  const TemporaryDirectory directory;
  setenv("BOXOFFICE_DIRECTORY", directory.path().c_str(), 1);
  EXPECT_EQ(Membership::in("")->directory(), directory.path());
  unsetenv("BOXOFFICE_DIRECTORY");
  EXPECT_EQ(platform::defaultDirectory(), "/dev/shm/boxoffice-" + std::to_string(geteuid()));
}

TEST(Membership, RefusesARelativeDirectory) {
  for (const char* const given : {"locks", "./locks"}) {
    setenv("BOXOFFICE_DIRECTORY", given, 1);
    EXPECT_EQ(hostFaultOf([&] { Membership::in(""); }), HostFault::segment);
    unsetenv("BOXOFFICE_DIRECTORY");
    EXPECT_EQ(hostFaultOf([&] { Membership::in(given); }), HostFault::segment);
  }
}

TEST(Membership, BeginsAnewWhenTheMachineHas) {
  countEvictions();
  const TemporaryDirectory directory;
  const std::string former = directory.path() + "/0123456789abcdef0123456789abcdef";
  const std::string foreign = directory.path() + "/0123456789abcdef0123456789abcdeg";
  const std::string unmarked = directory.path() + "/0cc175b9c0f1b6a831c399e269772661";
  for (const std::string& path : {former, foreign, unmarked}) {
    std::filesystem::create_directory(path);
    std::ofstream(path + "/" + fileName(Kind::mutex, "x")) << "something";
  }
  for (const std::string& path : {former, foreign}) Members made(path);
  std::ofstream(unmarked + "/members") << "something";
  EXPECT_EQ(Membership::in(directory.path())->process(), 1);
  EXPECT_FALSE(std::filesystem::exists(former));
  for (const std::string& path : {foreign, unmarked}) {
    EXPECT_TRUE(std::filesystem::exists(path + "/members"));
    EXPECT_TRUE(std::filesystem::exists(path + "/" + fileName(Kind::mutex, "x")));
  }
}

TEST(Membership, TakesADirectoryThatIsOursAlone) {
  countEvictions();
  const TemporaryDirectory outer;
  const std::string path = outer.path() + "/locks";
  const auto fault = [&path] { return hostFaultOf([&path] { Membership::in(path); }); };
  EXPECT_EQ(fault(), std::nullopt);
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700U);

  ASSERT_EQ(chmod(path.c_str(), 0755), 0);  // other users may read it
  EXPECT_EQ(fault(), std::nullopt);
  for (const mode_t mode : {0720, 0702}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(fault(), HostFault::segment);
  }
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  std::filesystem::rename(path, path + "2");
  std::filesystem::create_directory_symlink(path + "2", path);
  EXPECT_EQ(fault(), HostFault::segment);
  std::filesystem::remove(path);
  std::ofstream(path) << "a file";
  EXPECT_EQ(fault(), HostFault::segment);
  EXPECT_EQ(hostFaultOf([&] { Membership::in(outer.path() + "/no/such"); }), HostFault::segment);
  if (geteuid() == 0) {
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    ASSERT_EQ(chown(path.c_str(), 4711, 4711), 0);
    EXPECT_EQ(fault(), HostFault::segment);
  }
}

TEST(Membership, RefusesMembersThatAreNone) {
  countEvictions();
  const TemporaryDirectory directory;
  { const auto made = Membership::in(directory.path()); }
  const std::string path = directory.run() + "/members";
  const auto fault = [&] { return hostFaultOf([&] { Membership::in(directory.path()); }); };
  const auto patch = [&](std::streamoff at, char value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(value);
  };
  EXPECT_EQ(fault(), std::nullopt);
  patch(0, 'X');
  EXPECT_EQ(fault(), HostFault::segment);
  std::filesystem::remove(path);
  EXPECT_EQ(fault(), std::nullopt);
  patch(offsetof(MembersHeader, layout), 'X');
  EXPECT_EQ(fault(), HostFault::segment);
  std::filesystem::resize_file(path, sizeof(MembersFile) - 1);
  EXPECT_EQ(fault(), HostFault::segment);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(fault(), HostFault::segment);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(fault(), HostFault::segment);
  std::filesystem::remove(path);
  std::filesystem::remove(directory.run() + "/fifo-1");
  std::ofstream(directory.run() + "/fifo-1").close();
  EXPECT_EQ(fault(), HostFault::segment);
}

}  // namespace
}  // namespace boxoffice::host::test
