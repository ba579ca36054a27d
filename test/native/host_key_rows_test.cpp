// The slots of rows that are not allocated. In these tests such memory cannot be accessed, so a table that looks
// there crashes.

#include <random>
#include <vector>

#include "host_keys.h"

namespace boxoffice::test {
namespace {

using host::HostError;
using host::kBucketEntries;

using Table = host::KeyTable<SteppedPlatform>;

constexpr std::uint32_t kCapacity = 1024;  // a row is then a whole number of pages

class HostKeyRows : public testing::Test {
 protected:
  HostKeyRows() { allow(0, PROT_NONE); }
  ~HostKeyRows() override { allow(0, PROT_READ | PROT_WRITE); }

  /// Sets the access to the slots from row `first` on.
  void allow(std::uint32_t first, int access) {
    std::byte* const from = keys.view.slot(first * keys.view.plan.buckets);
    if (!from) return;
    std::byte* const end = reinterpret_cast<std::byte*>(keys.view.header) + keys.view.plan.fileSize;
    ASSERT_EQ(mprotect(from, static_cast<std::size_t>(end - from), access), 0);
  }
  void grow(std::uint32_t rows) {
    allow(0, PROT_READ | PROT_WRITE);
    allow(rows, PROT_NONE);
    keys.view.header->rows = rows;
  }
  /// Pins as many of these keys as have room, lists the keys, and unpins them.
  void use(int count) {
    std::vector<std::uint32_t> pinned;
    for (int key = 0; key < count; ++key) {
      try {
        pinned.push_back(table.pin("key " + std::to_string(key)));
        keys.head(pinned.back()).owner = 1;
      } catch (const HostError&) {
      }
    }
    table.forEachBusy([](std::uint32_t, const std::string&, bool) {});
    for (const std::uint32_t index : pinned) {
      keys.head(index).owner = 0;
      table.unpin(index);
    }
  }
  void evict(std::uint32_t process) {
    host::evictKeys<SteppedPlatform>(host::KeyArea(keys.view),
                                     static_cast<host::ProcessSlot>(process), [](std::uint32_t) {});
  }

  SharedKeys keys{kCapacity};
  Table table{host::KeyArea(keys.view), kPlainLocks, 1, [this](std::uint32_t rows) { grow(rows); }};
};

TEST_F(HostKeyRows, AreUntouchedBeforeTheyAreAllocated) {
  evict(2);
  use(1);
  const std::uint32_t first = keys.view.header->rows;
  EXPECT_LT(first, kBucketEntries);
  for (int count = 1; count <= 700; count += 37) use(count);
  EXPECT_GT(keys.view.header->rows, first);
  EXPECT_LT(keys.view.header->rows, kBucketEntries) << "so that the last steps could crash";
  evict(2);
}

TEST_F(HostKeyRows, AreUntouchedWhateverTheBucketsSay) {
  std::minstd_rand random(3);
  use(40);
  const std::uint32_t rows = keys.view.header->rows;
  const std::size_t size = keys.view.plan.slotsAt - keys.view.plan.bucketsAt;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(keys.view.buckets);
  for (int round = 0; round < 400; ++round) {
    for (std::uint32_t i = 0; i < size; ++i) bytes[i] = std::uint8_t(random());
    // The keys that these buckets lack must not make the table grow.
    use(10);
    evict(random() % 128);
  }
  EXPECT_EQ(keys.view.header->rows, rows);
}

}  // namespace
}  // namespace boxoffice::test
