// The benches, by file. A bench is called <group>/<what>/<kit>; report.js relies on it.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

namespace bench {

void addSuite();
void addMicro();
void addContention();
void addQueues();

template <class Kit>
std::string benchName(const std::string& what) {
  return what + "/" + Kit::kName;
}

}  // namespace bench
