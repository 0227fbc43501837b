// SPDX-License-Identifier: Apache-2.0
// SipHash over words of eight bytes, the first byte lowest.
#include <buda/base/keyed_hash.hpp>

#include <bit>
#include <random>

namespace buda {
namespace {

struct State {
  std::uint64_t v0, v1, v2, v3;

  State(std::uint64_t key0, std::uint64_t key1)
      : v0(key0 ^ 0x736f6d6570736575ULL),
        v1(key1 ^ 0x646f72616e646f6dULL),
        v2(key0 ^ 0x6c7967656e657261ULL),
        v3(key1 ^ 0x7465646279746573ULL) {}

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return word;
}

}  // namespace

std::uint64_t sip_hash(std::string_view bytes, std::uint64_t key0, std::uint64_t key1) {
  State state(key0, key1);
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.take(word_of(bytes.substr(0, 8)));
  state.take(word_of(bytes) | length << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::size_t KeyedHash::operator()(std::string_view text) const {
  struct Key {
    std::uint64_t first, second;
    Key() {
      std::random_device random;
      first = std::uint64_t{random()} << 32 | random();
      second = std::uint64_t{random()} << 32 | random();
    }
  };
  static const Key key;
  return static_cast<std::size_t>(sip_hash(text, key.first, key.second));
}

}  // namespace buda
