#include "host/names.h"

#include <cstdio>
#include <string_view>

#include "host/sip_hash.h"
#include "platform/misuse.h"

namespace boxoffice::host {
namespace {

// Linux has 255 bytes for a file name; the longest kind and the suffix take 24 of them.
constexpr std::size_t kLongest = 230;
constexpr std::size_t kKept = 190;  // of a longer name: the digest takes 33

bool isPlain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

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

Kind kindOfFile(const std::string& file) noexcept {
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
