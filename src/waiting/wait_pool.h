// Our own few threads, for what only a blocked thread can wait for: the bell of another process, or
// its death. A waiter in a queue never needs one.
//
// A job:
//              submit                  a thread takes it                run returns
//   (yours) ───────────▶ queued ────────────────────────▶ running ───────────────────▶ dropped
//      │                    in order of submission            ▲
//      └▶ refused: false once stop() has begun                └ interrupt, once, at stop()
//
// A thread:
//             submit           takes a job
//   (none) ───────────▶ free ──────────────▶ busy        leaves, when it has been free for `idle`,
//                        │ ▲                  │          or at stop(), and always with nothing
//                        │ └──────────────────┘          queued
//                        │        the job is done
//                        └▶ left: joined by the next one that leaves, or by stop()
//
// Invariants, whenever mutex_ is free:
//   - queue_.size() <= free_, or workers_.size() == limit_: no job waits for others while a thread
//     of its own could be had. Threads leave only when nothing is queued.
//   - ended_ is the thread that left last, and whichever left before it is joined by it: at most one
//     is dead and not joined. A thread that has left does not take mutex_ again.
//   - a worker's job is the one it runs: stop() interrupts those that run then, and a worker those
//     that it takes afterwards; so each is interrupted once, and none is left out.
// No job is lost, and none runs twice: what submit took runs exactly once, stop() or not. The call of
// submit happens before the run, and the run before the return of stop().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace boxoffice {

class WaitPool {
 public:
  /// Something to wait for, and how to break off waiting. Called outside every lock of the pool, so
  /// both may call it: submit() always, stop() never.
  class Job {
   public:
    /// Waits; on a thread of the pool. Whatever it throws ends the process in std::terminate, with
    /// the exception's message: nobody is there to catch it, and a wait that is over without anybody
    /// having been told would be a lock that hangs.
    virtual void run() noexcept = 0;

    /// Makes run() return soon. Called at most once, by stop(), from any thread, at any time from
    /// just before run() begins until just after it has returned: it must be remembered, as a
    /// semaphore remembers a signal.
    virtual void interrupt() noexcept = 0;

   protected:
    ~Job() = default;
  };

  /// The name of its threads.
  static constexpr const char* kThreadName = "boxoffice wait";

  /// At most `limit` threads, none yet; each ends when it has had no job for `idle`.
  /// Misuse(badArgument) when `limit` is 0. Not for a static object: on Windows, all other threads
  /// are gone before those are destroyed, and stop() would wait for them.
  WaitPool(std::size_t limit, std::chrono::nanoseconds idle);
  /// Stops.
  ~WaitPool() { stop(); }
  WaitPool(const WaitPool&) = delete;
  WaitPool& operator=(const WaitPool&) = delete;

  /// Runs the job, after those submitted before it when all threads are busy; each job is submitted
  /// once. False when the pool has been told to stop; then the job never runs. Throws std::system_error when it needs a
  /// thread and there is none to be had, std::bad_alloc, Misuse(badArgument) for no job; then the
  /// job never runs, either.
  bool submit(std::shared_ptr<Job> job);

  /// For good: takes no more jobs, interrupts those that run, runs those that are queued, interrupted
  /// before they begin, and returns when all are done and all threads joined. May be called again,
  /// and by several threads at once; by a job it is Misuse(badArgument). Throws std::bad_alloc, and
  /// then nothing has changed.
  void stop();

  /// For tests and statistics: what was true a moment ago.
  std::size_t threads() const;
  std::size_t idle() const;    ///< of these, without a job
  std::size_t queued() const;  ///< jobs that no thread has taken

 private:
  struct Worker {
    std::thread thread;
    std::weak_ptr<Job> job;  // weak, so that the job ends with its run, and not under mutex_
  };
  using Workers = std::list<Worker>;
  using Lock = std::unique_lock<std::mutex>;

  void start();
  void work(Workers::iterator self);
  bool awaitJob(Lock& lock);
  void runNext(Worker& self, Lock& lock);
  void leave(Workers::iterator self, Lock& lock);
  std::vector<std::shared_ptr<Job>> close();

  const std::size_t limit_;
  const std::chrono::nanoseconds idle_;

  mutable std::mutex mutex_;         // guards all that follows
  std::condition_variable work_;     // something is queued, or stopping_
  std::condition_variable allLeft_;  // workers_ is empty
  std::deque<std::shared_ptr<Job>> queue_;
  Workers workers_;
  std::size_t free_ = 0;  // of workers_: those without a job, from their start on
  std::thread ended_;
  bool stopping_ = false;
};

}  // namespace boxoffice
