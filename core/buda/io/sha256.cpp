// SPDX-License-Identifier: Apache-2.0
// SHA-256 through libcrypto.
#include <buda/io/sha256.hpp>

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace buda::io {
namespace {

void write_digits(const std::array<unsigned char, 32>& digest, char* to) noexcept {
  for (const unsigned char byte : digest) {
    *to++ = "0123456789abcdef"[byte >> 4];
    *to++ = "0123456789abcdef"[byte & 15];
  }
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string out(64, '0');
  write_digits(digest, out.data());
  return out;
}

// The newer interface takes memory for its state.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
bool sha256_hex_of_file(int descriptor, std::array<char, 65>& digits) noexcept {
  SHA256_CTX state;
  SHA256_Init(&state);
  std::array<unsigned char, 16 * 1024> buffer;
  while (true) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    SHA256_Update(&state, buffer.data(), static_cast<std::size_t>(got));
  }
  std::array<unsigned char, 32> digest{};
  SHA256_Final(digest.data(), &state);
  write_digits(digest, digits.data());
  digits[64] = 0;
  return true;
}
#pragma GCC diagnostic pop

}  // namespace buda::io
