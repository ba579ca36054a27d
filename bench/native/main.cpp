#include <semaphore>
#include <thread>

#include "benches.h"

namespace {

// A second, idle thread. Without one glibc's mutex knows that the process has one thread and leaves
// out its atomic instructions, which never happens in a program that needs a lock.
class Company {
 public:
  ~Company() { done_.release(); }

 private:
  std::binary_semaphore done_{0};
  std::jthread thread_{[this] { done_.acquire(); }};
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::addSuite();
  bench::addMicro();
  bench::addContention();
  bench::addQueues();
  const Company company;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
