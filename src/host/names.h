// The file names of segments.
#pragma once

#include <string>
#include <string_view>

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

constexpr const char* kMembersName = "members";

// The other files of a directory. Each function recognizes exactly the names that boxoffice gives: a user may keep files
// of other names beside them.

/// A members file in the making: members.new-<pid>-<tag>.
bool isMembersAsideName(std::string_view file) noexcept;
/// The FIFO of a process slot: fifo-<slot>.
bool isFifoName(std::string_view file) noexcept;
/// A file of any kind, except the members file.
bool isOwnName(std::string_view file) noexcept;

/// The kind in a file name; Kind{} when it is not the name of a segment.
Kind kindOfFile(std::string_view file) noexcept;

}  // namespace boxoffice::host
