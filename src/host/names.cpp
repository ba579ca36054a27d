#include "host/names.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "host/sip_hash.h"
#include "platform/files.h"
#include "platform/misuse.h"

namespace boxoffice::host {
namespace {

// Linux has 255 bytes for a file name; the longest kind and the suffix take 24 of them.
constexpr std::size_t kLongest = 230;
constexpr std::size_t kKept = 190;  // of a longer name: the digest takes 33

bool isUpper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

bool isKept(char c) noexcept {
  return (c >= 'a' && c <= 'z') || isUpper(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

bool isPlain(char c) noexcept { return isKept(c) && !(platform::kIgnoresCase && isUpper(c)); }

std::string encoded(std::string_view name, std::size_t most) {
  std::string text;
  for (const char c : name) {
    char piece[4] = {c, 0, 0, 0};
    if (!isPlain(c)) std::snprintf(piece, sizeof piece, "%%%02X", static_cast<unsigned char>(c));
    const std::string_view next(piece);
    if (text.size() + next.size() > most) break;
    text += next;
  }
  return text;
}

std::string shortened(const std::string& name) {
  const Digest digest = sipHash({0, 0}, name);
  char text[40];
  std::snprintf(text, sizeof text, "~%016llx%016llx", static_cast<unsigned long long>(digest[0]),
                static_cast<unsigned long long>(digest[1]));
  return encoded(name, kKept) + text;
}

/// Removes `beginning` from `text`. Returns whether `text` began with it.
bool drop(std::string_view& text, std::string_view beginning) noexcept {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

bool isNumber(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether this is the number of a process slot.
bool isSlot(std::string_view text) noexcept {
  unsigned slot = 0;
  if (!isNumber(text) || text.size() > 3) return false;
  std::from_chars(text.data(), text.data() + text.size(), slot);
  return slot >= 1 && slot <= kMaxProcess && text[0] != '0';
}

}  // namespace

const char* wordFor(Kind kind) noexcept {
  switch (kind) {
    case Kind::mutex:
      return "mutex";
    case Kind::rwLock:
      return "rw-lock";
    case Kind::semaphore:
      return "semaphore";
    case Kind::keyedMutex:
      return "keyed-mutex";
    case Kind::keyedRWLock:
      return "keyed-rw-lock";
    case Kind::keyedSemaphore:
      return "keyed-semaphore";
    case Kind::lockManager:
      return "lock-manager";
    case Kind::recursiveMutex:
      return "recursive-mutex";
    case Kind::autoResetEvent:
      return "auto-reset-event";
    case Kind::manualResetEvent:
      return "manual-reset-event";
    case Kind::countdownLatch:
      return "countdown-latch";
    case Kind::barrier:
      return "barrier";
    case Kind::condition:
      return "condition-variable";
  }
  return "";
}

std::string fileName(Kind kind, const std::string& name) {
  if (name.empty() || name.size() > kMaxName) {
    throwMisuse(Fault::badArgument, "the name of a lock of scope host has 1 to 65536 bytes");
  }
  const bool fits = encoded(name, 3 * kMaxName).size() <= kLongest;
  std::string file(wordFor(kind));
  file += '.';
  file += fits ? encoded(name, kLongest) : shortened(name);
  file += kSegmentSuffix;
  return file;
}

bool isMembersAsideName(std::string_view file) noexcept {
  std::string_view rest = file;
  if (!drop(rest, kMembersName) || !drop(rest, ".new-")) return false;
  const std::size_t dash = rest.find('-');
  return dash != std::string_view::npos && isNumber(rest.substr(0, dash)) &&
         isNumber(rest.substr(dash + 1));
}

bool isFifoName(std::string_view file) noexcept { return drop(file, "fifo-") && isSlot(file); }

bool isOwnName(std::string_view file) noexcept {
  if (isMembersAsideName(file) || isFifoName(file)) return true;
  std::string_view rest = file;
  if (drop(rest, "new-")) return isSlot(rest);
  // These files lie beside a FIFO on systems where a FIFO needs them (wakeups_select.cpp).
  for (const std::string_view kind : {"life-", "lock-", "live-"}) {
    if (drop(rest, kind)) return isFifoName(rest);
  }
  const Kind kind = kindOfFile(file);
  if (kind == Kind{}) return false;
  drop(rest, wordFor(kind));
  rest.remove_prefix(1);
  rest.remove_suffix(std::min(rest.size(), std::string_view(kSegmentSuffix).size()));
  return !rest.empty() && std::all_of(rest.begin(), rest.end(),
                                      [](char c) { return isKept(c) || c == '%' || c == '~'; });
}

Kind kindOfFile(std::string_view file) noexcept {
  if (!file.ends_with(kSegmentSuffix)) return {};
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) {
    const std::string_view word = wordFor(static_cast<Kind>(kind));
    if (file.size() > word.size() && file.starts_with(word) && file[word.size()] == '.') {
      return static_cast<Kind>(kind);
    }
  }
  return {};
}

}  // namespace boxoffice::host
