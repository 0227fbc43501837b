// SHA-256 through libcrypto.
#include <buda/io/sha256.hpp>

#include <openssl/evp.h>

#include <array>

namespace buda::io {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string out;
  for (auto byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

}  // namespace buda::io
