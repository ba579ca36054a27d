// SipHash-2-4 with a result of 128 bits (Aumasson and Bernstein, 2012). Without the secret an attacker
// cannot construct a collision, so two keys never share a slot, by accident or by design.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace boxoffice::host {

using Digest = std::array<std::uint64_t, 2>;

namespace sip {

/// Returns at most eight bytes as a little-endian number.
inline std::uint64_t word(std::string_view bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    word = word << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return word;
}

struct State {
  std::uint64_t a, b, c, d;

  void round() noexcept {
    a += b, c += d;
    b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    c += b, a += d;
    b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
    c = std::rotl(c, 32);
  }
  void take(std::uint64_t word) noexcept {
    d ^= word;
    round();
    round();
    a ^= word;
  }
  std::uint64_t result() noexcept {
    for (int i = 0; i < 4; ++i) round();
    return a ^ b ^ c ^ d;
  }
};

}  // namespace sip

inline Digest sipHash(const Digest& secret, std::string_view bytes) noexcept {
  sip::State state{secret[0] ^ 0x736F6D6570736575, secret[1] ^ 0x646F72616E646F6D ^ 0xEE,
                   secret[0] ^ 0x6C7967656E657261, secret[1] ^ 0x7465646279746573};
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.take(sip::word(bytes.substr(0, 8)));
  state.take(length << 56 | sip::word(bytes));
  state.c ^= 0xEE;
  const std::uint64_t first = state.result();
  state.b ^= 0xDD;
  return {first, state.result()};
}

}  // namespace boxoffice::host
