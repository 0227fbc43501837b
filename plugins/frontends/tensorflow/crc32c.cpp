// CRC-32C by the processor's instruction where it has one (some GB/s, so that weights are checked as fast as they are read).
#include "crc32c.hpp"

#include <boost/crc.hpp>

#include <cstring>

namespace buda::tensorflow_frontend {
namespace {

std::uint32_t crc_by_table(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc_by_instruction(std::string_view bytes) {
  std::uint64_t crc = 0xFFFFFFFF;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
    bytes.remove_prefix(sizeof word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (char c : bytes) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(c));
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return crc_by_instruction(bytes);
#endif
  return crc_by_table(bytes);
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace buda::tensorflow_frontend
