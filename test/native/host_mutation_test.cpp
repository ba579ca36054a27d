// Corrupt files, as any process of the same user may leave them: thousands of random mutations from fixed
// seeds, each opened and used.

#include <algorithm>
#include <cstring>
#include <fstream>

#include "host_support.h"
#include "platform/misuse.h"

namespace boxoffice::host::test {
namespace {

/// Uses a corrupt file; may be repeated, whatever the outcome.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  std::uint64_t state_;
};

std::string mutated(std::string bytes, Dice& dice, std::size_t head) {
  for (std::uint64_t n = 1 + dice.below(4); n > 0 && !bytes.empty(); --n) {
    // Three quarters of the mutations hit the head, which holds the metadata.
    const std::size_t end = dice.below(4) != 0 ? std::min(head, bytes.size()) : bytes.size();
    const std::size_t at = dice.below(end);
    switch (dice.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(dice.next());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
        break;
      case 2:
        for (std::size_t i = at / 4 * 4; i < std::min(at / 4 * 4 + 4, bytes.size()); ++i) {
          bytes[i] = dice.below(2) != 0 ? '\xFF' : '\0';
        }
        break;
      case 3:
        for (std::size_t i = at; i < std::min(at + 256, bytes.size()); ++i) {
          bytes[i] = static_cast<char>(dice.next());
        }
        break;
      default:
        bytes.resize(dice.below(3) != 0 ? bytes.size() : dice.below(2 * bytes.size()));
    }
  }
  return bytes;
}

std::string bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  chmod(path.c_str(), 0600);
}

TEST(HostMutation, OfASegmentIsRefusedOrUsedButNeverBelieved) {
  countEvictions();
  const TemporaryDirectory directory;
  const Plan plan = planOf(Kind::keyedSemaphore, 64);
  const std::string model = directory.file(Kind::keyedSemaphore, "model");
  auto membership = Membership::in(directory.path());
  membership->open({Kind::keyedSemaphore, "model", 64, 2});
  const std::string good = bytesOf(model);
  std::filesystem::remove(model);
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    if (seed % 100 == 0) {
      membership.reset();  // reads all of them again while it cleans up
      std::filesystem::remove_all(directory.run());
      membership = Membership::in(directory.path());
    }
    Dice dice(seed);
    const SegmentOptions options{Kind::keyedSemaphore, std::to_string(seed), 64, 2};
    const std::string path = directory.file(options.kind, options.name);
    std::string bytes = good;
    const auto id = static_cast<std::uint32_t>(seed);
    std::memcpy(bytes.data() + offsetof(SegmentHeader, id), &id, sizeof id);
    write(path, mutated(bytes, dice, sizeof(SegmentHeader)));
    try {
      Segment& segment = membership->open(options);
      ++used;
      ASSERT_EQ(segment.slots(), plan.slots);
      ASSERT_EQ(segmentAt(segment.slot(plan.slots - 1) + plan.stride - 1), &segment);
      for (std::uint32_t i = 0; i < segment.slots(); ++i) {
        reinterpret_cast<SemaphoreSlot*>(segment.slot(i))->held[kMaxProcess].fetch_add(1);
      }
      membership->notify(static_cast<ProcessSlot>(dice.next()), segment.id(),
                         static_cast<std::uint32_t>(dice.next()));
    } catch (const HostError& error) {
      ASSERT_EQ(error.fault(), HostFault::segment);
    } catch (const Misuse& error) {
      ASSERT_EQ(error.fault(), Fault::mismatch);
    }
  }
  EXPECT_GT(used, 100);
  EXPECT_LT(used, 2900);
}

TEST(HostMutation, OfMembersIsRefusedOrUsedButNeverBelieved) {
  countEvictions();
  const TemporaryDirectory directory;
  { const auto made = Membership::in(directory.path()); }
  const std::string path = directory.run() + "/members";
  const std::string good = bytesOf(path);
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    std::filesystem::remove(path);
    write(path, mutated(good, dice, 4 * sizeof(Member)));
    try {
      const auto membership = Membership::in(directory.path());
      ++used;
      membership->notify(static_cast<ProcessSlot>(dice.next()), 1, 1);
      membership->notifyAll();
    } catch (const HostError& error) {
      ASSERT_EQ(error.fault(), HostFault::segment) << error.what();
    }
  }
  EXPECT_GT(used, 100);
  EXPECT_LT(used, 990);
}

}  // namespace
}  // namespace boxoffice::host::test
