// SPDX-License-Identifier: Apache-2.0
// Writing of zip archives (PKWARE APPNOTE 6.3.x: local headers, central directory, ZIP64 records).
#include <buda/tensor/files/zip.hpp>

#include <buda/base/text.hpp>
#include <buda/io/checksum.hpp>
#include <buda/tensor/bytes/little_endian.hpp>

#include <zlib.h>

#include <algorithm>

namespace buda {
namespace {

constexpr std::uint16_t kPlainVersion = 20, kZip64Version = 45;
constexpr std::uint16_t kUtf8Names = 1 << 11;
constexpr std::uint16_t kMidnight = 0, kFirstOfJanuary1980 = 1 << 5 | 1;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint32_t kSizeIn64 = 0xffffffff;  // stands where the value is in a ZIP64 field
constexpr std::size_t kLongestName = 0xffff;

std::uint16_t low16(std::uint64_t v) { return static_cast<std::uint16_t>(v); }
std::uint32_t low32(std::uint64_t v) { return static_cast<std::uint32_t>(v); }

// Raw deflate of all pieces; zlib's default level. Its counters have 32 bits, so that large pieces go in by parts.
Result<std::string> deflated(std::span<const std::string_view> pieces) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return internal_error("zlib cannot be set up for deflating");
  constexpr std::size_t kPart = 1 << 30;
  std::string out, buffer(1 << 16, '\0');
  auto run = [&](int flush) {
    int status = Z_OK;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      status = deflate(&stream, flush);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0 && status == Z_OK);
  };
  for (std::string_view piece : pieces) {
    for (std::size_t at = 0; at < piece.size(); at += kPart) {
      std::string_view part = piece.substr(at, kPart);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream.avail_in = static_cast<uInt>(part.size());
      run(Z_NO_FLUSH);
    }
  }
  run(Z_FINISH);
  deflateEnd(&stream);
  return out;
}

}  // namespace

Result<void> ZipWriter::write(std::string_view bytes) {
  written_ += bytes.size();
  return out_.write(bytes);
}

// What local headers and directory entries share: version … length of the name, without the length of the extra field.
std::string ZipWriter::fixed_fields(const Entry& entry, bool zip64) const {
  bool ascii = std::all_of(entry.name.begin(), entry.name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string out;
  append_le(out, zip64 ? kZip64Version : kPlainVersion);
  append_le(out, ascii ? std::uint16_t{0} : kUtf8Names);
  append_le(out, static_cast<std::uint16_t>(entry.method));
  append_le(out, kMidnight);
  append_le(out, kFirstOfJanuary1980);
  append_le(out, entry.crc);
  return out;
}

std::string ZipWriter::local_header(const Entry& entry) const {
  // In a local header the ZIP64 field holds both sizes or is not there.
  bool zip64 = large(entry.size) || large(entry.packed);
  std::string out;
  append_le(out, std::uint32_t{0x04034b50});
  out += fixed_fields(entry, zip64);
  append_le(out, zip64 ? kSizeIn64 : low32(entry.packed));
  append_le(out, zip64 ? kSizeIn64 : low32(entry.size));
  append_le(out, low16(entry.name.size()));
  append_le(out, low16(zip64 ? 4 + 16 : 0));
  out += entry.name;
  if (zip64) {
    append_le(out, kZip64Extra);
    append_le(out, std::uint16_t{16});
    append_le(out, entry.size);
    append_le(out, entry.packed);
  }
  return out;
}

std::string ZipWriter::directory_entry(const Entry& entry) const {
  // Here it holds just the values that are marked as being there, in this order.
  std::string extra;
  for (std::uint64_t value : {entry.size, entry.packed, entry.offset})
    if (large(value)) append_le(extra, value);
  auto field = [&](std::uint64_t value) { return large(value) ? kSizeIn64 : low32(value); };
  std::string out;
  append_le(out, std::uint32_t{0x02014b50});
  append_le(out, extra.empty() ? kPlainVersion : kZip64Version);  // made by; the upper byte 0 is MS-DOS: no Unix permissions
  out += fixed_fields(entry, !extra.empty());
  append_le(out, field(entry.packed));
  append_le(out, field(entry.size));
  append_le(out, low16(entry.name.size()));
  append_le(out, low16(extra.empty() ? 0 : 4 + extra.size()));
  out += std::string(2 + 2 + 2 + 4, '\0');  // length of comment, disk, attributes
  append_le(out, field(entry.offset));
  out += entry.name;
  if (!extra.empty()) {
    append_le(out, kZip64Extra);
    append_le(out, low16(extra.size()));
    out += extra;
  }
  return out;
}

Result<void> ZipWriter::add(const std::string& name, std::span<const std::string_view> pieces, ZipMethod method) {
  if (name.size() > kLongestName) return input_error("TN022", {}, cat("a name of ", name.size(), " bytes is too long for an .npz file"));
  if (!is_valid_utf8(name)) return input_error("TN022", {}, "a name that is not UTF-8 cannot be written to an .npz file");
  Entry entry;
  entry.name = name;
  entry.method = method;
  entry.offset = written_;
  for (std::string_view piece : pieces) {
    entry.size += piece.size();
    entry.crc = io::crc32(piece, entry.crc);
  }
  std::string packed;
  std::string_view packed_piece;
  if (method == ZipMethod::deflated) {
    BUDA_ASSIGN(packed, deflated(pieces));
    packed_piece = packed;
    pieces = {&packed_piece, 1};
  }
  for (std::string_view piece : pieces) entry.packed += piece.size();
  BUDA_TRY(write(local_header(entry)));
  for (std::string_view piece : pieces) BUDA_TRY(write(piece));
  entries_.push_back(std::move(entry));
  return success();
}

Result<void> ZipWriter::finish() {
  std::uint64_t start = written_;
  for (const Entry& entry : entries_) BUDA_TRY(write(directory_entry(entry)));
  std::uint64_t end = written_, size = end - start, count = entries_.size();
  bool many = count >= std::min<std::uint64_t>(zip64_from_, 0xffff);
  std::string out;
  if (many || large(start) || large(size)) {
    append_le(out, std::uint32_t{0x06064b50});
    append_le(out, std::uint64_t{44});  // bytes of this record after this field
    append_le(out, kZip64Version);
    append_le(out, kZip64Version);
    append_le(out, std::uint32_t{0});  // disks
    append_le(out, std::uint32_t{0});
    append_le(out, count);
    append_le(out, count);
    append_le(out, size);
    append_le(out, start);
    append_le(out, std::uint32_t{0x07064b50});
    append_le(out, std::uint32_t{0});
    append_le(out, end);
    append_le(out, std::uint32_t{1});
  }
  append_le(out, std::uint32_t{0x06054b50});
  append_le(out, std::uint32_t{0});  // disks
  append_le(out, low16(many ? 0xffff : count));
  append_le(out, low16(many ? 0xffff : count));
  append_le(out, large(size) ? kSizeIn64 : low32(size));
  append_le(out, large(start) ? kSizeIn64 : low32(start));
  append_le(out, std::uint16_t{0});  // length of comment
  return write(out);
}

}  // namespace buda
