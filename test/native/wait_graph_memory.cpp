// Out of memory in the wait graph: a call that throws has changed nothing.
#include "failing_memory.h"
#include "support.h"

namespace boxoffice::test {
namespace {

using Id = WaitGraph::Id;

WaitGraph::Claim claimOf(WaitGraph& graph, WaitGraph::Lock lock, AgentId agent,
                         std::int64_t want = WaitGraph::kExclusive) {
  return {.lock = lock,
          .want = want,
          .capacity = 0,
          .agent = agent,
          .since = graph.now(),
          .label = "x"};
}

TEST(WaitGraphMemoryTest, AWaitThatThrowsIsNotInTheGraph) {
  WaitGraph graph;
  const auto lock = graph.name();
  const auto check = [&] { EXPECT_EQ(graph.size(), 0U); };
  Id wait = 0;
  EXPECT_GE(atEachAllocation([&] { wait = graph.wait(claimOf(graph, lock, kAnna)); }, check), 3);
  graph.end(wait);
  check();
}

TEST(WaitGraphMemoryTest, AHoldThatThrowsIsNotInTheGraph) {
  WaitGraph graph;
  const auto lock = graph.name();
  const auto check = [&] { EXPECT_EQ(graph.size(), 0U); };
  Id hold = 0;
  EXPECT_GE(atEachAllocation([&] { hold = graph.hold(claimOf(graph, lock, kAnna)); }, check), 3);
  graph.end(hold);
  check();
}

/// Waits and holds that threw must not be met by a later search.
TEST(WaitGraphMemoryTest, ASearchMeetsNoWaitOrHoldThatThrew) {
  WaitGraph graph;
  const auto a = graph.name();
  const auto b = graph.name();
  constexpr auto kShared = WaitGraph::kShared;
  Id writer = 0;
  atEachAllocation([&] { writer = graph.wait(claimOf(graph, a, kCleo)); }, [] {});
  graph.end(writer);
  Id hold = 0;
  atEachAllocation([&] { hold = graph.hold(claimOf(graph, a, kAnna, kShared)); }, [] {});
  const Id other = graph.hold(claimOf(graph, b, kBen));
  const Id reader = graph.wait(claimOf(graph, a, kBen, kShared));
  const Id wait = graph.wait(claimOf(graph, b, kAnna));
  EXPECT_FALSE(graph.depend(hold, {wait}));
  EXPECT_FALSE(graph.depend(other, {reader})) << "no writer is ahead of the reader";
  for (const Id id : {hold, other, reader, wait}) graph.end(id);
  EXPECT_EQ(graph.size(), 0U);
}

TEST(WaitGraphMemoryTest, AnAgentThatCouldNotBlockIsNotBlocked) {
  for (int which = 0; which < 3; ++which) {
    WaitGraph graph;
    const Id wait = graph.wait(claimOf(graph, graph.name(), kAnna));
    failNewIn = which;
    EXPECT_THROW(graph.block(wait), std::bad_alloc);
    failNewIn = -1;
    graph.end(wait);
    EXPECT_EQ(graph.size(), 0U);
  }
}

}  // namespace
}  // namespace boxoffice::test
