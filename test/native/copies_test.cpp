// Copies with different sources in one process: what one of them has claimed, the others cannot claim. The other copies
// are other digests here, through the interface that all copies have in common.
#include "platform/copies.h"

#include "platform/process_wide.h"
#include "support.h"

extern "C" const boxoffice::Copies* boxoffice_process_wide_1();

namespace boxoffice::test {
namespace {

const Copies& all() { return *boxoffice_process_wide_1(); }

std::string messageOf(const std::string& resource) {
  try {
    const CopyClaim claim(resource, "this name");
  } catch (const Misuse& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    return error.what();
  }
  return "";
}

TEST(CopiesTest, EachLearnsOnceOfAnotherOne) {
  EXPECT_EQ(joinCopies("/ours"), nullptr);
  EXPECT_STREQ(all().join("of another version", "/theirs"), "/ours");
  EXPECT_EQ(all().join("of another version", "/theirs/elsewhere"), nullptr);
  EXPECT_EQ(joinCopies("/ours"), nullptr);
  EXPECT_STREQ(all().join(" of a third one", "/third"), "/ours");
}

TEST(CopiesTest, AClaimKeepsTheOtherOnesOut) {
  all().join("of another version", "/theirs");
  const char* holder = nullptr;
  void* const theirs = all().claim("of another version", "a", &holder);
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(messageOf("a"),
            "this name is in use by another copy of boxoffice, at /theirs: install one version");
  EXPECT_EQ(messageOf("b"), "");
  all().disclaim(theirs);
  EXPECT_EQ(messageOf("a"), "");
}

TEST(CopiesTest, ACopyClaimsAsOftenAsItLikes) {
  const char* holder = nullptr;
  CopyClaim first("a", "this name");
  {
    CopyClaim second("a", "this name");
    EXPECT_TRUE(second);
    const CopyClaim moved = std::move(second);
    EXPECT_FALSE(second);
    EXPECT_TRUE(moved);
  }
  EXPECT_EQ(all().claim("of another version", "a", &holder), nullptr);
  EXPECT_NE(holder, nullptr);
  first = CopyClaim();
  void* const theirs = all().claim("of another version", "a", &holder);
  EXPECT_NE(theirs, nullptr);
  all().disclaim(theirs);
}

TEST(CopiesTest, ALockThatOthersKnowIsClaimed) {
  const char* holder = nullptr;
  const auto isFree = [&holder](const std::string& resource) {
    void* const theirs = all().claim("of another version", resource.c_str(), &holder);
    if (theirs) all().disclaim(theirs);
    return theirs != nullptr;
  };
  LockTables tables;
  LockTable& names = tables.open("mutex", 0, true);
  EXPECT_TRUE(isFree("mutex"));
  EXPECT_TRUE(isFree("mutex sa"));
  LockTable::Entry& entry = names.pin("sa", 0);
  EXPECT_FALSE(isFree("mutex sa"));
  names.unpin(entry);
  EXPECT_TRUE(isFree("mutex sa"));
  tables.close("mutex");

  tables.open("keyed mutex sa", 0);
  EXPECT_FALSE(isFree("keyed mutex sa"));
  tables.close("keyed mutex sa");
  EXPECT_TRUE(isFree("keyed mutex sa"));

  SharedWord word{0};
  const std::string memory = "memory " + std::to_string(reinterpret_cast<std::uintptr_t>(&word));
  claimWords(&word, 1, LockKind::mutex, 0);
  EXPECT_FALSE(isFree(memory));
  disclaimWords(&word, 1);
  EXPECT_TRUE(isFree(memory));

  void* const theirs = all().claim("of another version", memory.c_str(), &holder);
  EXPECT_THROW(claimWords(&word, 1, LockKind::mutex, 0), Misuse);
  all().disclaim(theirs);
  claimWords(&word, 1, LockKind::semaphore, 0);
  disclaimWords(&word, 1);
}

}  // namespace
}  // namespace boxoffice::test
