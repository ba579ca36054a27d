// Shared by the tests of scope host on POSIX systems: processes that obey orders (host_member.cpp).
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/membership.h"
#include "host/names.h"
#include "host/segment.h"
#include "host_fault.h"
#include "platform/files.h"
#include "platform/host_error.h"
#include "temporary_directory.h"

namespace boxoffice::host::test {

/// A child process (host_member.cpp); join() makes it a member.
class Process {
 public:
  explicit Process(const std::string& directory, std::vector<std::string> before = {}) {
    int in[2];
    int out[2];
    if (pipe(in) != 0 || pipe(out) != 0) std::abort();
    for (const int end : {in[0], in[1], out[0], out[1]}) fcntl(end, F_SETFD, FD_CLOEXEC);
    before.insert(before.end(), {BOXOFFICE_MEMBER, directory});
    std::vector<char*> arguments;
    for (std::string& argument : before) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    signal(SIGPIPE, SIG_IGN);  // an order to a dead process must not kill the test
    pid_ = fork();
    if (pid_ == 0) {
      signal(SIGPIPE, SIG_DFL);
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    orders_ = fdopen(in[1], "w");
    answers_ = fdopen(out[0], "r");
  }
  ~Process() {
    fclose(orders_);
    fclose(answers_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }

  void tell(const std::string& order) {
    std::fprintf(orders_, "%s\n", order.c_str());
    std::fflush(orders_);
  }

  /// Waits for the next unread line with this beginning, and returns the rest of it; "(gone)" if the process
  /// ends without one. Other lines stay unread, since notifications appear between the answers.
  std::string await(const std::string& beginning) {
    for (auto line = lines_.begin();; ++line) {
      if (line == lines_.end()) {
        std::optional<std::string> next = nextLine();
        if (!next) return "(gone)";
        line = lines_.insert(line, *next);
      }
      if (!line->starts_with(beginning) && !line->starts_with("error")) continue;
      const std::string found = line->starts_with("error") ? *line : line->substr(beginning.size());
      lines_.erase(line);
      return found;
    }
  }

  std::string ask(const std::string& order, const std::string& beginning) {
    tell(order);
    return await(beginning);
  }

  /// Makes the process a member, and returns its process slot.
  int join() { return std::atoi(ask("join", "slot ").c_str()); }
  std::string open(const std::string& name) { return ask("open " + name, "segment "); }

  /// Waits until this process sees process slot `process` free.
  void awaitFree(int process) {
    while (ask("pid " + std::to_string(process), "pid ") != "0") std::this_thread::yield();
  }

  void kill(int signal = SIGKILL) { ::kill(pid_, signal); }
  /// Stops the process, and waits until all its threads have stopped.
  void stop() {
    kill(SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  /// Waits until the process has ended.
  void wait() { waitpid(std::exchange(pid_, 0), nullptr, 0); }

 private:
  std::optional<std::string> nextLine() {
    char* line = nullptr;
    std::size_t room = 0;
    const ssize_t length = getline(&line, &room, answers_);
    std::optional<std::string> text;
    if (length > 0) text.emplace(line, static_cast<std::size_t>(length) - 1);
    std::free(line);
    return text;
  }

  pid_t pid_;
  FILE* orders_;
  FILE* answers_;
  std::list<std::string> lines_;
};

/// Makes the eviction of every kind of segment only count its calls.
inline int evictions = 0;
inline void countEvictions() {
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) {
    setEvict(static_cast<Kind>(kind), [](const SegmentView&, ProcessSlot) { ++evictions; });
  }
}

}  // namespace boxoffice::host::test
