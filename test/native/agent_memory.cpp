// Out of memory while agents come and go.
#include <set>

#include "failing_memory.h"
#include "support.h"

namespace boxoffice::test {
namespace {

TEST(AgentMemoryTest, AnIdIsGivenBackWithoutMemory) {
  constexpr int kMany = 5'000;  // more than one block of any queue holds
  std::vector<AgentId> ids(kMany);
  for (AgentId& id : ids) id = takeAgentId();
  failNewIn = 0;
  for (const AgentId id : ids) giveAgentId(id);
  failNewIn = -1;
  std::set<AgentId> again;
  for (int i = 0; i < kMany; ++i) again.insert(takeAgentId());
  EXPECT_EQ(again.size(), std::size_t{kMany});
  for (const AgentId id : again) giveAgentId(id);
}

TEST(AgentMemoryTest, AFailureLosesNoId) {
  std::vector<AgentId> ids(2'000);
  for (AgentId& id : ids) atEachAllocation([&] { id = takeAgentId(); }, [] {});
  EXPECT_EQ(std::set<AgentId>(ids.begin(), ids.end()).size(), ids.size());
  for (const AgentId id : ids) giveAgentId(id);
}

}  // namespace
}  // namespace boxoffice::test
