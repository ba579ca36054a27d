// The order in which locks are taken: each rule by itself, and random edges compared with a search of all ways.
#include "waiting/lock_order.h"

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support.h"

namespace boxoffice::test {
namespace {

using Labels = std::vector<std::string>;

TEST(LockOrderTest, ReportsTheEdgeThatClosesACircleOfTwo) {
  LockOrder order;
  EXPECT_EQ(order.add("a", "b", "ab"), Labels{});
  EXPECT_EQ(order.add("b", "a", "ba"), Labels{"ab"});
}

TEST(LockOrderTest, ReportsAnEdgeOnce) {
  LockOrder order;
  order.add("a", "b", "ab");
  order.add("b", "a", "ba");
  EXPECT_EQ(order.add("b", "a", "ba again"), Labels{});
  EXPECT_EQ(order.add("a", "b", "ab again"), Labels{});
  EXPECT_EQ(order.size(), 2U);
}

TEST(LockOrderTest, KeepsTheLabelOfTheFirstSight) {
  LockOrder order;
  order.add("a", "b", "first");
  order.add("a", "b", "second");
  EXPECT_EQ(order.add("b", "a", "ba"), Labels{"first"});
}

TEST(LockOrderTest, FindsTheShortestWayBack) {
  LockOrder order;
  order.add("a", "b", "ab");
  order.add("b", "c", "bc");
  order.add("c", "d", "cd");
  EXPECT_EQ(order.add("d", "a", "da"), (Labels{"ab", "bc", "cd"}));
  order.add("a", "c", "ac");
  EXPECT_EQ(order.add("c", "a", "ca"), Labels{"ac"});
}

TEST(LockOrderTest, FindsNoCircleWhereAllOrdersAgree) {
  LockOrder order;
  for (int from = 0; from < 20; ++from) {
    for (int to = from + 1; to < 20; ++to) {
      EXPECT_EQ(order.add(std::to_string(from), std::to_string(to), ""), Labels{});
    }
  }
}

TEST(LockOrderTest, AddsNoEdgeBeyondTheLimit) {
  LockOrder order;
  for (std::size_t i = 0; i < LockOrder::kMostEdges; ++i) order.add("a", std::to_string(i), "");
  EXPECT_EQ(order.add("0", "a", ""), Labels{});
  EXPECT_EQ(order.size(), LockOrder::kMostEdges);
}

TEST(LockOrderTest, TellsOneOfManyThreadsOfACircle) {
  LockOrder order;
  std::atomic<int> reports = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&order, &reports, i] {
      const bool isBack = i % 2 == 1;
      if (!order.add(isBack ? "b" : "a", isBack ? "a" : "b", "").empty()) ++reports;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reports, 1);
}

/// The number of edges of a shortest way, by relaxing all edges; 0 where there is none.
std::size_t distance(const std::map<std::pair<int, int>, bool>& edges, int from, int to) {
  std::map<int, std::size_t> far{{from, 0}};
  for (bool isMore = true; isMore;) {
    isMore = false;
    for (const auto& [edge, _] : edges) {
      const auto [one, other] = edge;
      if (!far.contains(one)) continue;
      const std::size_t next = far[one] + 1;
      if (far.contains(other) && far[other] <= next) continue;
      far[other] = next;
      isMore = true;
    }
  }
  return far.contains(to) ? far[to] : 0;
}

TEST(LockOrderTest, AgreesWithASearchOfAllWays) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    LockOrder order;
    std::map<std::pair<int, int>, bool> edges;
    for (int i = 0; i < 40; ++i) {
      const int from = static_cast<int>(random() % 10);
      const int to = static_cast<int>(random() % 10);
      if (from == to) continue;
      const std::string label = std::to_string(from) + std::to_string(to);
      const Labels back = order.add(std::to_string(from), std::to_string(to), label);
      const bool isNew = edges.try_emplace({from, to}, true).second;
      ASSERT_EQ(back.size(), isNew ? distance(edges, to, from) : 0U) << "seed " << seed;
      if (back.empty()) continue;
      // Each edge begins where the one before it ends, and the last one ends where the new one begins.
      char at = static_cast<char>('0' + to);
      for (const std::string& each : back) {
        ASSERT_EQ(each[0], at);
        ASSERT_TRUE(edges.contains({each[0] - '0', each[1] - '0'}));
        at = each[1];
      }
      ASSERT_EQ(at, static_cast<char>('0' + from));
    }
  }
}

}  // namespace
}  // namespace boxoffice::test
