// The library's own few threads, for what only a blocked thread can wait for: a wake-up by another process,
// or its death. A waiter in a queue never needs one.
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
//   - queue_.size() <= free_, or workers_.size() == limit_: no job waits for another while it could have a
//     thread of its own. Threads leave only when nothing is queued.
//   - ended_ is the thread that left last, and it joins the one that left before it. So at most one thread
//     has ended and is not joined. A thread that has left does not take mutex_ again.
//   - A worker's job is the one it runs. stop() interrupts the jobs that run then, and a worker interrupts
//     the jobs that it takes afterwards. So each job is interrupted once, and none is left out.
// No job is lost, and none runs twice: a submitted job runs exactly once, with stop() or without. The call
// of submit happens before the run, and the run before the return of stop().
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
  /// A blocking wait, and how to interrupt it. Called outside every lock of the pool: both functions may call
  /// submit(), but not stop().
  class Job {
   public:
    /// Waits, on a thread of the pool. An exception ends the process in std::terminate, with its message:
    /// there is no caller to catch it, and a wait that ends unreported would be a lock that hangs.
    virtual void run() noexcept = 0;

    /// Makes run() return soon. Called at most once, by stop(), from any thread, from just before run()
    /// begins until just after it has returned. So run() must remember it, as a semaphore remembers a
    /// signal.
    virtual void interrupt() noexcept = 0;

   protected:
    ~Job() = default;
  };

  static constexpr const char* kThreadName = "boxoffice wait";

  /// At most `limit` threads, none yet; each ends when it has had no job for `idle`. Throws
  /// Misuse(badArgument) when `limit` is 0. Not for a static object: on Windows, all other threads are gone
  /// before static objects are destroyed, and stop() would wait for them.
  WaitPool(std::size_t limit, std::chrono::nanoseconds idle);
  ~WaitPool() { stop(); }
  WaitPool(const WaitPool&) = delete;
  WaitPool& operator=(const WaitPool&) = delete;

  /// Runs the job; while all threads are busy, in order of submission. Each job is submitted once. False
  /// after stop(); then the job never runs. Throws std::system_error when the system refuses a thread that
  /// is needed, std::bad_alloc, or Misuse(badArgument) for a null job; then the job never runs, either.
  bool submit(std::shared_ptr<Job> job);

  /// Stops for good: takes no more jobs, interrupts the running ones, and runs the queued ones, interrupted
  /// before they begin. Returns when all are done and all threads are joined. Idempotent, also from several
  /// threads at once; a job that calls it gets Misuse(badArgument). Throws std::bad_alloc, and then nothing
  /// has changed.
  void stop();

  /// For tests and statistics: a snapshot.
  std::size_t threads() const;
  std::size_t idle() const;    ///< threads without a job
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

  mutable std::mutex mutex_;         // guards all below
  std::condition_variable work_;     // a job is queued, or stopping_
  std::condition_variable allLeft_;  // workers_ is empty
  std::deque<std::shared_ptr<Job>> queue_;
  Workers workers_;
  std::size_t free_ = 0;  // of workers_: those without a job, from their start on
  std::thread ended_;
  bool stopping_ = false;
};

}  // namespace boxoffice
