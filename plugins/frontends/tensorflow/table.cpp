// SPDX-License-Identifier: Apache-2.0
// The table's file: blocks of entries, an index block with the place of each, and a footer with the place of the index
// (LevelDB documentation, "Table format"). Each block is followed by a byte for its compression and a checksum over both.
#include "table.hpp"

#include "masked_crc.hpp"

#include <buda/base/text.hpp>

#include <cstring>
#include <optional>

namespace buda::tensorflow_frontend {
namespace {

constexpr std::uint64_t kMagic = 0xdb4775248b80fb57;
constexpr std::size_t kFooter = 48, kTrailer = 5;
// Keys share their beginnings, so few bytes can stand for many long ones.
constexpr std::size_t kLongestKey = 4096, kMaxEntries = std::size_t{1} << 18;

template <class T>
T little_endian(std::string_view bytes) {
  T out = 0;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

Diagnostic broken(std::string_view what) { return input_error("GF010", {}, cat("is not a complete table of a checkpoint: ", what)); }

struct Handle {
  std::uint64_t offset = 0, size = 0;
};

// A varint at the beginning of `bytes`, which is cut off.
std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if ((byte & 0x80u) == 0) return value;
  }
  return std::nullopt;
}

std::optional<Handle> take_handle(std::string_view& bytes) {
  auto offset = take_varint(bytes);
  auto size = offset ? take_varint(bytes) : std::nullopt;
  if (!size) return std::nullopt;
  return Handle{*offset, *size};
}

Result<std::string_view> block(std::string_view file, const Handle& handle) {
  if (handle.offset > file.size() || file.size() - handle.offset < kTrailer || handle.size > file.size() - handle.offset - kTrailer)
    return broken("a block lies outside the file");
  auto size = static_cast<std::size_t>(handle.size);
  std::string_view with_type = file.substr(static_cast<std::size_t>(handle.offset), size + 1);
  auto stored = little_endian<std::uint32_t>(file.substr(static_cast<std::size_t>(handle.offset) + size + 1, 4));
  if (stored != masked_crc32c(with_type)) return broken("the checksum of a block does not fit its bytes");
  if (with_type.back() != '\0') return broken("a block is compressed, which is not supported");
  return with_type.substr(0, size);
}

// A block's entries, to take(key, value).
template <class F>
Result<void> each_entry(std::string_view block, F take) {
  if (block.size() < 4) return broken("a block is too short");
  auto restarts = little_endian<std::uint32_t>(block.substr(block.size() - 4));
  if (restarts > (block.size() - 4) / 4) return broken("a block is too short for its restart points");
  std::string_view rest = block.substr(0, block.size() - 4 - std::size_t{4} * restarts);
  std::string key;
  while (!rest.empty()) {
    auto shared = take_varint(rest), own = shared ? take_varint(rest) : std::nullopt, length = own ? take_varint(rest) : std::nullopt;
    if (!length) return broken("an entry is cut off");
    if (*shared > key.size() || *own > kLongestKey || *shared + *own > kLongestKey || *own > rest.size() || *length > rest.size() - *own)
      return broken("an entry leads out of its block");
    key.resize(static_cast<std::size_t>(*shared));
    key.append(rest.substr(0, static_cast<std::size_t>(*own)));
    rest.remove_prefix(static_cast<std::size_t>(*own));
    BUDA_TRY(take(key, rest.substr(0, static_cast<std::size_t>(*length))));
    rest.remove_prefix(static_cast<std::size_t>(*length));
  }
  return success();
}

}  // namespace

Result<std::map<std::string, std::string_view>> table_entries(std::string_view file) {
  if (file.size() < kFooter || little_endian<std::uint64_t>(file.substr(file.size() - 8)) != kMagic)
    return broken("it does not end with a table's footer");
  std::string_view footer = file.substr(file.size() - kFooter, kFooter - 8);
  auto of_meta = take_handle(footer), of_index = of_meta ? take_handle(footer) : std::nullopt;
  if (!of_index) return broken("its footer names no index");
  BUDA_ASSIGN(std::string_view index, block(file, *of_index));
  std::map<std::string, std::string_view> out;
  auto take_block = [&](const std::string&, std::string_view place) -> Result<void> {
    auto handle = take_handle(place);
    if (!handle) return broken("its index names no block");
    BUDA_ASSIGN(std::string_view data, block(file, *handle));
    return each_entry(data, [&](const std::string& key, std::string_view value) -> Result<void> {
      if (out.size() >= kMaxEntries) return broken(cat("it has more than ", kMaxEntries, " entries"));
      out[key] = value;
      return success();
    });
  };
  BUDA_TRY(each_entry(index, take_block));
  return out;
}

}  // namespace buda::tensorflow_frontend
