#pragma once

namespace boxoffice {

/// The platform this library was built for: system and processor as Node names them, "linux-x64".
const char* platformName() noexcept;

}  // namespace boxoffice
