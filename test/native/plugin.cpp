// A plugin that brings a copy of the library of its own (plugins_test.cpp).
#include "boxoffice.h"

#define PLUGIN extern "C" __attribute__((visibility("default")))

using namespace boxoffice;

PLUGIN bool pluginLock(Mutex* mutex, std::chrono::nanoseconds timeout) {
  return static_cast<bool>(mutex->lockFor(timeout));
}

PLUGIN void pluginUnlock(Mutex* mutex) { mutex->unlock(); }

PLUGIN bool pluginTryLock(RecursiveMutex* mutex) { return static_cast<bool>(mutex->tryLock()); }

PLUGIN AgentId pluginThread() { return thisThread(); }
