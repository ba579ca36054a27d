// How the files of segments are called.
#pragma once

#include <string>

#include "host/layout.h"

namespace boxoffice::host {

/// "mutex", "keyed-mutex" …
const char* wordFor(Kind kind) noexcept;

/// The longest name a lock may have, in bytes.
constexpr std::size_t kMaxName = 65536;

constexpr const char* kSegmentSuffix = ".lock";

/// The file name of a segment: <kind>.<name>.lock, whatever is not a message, digit, '-', '_' or '.'
/// written as %XX; a name too long for a file ends in '~' and its digest. No two share one. Misuse(badArgument)
/// when the name is empty or longer than kMaxName.
std::string fileName(Kind kind, const std::string& name);

/// The kind that a file name says, Kind{} when it is not one of a segment.
Kind kindOfFile(const std::string& file) noexcept;

}  // namespace boxoffice::host
