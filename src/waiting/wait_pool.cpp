#include "waiting/wait_pool.h"

#include <utility>

#include "platform/clock.h"
#include "platform/misuse.h"
#include "platform/thread_name.h"

namespace boxoffice {
namespace {

// The pool that the calling thread works for.
thread_local const WaitPool* employer = nullptr;

}  // namespace

WaitPool::WaitPool(std::size_t limit, std::chrono::nanoseconds idle) : limit_(limit), idle_(idle) {
  if (limit == 0) throw Misuse(Fault::badArgument, "a wait pool needs a thread at least");
}

bool WaitPool::submit(std::shared_ptr<Job> job) {
  if (!job) throw Misuse(Fault::badArgument, "there is no job");
  const std::lock_guard guard(mutex_);
  if (stopping_) return false;
  // First the step that may fail: a spare thread does no harm, a job without a thread might wait for ever.
  if (queue_.size() >= free_ && workers_.size() < limit_) start();
  queue_.push_back(std::move(job));
  work_.notify_one();
  return true;
}

void WaitPool::start() {
  const auto self = workers_.emplace(workers_.end());
  try {
    self->thread = std::thread([this, self] { work(self); });
  } catch (...) {
    workers_.erase(self);
    throw;
  }
  ++free_;
}

void WaitPool::work(Workers::iterator self) {
  employer = this;
  nameThisThread(kThreadName);
  Lock lock(mutex_);
  while (awaitJob(lock)) runNext(*self, lock);
  leave(self, lock);
}

/// False when it is time to leave.
bool WaitPool::awaitJob(Lock& lock) {
  const auto due = [this] { return stopping_ || !queue_.empty(); };
  const Deadline deadline = deadlineIn(idle_);
  if (deadline == kNever) {
    work_.wait(lock, due);
  } else {
    work_.wait_until(lock, deadline, due);
  }
  return !queue_.empty();
}

void WaitPool::runNext(Worker& self, Lock& lock) {
  std::shared_ptr<Job> job = std::move(queue_.front());
  queue_.pop_front();
  --free_;
  self.job = job;
  const bool late = stopping_;
  lock.unlock();
  if (late) job->interrupt();
  job->run();
  job.reset();
  lock.lock();
  self.job.reset();
  ++free_;
}

void WaitPool::leave(Workers::iterator self, Lock& lock) {
  --free_;
  std::thread earlier = std::exchange(ended_, std::move(self->thread));
  workers_.erase(self);
  if (workers_.empty()) allLeft_.notify_all();
  lock.unlock();
  if (earlier.joinable()) earlier.join();
}

void WaitPool::stop() {
  if (employer == this) throw Misuse(Fault::badArgument, "a job cannot stop the pool that runs it");
  for (const auto& job : close()) job->interrupt();
  Lock lock(mutex_);
  allLeft_.wait(lock, [this] { return workers_.empty(); });
  if (ended_.joinable()) ended_.join();
}

/// Takes no more jobs. Returns the running ones, which are to be interrupted.
std::vector<std::shared_ptr<WaitPool::Job>> WaitPool::close() {
  std::vector<std::shared_ptr<Job>> running;
  const std::lock_guard guard(mutex_);
  if (stopping_) return running;
  running.reserve(workers_.size());
  for (const Worker& worker : workers_) {
    if (auto job = worker.job.lock()) running.push_back(std::move(job));
  }
  stopping_ = true;
  work_.notify_all();
  return running;
}

std::size_t WaitPool::threads() const {
  const std::lock_guard guard(mutex_);
  return workers_.size();
}

std::size_t WaitPool::idle() const {
  const std::lock_guard guard(mutex_);
  return free_;
}

std::size_t WaitPool::queued() const {
  const std::lock_guard guard(mutex_);
  return queue_.size();
}

}  // namespace boxoffice
