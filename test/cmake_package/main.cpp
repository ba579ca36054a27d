// Uses a header-only part, and a part that is compiled into the library.
#include <thread>

#include "boxoffice.h"

int main() {
  boxoffice::Mutex mutex;
  int count = 0;
  const auto sell = [&] {
    for (int i = 0; i < 1000; ++i) {
      mutex.lock();
      ++count;
      mutex.unlock();
    }
  };
  std::thread other(sell);
  sell();
  other.join();

  boxoffice::LockTable& table = boxoffice::lockTables().open("somebody's", 0);
  const bool isIdle = table.busy() == 0;
  boxoffice::lockTables().close("somebody's");
  return count == 2000 && isIdle ? 0 : 1;
}
