// A process that is a member of a directory of scope host: host_member <directory>. Tests give it orders and
// kill it. It reads one order per line of standard input and prints one line for each; its notifications
// appear in between.
//
// It opens tables of mutexes, and events. Their eviction only writes a line to <directory>/log. If there is a
// file <directory>/die, the first process that removes it dies during its clean-up.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "host/membership.h"
#include "platform/host_error.h"

namespace {

using namespace boxoffice::host;

std::string directory;
std::mutex outMutex;
thread_local bool opensEvent = false;  // an eviction on this thread waits for a line

void say(const std::string& line) {
  const std::lock_guard guard(outMutex);
  std::cout << line << std::endl;
}

void clean(const SegmentView& segment, ProcessSlot dead) {
  const int log =
      open((directory + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line =
      "evict " + std::to_string(dead) + " from " + std::to_string(segment.id) + "\n";
  if (write(log, line.data(), line.size()) < 0) std::abort();
  close(log);
  if (opensEvent) {
    say("evicting");
    std::string any;
    std::getline(std::cin, any);
  }
  if (unlink((directory + "/die").c_str()) == 0) raise(SIGKILL);
}

/// Prints each notification, or sends it back.
class LoopWakeup final : public SegmentListener {
 public:
  explicit LoopWakeup(Segment& segment) : segment_(segment) {}

  void notified(std::uint32_t slot) noexcept override {
    const std::uint32_t left = rounds_[slot % 128].load();
    if (echo_.load()) {
      // The slot's number is also the process slot of the recipient.
      segment_.membership().notify(static_cast<ProcessSlot>(slot), segment_.id(), slot);
    } else if (left > 1) {
      rounds_[slot % 128].store(left - 1);
      segment_.membership().notify(partner_.load(), segment_.id(), slot);
    } else {
      say("heard " + std::to_string(slot));
    }
  }
  void rescan() noexcept override { say("rescan"); }

  void echo() { echo_.store(true); }
  void play(ProcessSlot partner, std::uint32_t rounds) {
    const std::uint32_t slot = segment_.membership().process();
    partner_.store(partner);
    rounds_[slot].store(rounds);
    segment_.membership().notify(partner, segment_.id(), slot);
  }

 private:
  Segment& segment_;
  std::atomic<bool> echo_{false};
  std::atomic<ProcessSlot> partner_{kNoProcess};
  std::atomic<std::uint32_t> rounds_[128] = {};
};

class Program {
 public:
  void obey(std::istream& order) {
    std::string word;
    order >> word;
    if (word == "join") {
      membership_ = Membership::in(directory);
      say("slot " + std::to_string(membership_->process()));
    } else if (word == "open") {
      std::string name;
      order >> name;
      Segment& segment = membership_->open({Kind::keyedMutex, name, 64});
      const auto loopWakeup = listeners_.try_emplace(name, segment).first;
      membership_->setListener(segment, &loopWakeup->second);
      last_ = &loopWakeup->second;
      id_ = segment.id();
      say("segment " + std::to_string(id_));
    } else if (word == "event") {
      std::string name;
      order >> name;
      opensEvent = true;
      say("event " + std::to_string(membership_->open({Kind::autoResetEvent, name}).id()));
      opensEvent = false;
    } else if (word == "notify") {
      unsigned process = 0;
      std::uint32_t slot = 0;
      order >> process >> slot;
      membership_->notify(static_cast<ProcessSlot>(process), id_, slot);
      say("notified");
    } else if (word == "echo") {
      last_->echo();
      say("echoing");
    } else if (word == "play") {
      unsigned process = 0;
      std::uint32_t rounds = 0;
      order >> process >> rounds;
      last_->play(static_cast<ProcessSlot>(process), rounds);
      say("playing");
    } else if (word == "pid") {
      unsigned process = 0;
      order >> process;
      say("pid " + std::to_string(membership_->pidOf(static_cast<ProcessSlot>(process))));
    } else if (word == "fork") {
      bearFork();
    } else if (word == "spawn") {
      spawn();
    } else if (word == "leave") {
      membership_.reset();
      listeners_.clear();
      say("left");
    }
  }

 private:
  /// Forks a child without exec, which lives as long as its standard input is open.
  void bearFork() {
    const pid_t child = fork();
    if (child != 0) return;
    std::string text;
    try {
      membership_->check();
    } catch (const HostError& error) {
      text = error.fault() == HostFault::forked ? "forked" : error.what();
    }
    try {
      Membership::in(directory);
    } catch (const HostError& error) {
      text += error.fault() == HostFault::forked ? " forked" : error.what();
    }
    std::cout << "child " << text << std::endl;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    membership_.reset();
    _exit(0);
  }

  /// Forks and executes another program, as child_process does.
  void spawn() {
    if (fork() == 0) {
      execl("/bin/cat", "cat", nullptr);
      _exit(1);
    }
    say("spawned");
  }

  std::map<std::string, LoopWakeup> listeners_;
  std::shared_ptr<Membership> membership_;  // destroyed before listeners_
  LoopWakeup* last_ = nullptr;
  std::uint32_t id_ = 0;
};

}  // namespace

int main(int, char** arguments) {
  directory = arguments[1];
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) setEvict(static_cast<Kind>(kind), clean);
  Program program;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream order(line);
    try {
      program.obey(order);
    } catch (const std::exception& error) {
      say(std::string("error ") + error.what());
    }
  }
}
