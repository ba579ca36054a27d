// The file names of segments.
#pragma once

#include <string>

#include "host/layout.h"

namespace boxoffice::host {

/// "mutex", "keyed-mutex" …
const char* wordFor(Kind kind) noexcept;

/// The longest name a lock may have, in bytes.
constexpr std::size_t kMaxName = 65536;

constexpr const char* kSegmentSuffix = ".lock";

/// The file name of a segment: <kind>.<name>.lock. Bytes other than letters, digits, '-', '_' and '.' are
/// written as %XX. A name too long for a file is cut and ends in '~' and its digest. Distinct names have
/// distinct files. Throws Misuse(badArgument) when the name is empty or longer than kMaxName.
std::string fileName(Kind kind, const std::string& name);

/// The kind in a file name; Kind{} when it is not the name of a segment.
Kind kindOfFile(const std::string& file) noexcept;

}  // namespace boxoffice::host
