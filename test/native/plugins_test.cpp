// Copies of the same source in one process: that of this program, and those of two plugins that it loads.
#include <dlfcn.h>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

class Plugin {
 public:
  explicit Plugin(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() { dlclose(handle_); }

  bool lock(Mutex& mutex, std::chrono::nanoseconds timeout) const {
    using Lock = bool(Mutex*, std::chrono::nanoseconds);
    return function<Lock>("pluginLock")(&mutex, timeout);
  }
  void unlock(Mutex& mutex) const { function<void(Mutex*)>("pluginUnlock")(&mutex); }
  bool tryLock(RecursiveMutex& mutex) const {
    return function<bool(RecursiveMutex*)>("pluginTryLock")(&mutex);
  }
  AgentId thread() const { return function<AgentId()>("pluginThread")(); }

 private:
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }

  void* const handle_;
};

TEST(PluginsTest, TheProgramWakesAThreadThatWaitsInAPlugin) {
  for (const char* const path : {BOXOFFICE_PLUGIN_A, BOXOFFICE_PLUGIN_B}) {
    Mutex mutex;
    mutex.lock();
    // The program uses its own copy before a plugin brings another one.
    std::thread([&] { EXPECT_FALSE(mutex.lockFor(1ms)); }).join();
    const Plugin plugin(path);
    std::atomic<bool> ended{false};
    bool locked = false;
    std::thread thread([&] {
      locked = plugin.lock(mutex, 10s);
      if (locked) plugin.unlock(mutex);
      ended = true;
    });
    await([&] { return ended || queueSizeAt<Platform>(&mutex) == 1; });
    mutex.unlock();
    thread.join();
    EXPECT_TRUE(locked) << path;
  }
}

TEST(PluginsTest, AThreadIsOneAgentInAllCopies) {
  const Plugin a(BOXOFFICE_PLUGIN_A);
  const Plugin b(BOXOFFICE_PLUGIN_B);
  EXPECT_EQ(a.thread(), thisThread());
  EXPECT_EQ(b.thread(), thisThread());
  // Another copy is the first that asks for this thread.
  std::thread([&] {
    const AgentId agent = a.thread();
    EXPECT_EQ(b.thread(), agent);
    EXPECT_EQ(thisThread(), agent);
  }).join();
}

TEST(PluginsTest, ACopyReleasesWhatTheThreadHasAcquiredInAnotherOne) {
  const Plugin a(BOXOFFICE_PLUGIN_A);
  const Plugin b(BOXOFFICE_PLUGIN_B);
  Mutex mutex;
  ASSERT_TRUE(a.lock(mutex, 0s));
  EXPECT_EQ(faultOf([&] { b.unlock(mutex); }), std::nullopt);
  EXPECT_TRUE(mutex.tryLock());
  mutex.unlock();
}

TEST(PluginsTest, ACopyLocksARecursiveMutexThatTheThreadHolds) {
  const Plugin plugin(BOXOFFICE_PLUGIN_A);
  RecursiveMutex mutex;
  mutex.lock();
  ASSERT_TRUE(plugin.tryLock(mutex));
  mutex.unlock();
  mutex.unlock();
}

TEST(PluginsTest, APluginStaysLoaded) {
  { const Plugin plugin(BOXOFFICE_PLUGIN_A); }
  void* const handle = dlopen(BOXOFFICE_PLUGIN_A, RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(handle, nullptr);
}

}  // namespace
}  // namespace boxoffice::test
