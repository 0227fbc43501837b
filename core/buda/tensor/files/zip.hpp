// SPDX-License-Identifier: Apache-2.0
// Zip archives, as far as .npz files and TorchScript archives need them.
#pragma once

#include <buda/io/file_system.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

enum class ZipMethod : std::uint16_t { stored = 0, deflated = 8 };

struct ZipMember {
  std::string name;
  io::Bytes content;  // shares the archive's memory where the member is stored
};

// All files of an archive in the order of its directory; folders are passed over. Understands ZIP64. Checksums are verified; members that
// overlap, have equal names, are encrypted or packed by another method than the two are errors.
Result<std::vector<ZipMember>> parse_zip(const io::Bytes& archive, const std::string& path);

// Writes an archive front to back. All times are 1980-01-01, the earliest that the format knows.
class ZipWriter {
 public:
  // Sizes and offsets from `zip64_from` on are written in ZIP64's way; the default is where they no longer fit otherwise.
  explicit ZipWriter(io::OutputFile& out, std::uint64_t zip64_from = std::numeric_limits<std::uint32_t>::max())
      : out_(out), zip64_from_(zip64_from) {}

  // The content of a member is given in pieces. Names must be different from each other.
  Result<void> add(const std::string& name, std::span<const std::string_view> pieces, ZipMethod method);
  // The directory; nothing can be added after it.
  Result<void> finish();

 private:
  struct Entry {
    std::string name;
    ZipMethod method = ZipMethod::stored;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, offset = 0;
  };
  bool large(std::uint64_t value) const { return value >= zip64_from_; }
  std::string fixed_fields(const Entry& entry, bool zip64) const;
  std::string local_header(const Entry& entry) const;
  std::string directory_entry(const Entry& entry) const;
  Result<void> write(std::string_view bytes);

  io::OutputFile& out_;
  std::uint64_t zip64_from_;
  std::uint64_t written_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace buda

#pragma GCC visibility pop
