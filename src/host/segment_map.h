// Finds the open segment of an address: a tree over the pieces of the address space at which mappings
// begin. A look-up takes three loads and no lock.
#pragma once

#include <cstddef>

namespace boxoffice::host {

class Segment;

/// Maps that range to `segment`. Throws std::bad_alloc, and then nothing has changed.
void mapSegment(const std::byte* begin, std::size_t size, Segment* segment);
/// Undoes mapSegment.
void unmapSegment(const std::byte* begin, std::size_t size) noexcept;

}  // namespace boxoffice::host
