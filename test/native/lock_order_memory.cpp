// Out of memory in the order of locks: a call that throws has changed nothing.
#include "failing_memory.h"
#include "support.h"

namespace boxoffice::test {
namespace {

TEST(LockOrderMemoryTest, AnEdgeThatThrowsIsNotKnown) {
  LockOrder order;
  const std::string a(40, 'a');
  const std::string b(40, 'b');
  order.add(a, b, "ab");
  std::vector<std::string> labels;
  const auto check = [&] { EXPECT_EQ(order.size(), 1U); };
  EXPECT_GE(atEachAllocation([&] { labels = order.add(b, a, "ba"); }, check), 3);
  EXPECT_EQ(labels, std::vector<std::string>{"ab"}) << "the circle is reported";
}

}  // namespace
}  // namespace boxoffice::test
