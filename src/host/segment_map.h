// Which open segment an address belongs to: a tree over the pieces of the address space that mappings
// begin at. Reading takes three loads and no lock.
#pragma once

#include <cstddef>

namespace boxoffice::host {

class Segment;

/// `segment` lies there; null: nothing does any more. Throws std::bad_alloc, and then nothing has changed.
void mapSegment(const std::byte* begin, std::size_t size, Segment* segment);
/// As mapSegment with null, for what has been mapped.
void unmapSegment(const std::byte* begin, std::size_t size) noexcept;

}  // namespace boxoffice::host
