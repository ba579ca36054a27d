// The article's designs on its two semaphores, and its event over a condition variable.
#pragma once

#include <condition_variable>
#include <mutex>

#include "kits/article_dining.h"
#include "kits/article_locks.h"
#include "kits/article_semaphore.h"
#include "platform/semaphore.h"

namespace bench {

template <class S>
struct ArticleOn {
  using Mutex = article::Mutex<S>;
  using RecursiveMutex = article::RecursiveMutex<S>;
  using AutoResetEvent = article::AutoResetEvent<S>;
  using RWLock = article::RWLock<S>;
  using DiningPhilosophers = article::DiningPhilosophers<S>;
  using Semaphore = S;
};

struct ArticleSpin : ArticleOn<article::SpinningSemaphore> {
  static constexpr const char* kName = "article_spin";
};

struct ArticleNoSpin : ArticleOn<boxoffice::Semaphore> {
  static constexpr const char* kName = "article_nospin";
};

namespace article {

/// The auto-reset event with its box office under a mutex and a condition variable as bouncer.
// Corrected: the article waits without a loop, so that a spurious wake-up returns; here an
// admission is counted and must be found.
class CvEvent {
 public:
  void signal() {
    const std::lock_guard guard(mutex_);
    if (status_ == 1) return;
    if (++status_ <= 0) {
      ++admissions_;
      admitted_.notify_one();
    }
  }

  void wait() {
    std::unique_lock guard(mutex_);
    if (--status_ >= 0) return;
    admitted_.wait(guard, [this] { return admissions_ > 0; });
    --admissions_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable admitted_;
  int status_ = 0;  // 1 set; 0 not set; -n not set and n wait
  int admissions_ = 0;
};

}  // namespace article

struct CvEvent {
  static constexpr const char* kName = "cv_event";
  using AutoResetEvent = article::CvEvent;
};

}  // namespace bench
