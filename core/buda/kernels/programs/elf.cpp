// SPDX-License-Identifier: Apache-2.0
// Reading ELF: headers of 32-bit little-endian files, as the System V ABI and the RISC-V ELF psABI describe them.
#include <buda/kernels/programs/elf.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::kernels {
namespace {

constexpr std::size_t kHeaderBytes = 52, kProgramHeaderBytes = 32;
constexpr std::uint32_t kLoad = 1, kExecutableFlag = 1;
constexpr std::uint16_t kExecutableFile = 2, kRiscv = 243;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  // Within the file.
  std::uint32_t u32(std::size_t at) const { return u16(at) | static_cast<std::uint32_t>(u16(at + 2)) << 16; }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(u8(at) | u8(at + 1) << 8); }
  bool holds(std::uint64_t at, std::uint64_t count) const { return at <= bytes_.size() && count <= bytes_.size() - at; }

 private:
  unsigned u8(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  std::string_view bytes_;
};

}  // namespace

Result<Executable> parse_executable(std::string_view bytes, const std::string& file) {
  const auto wrong = [&](std::string what) { return input_error("KC010", {file}, cat("this is no program for a core: ", what)); };
  const Reader r(bytes);
  if (!r.holds(0, kHeaderBytes) || !bytes.starts_with("\x7f"
                                                      "ELF\x01\x01\x01"))
    return wrong("it is no ELF file of 32 bits, little-endian");
  if (r.u16(16) != kExecutableFile || r.u16(18) != kRiscv) return wrong("it is not linked, or not for RISC-V");
  Executable out;
  out.entry = r.u32(24);
  const std::uint32_t table = r.u32(28), entry_bytes = r.u16(42), count = r.u16(44);
  if (count > 0 && (entry_bytes < kProgramHeaderBytes || !r.holds(table, std::uint64_t{entry_bytes} * count)))
    return wrong("its program headers are not in the file");
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t at = table + std::size_t{entry_bytes} * i;
    if (r.u32(at) != kLoad) continue;
    const std::uint32_t offset = r.u32(at + 4), address = r.u32(at + 8), in_file = r.u32(at + 16), in_memory = r.u32(at + 20);
    if (!r.holds(offset, in_file) || in_memory < in_file) return wrong(cat("segment ", i, " is not in the file"));
    if (in_memory > ~address) return wrong(cat("segment ", i, " ends beyond the end of memory"));
    if (in_memory == 0) continue;
    out.segments.push_back({address, bytes.substr(offset, in_file), in_memory});
    if ((r.u32(at + 24) & kExecutableFlag) == 0) continue;
    out.code = bytes.substr(offset, in_file);
    out.code_address = address;
  }
  const bool entered = std::any_of(out.segments.begin(), out.segments.end(), [&](const Segment& s) {
    return out.entry >= s.address && out.entry - s.address < s.bytes.size() && out.entry % 4 == 0;
  });
  if (!entered) return wrong("its entry is not in it");
  return out;
}

}  // namespace buda::kernels
