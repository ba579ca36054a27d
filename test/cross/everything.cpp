// Includes the whole library and links with every part of it that differs per system: compiled for
// the systems that the tests do not run on, and read by clang-tidy.
#include "boxoffice.h"
#include "platform/name.h"
#include "platform/semaphore.h"

int main() {
  boxoffice::Semaphore semaphore(1);
  semaphore.wait();
  semaphore.signal();
  boxoffice::Mutex mutex;
  mutex.lock();
  mutex.unlock();
  return boxoffice::platformName()[0] != '\0' && boxoffice::coreCount() > 0 ? 0 : 1;
}
