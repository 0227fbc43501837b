// SPDX-License-Identifier: Apache-2.0
// Reading of zip archives (PKWARE APPNOTE 6.3.x), from the end: the end record tells where the directory is, the directory where the
// members are. The archive may come from anywhere, so every offset is checked before it is followed, and no more is allocated than the
// packed bytes can possibly give.
#include <buda/tensor/files/zip.hpp>

#include <buda/base/text.hpp>
#include <buda/io/checksum.hpp>
#include <buda/tensor/bytes/aligned_memory.hpp>
#include <buda/tensor/bytes/little_endian.hpp>

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>

namespace buda {
namespace {

constexpr std::size_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kEntrySize = 46, kLocalSize = 30;
constexpr std::uint32_t kEndMark = 0x06054b50, kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50, kEntryMark = 0x02014b50,
                        kLocalMark = 0x04034b50;
constexpr std::uint64_t kIn64 = 0xffffffff;
// Deflate cannot do better: 258 bytes from two bits, less the cost of a block.
constexpr std::uint64_t kBestRatio = 1032;

struct Directory {
  std::uint64_t offset = 0, size = 0, count = 0;
};

struct DirectoryEntry {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0, offset = 0;  // offset of the local header
};

class ZipReader {
 public:
  ZipReader(const io::Bytes& archive, const std::string& path) : archive_(archive), text_(archive.view()), path_(path) {}

  Result<std::vector<ZipMember>> parse() {
    BUDA_ASSIGN(Directory directory, find_directory());
    BUDA_ASSIGN(std::vector<DirectoryEntry> entries, read_directory(directory));
    std::vector<io::Bytes> packed;
    BUDA_TRY(locate(entries, directory, packed));
    std::vector<ZipMember> members;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      BUDA_ASSIGN(io::Bytes content, unpacked(entries[i], packed[i]));
      if (io::crc32(content.view()) != entries[i].crc)
        return error(cat("member '", entries[i].name, "' is damaged: its checksum does not match"));
      members.push_back({std::move(entries[i].name), std::move(content)});
    }
    return members;
  }

 private:
  bool has(std::uint64_t offset, std::uint64_t count) const { return offset <= text_.size() && count <= text_.size() - offset; }
  std::uint16_t u16(std::uint64_t at) const { return load_le<std::uint16_t>(text_, at); }
  std::uint32_t u32(std::uint64_t at) const { return load_le<std::uint32_t>(text_, at); }
  std::uint64_t u64(std::uint64_t at) const { return load_le<std::uint64_t>(text_, at); }
  Diagnostic error(std::string message) const { return input_error("TN021", {path_}, std::move(message)); }
  Diagnostic not_whole() const { return error("is not a complete zip archive: it may have been cut off while it was copied"); }

  Result<Directory> find_directory() const {
    // The end record is followed by a comment, whose length it tells, and nothing else.
    if (text_.size() < kEndSize) return not_whole();
    std::uint64_t last = text_.size() - kEndSize, first = last > 0xffff ? last - 0xffff : 0;
    for (std::uint64_t at = last + 1; at-- > first;) {
      if (u32(at) != kEndMark || u16(at + 20) != text_.size() - kEndSize - at) continue;
      Directory directory{u32(at + 16), u32(at + 12), u16(at + 10)};
      bool split = u16(at + 4) != 0 || u16(at + 6) != 0 || u16(at + 8) != directory.count;
      std::uint64_t limit = at;
      if (directory.offset == kIn64 || directory.size == kIn64 || directory.count == 0xffff) {
        std::uint64_t end64 = at < kLocatorSize || u32(at - kLocatorSize) != kLocatorMark ? kIn64 : u64(at - kLocatorSize + 8);
        if (end64 != kIn64) {
          if (!has(end64, kEnd64Size) || u32(end64) != kEnd64Mark) return not_whole();
          split = u32(end64 + 16) != 0 || u32(end64 + 20) != 0;
          directory = {u64(end64 + 48), u64(end64 + 40), u64(end64 + 32)};
          limit = end64;
        }
      }
      if (split) return error("is one part of an archive in several files");
      if (directory.offset > limit || directory.size > limit - directory.offset) return not_whole();
      return directory;
    }
    return not_whole();
  }

  Result<std::vector<DirectoryEntry>> read_directory(const Directory& directory) const {
    std::uint64_t at = directory.offset, end = directory.offset + directory.size;
    std::vector<DirectoryEntry> entries;
    for (std::uint64_t i = 0; i < directory.count; ++i) {
      if (end - at < kEntrySize || u32(at) != kEntryMark) return error(cat("has a damaged directory: entry ", i, " of ", directory.count));
      std::uint64_t name = u16(at + 28), extra = u16(at + 30), comment = u16(at + 32);
      if (name + extra + comment > end - at - kEntrySize) return error(cat("has a damaged directory: entry ", i, " of ", directory.count));
      DirectoryEntry entry{std::string(text_.substr(at + kEntrySize, name)),
                           u16(at + 8),
                           u16(at + 10),
                           u32(at + 16),
                           u32(at + 20),
                           u32(at + 24),
                           u32(at + 42)};
      if (!apply_zip64(entry, text_.substr(at + kEntrySize + name, extra)))
        return error(cat("has a damaged directory: the ZIP64 field of member '", entry.name, "'"));
      bool folder = entry.name.ends_with('/') && entry.size == 0;
      if (!folder) entries.push_back(std::move(entry));
      at += kEntrySize + name + extra + comment;
    }
    if (at != end) return error("has a damaged directory: something follows its last entry");
    return entries;
  }

  // Values that do not fit in 32 bits are in an extra field, just those, in this order.
  static bool apply_zip64(DirectoryEntry& entry, std::string_view extra) {
    if (entry.size != kIn64 && entry.packed != kIn64 && entry.offset != kIn64) return true;
    while (extra.size() >= 4) {
      auto id = load_le<std::uint16_t>(extra, 0);
      std::size_t size = load_le<std::uint16_t>(extra, 2);
      if (size > extra.size() - 4) return false;
      std::string_view field = extra.substr(4, size);
      extra.remove_prefix(4 + size);
      if (id != 1) continue;
      for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
        if (*value != kIn64) continue;
        if (field.size() < 8) return false;
        *value = load_le<std::uint64_t>(field, 0);
        field.remove_prefix(8);
      }
      return true;
    }
    return false;
  }

  // Before anything is unpacked: members that share packed bytes could ask for more memory than any honest archive of this size.
  Result<void> locate(const std::vector<DirectoryEntry>& entries, const Directory& directory, std::vector<io::Bytes>& packed) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> used;
    std::set<std::string_view> names;
    for (const DirectoryEntry& entry : entries) {
      if (!is_valid_utf8(entry.name)) return error("has a member whose name is not UTF-8");
      if (!names.insert(entry.name).second) return error(cat("has two members '", entry.name, "'"));
      BUDA_ASSIGN(io::Bytes bytes, packed_bytes(entry, directory));
      used.emplace_back(entry.offset, static_cast<std::uint64_t>(bytes.data() - text_.data()) + bytes.size());
      packed.push_back(std::move(bytes));
    }
    std::sort(used.begin(), used.end());
    for (std::size_t i = 1; i < used.size(); ++i)
      if (used[i].first < used[i - 1].second) return error("has members that overlap");
    return success();
  }

  Result<io::Bytes> packed_bytes(const DirectoryEntry& entry, const Directory& directory) const {
    if ((entry.flags & 1) != 0) return error(cat("member '", entry.name, "' is encrypted"));
    auto damaged = [&] { return error(cat("member '", entry.name, "' is not where the directory says")); };
    if (!has(entry.offset, kLocalSize) || u32(entry.offset) != kLocalMark) return damaged();
    std::uint64_t name = u16(entry.offset + 26), extra = u16(entry.offset + 28);
    std::uint64_t start = entry.offset + kLocalSize;
    if (!has(start, name + extra) || text_.substr(start, name) != entry.name) return damaged();
    start += name + extra;
    if (start > directory.offset || entry.packed > directory.offset - start) return damaged();
    return archive_.slice(start, entry.packed);
  }

  Result<io::Bytes> unpacked(const DirectoryEntry& entry, const io::Bytes& packed) const {
    auto damaged = [&] {
      return error(cat("member '", entry.name, "' is damaged: it does not have the ", entry.size,
                       " bytes that the directory of the archive states"));
    };
    if (entry.method == static_cast<std::uint16_t>(ZipMethod::stored)) {
      if (entry.packed != entry.size) return damaged();
      return packed;
    }
    if (entry.method != static_cast<std::uint16_t>(ZipMethod::deflated)) {
      Diagnostic d = error(cat("member '", entry.name, "' is packed by method ", entry.method, "; 0 (stored) and 8 (deflated) are known"));
      d.hint = "write it again with numpy.savez or numpy.savez_compressed";
      return d;
    }
    if (entry.size / kBestRatio > entry.packed) return damaged();
    auto memory = allocate_aligned(entry.size);
    if (!memory)
      return input_error("TN002", {path_},
                         cat("member '", entry.name, "' of ", bytes_text(entry.size), " does not fit in this machine's memory"));
    if (!inflate_all(packed.view(), memory.get(), entry.size)) return damaged();
    return io::Bytes(memory, std::string_view(memory.get(), entry.size));
  }

  // Exactly `size` bytes from all of `packed`. zlib's counters have 32 bits, so that it is fed and emptied by parts.
  static bool inflate_all(std::string_view packed, char* out, std::size_t size) {
    z_stream stream{};
    if (inflateInit2(&stream, -15) != Z_OK) return false;
    constexpr std::size_t kPart = 1 << 30;
    std::size_t in_at = 0, out_at = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      std::size_t in_part = std::min(kPart, packed.size() - in_at), out_part = std::min(kPart, size - out_at);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in_at));
      stream.avail_in = static_cast<uInt>(in_part);
      stream.next_out = reinterpret_cast<Bytef*>(out + out_at);
      stream.avail_out = static_cast<uInt>(out_part);
      status = inflate(&stream, Z_NO_FLUSH);
      in_at += in_part - stream.avail_in;
      out_at += out_part - stream.avail_out;
      // Without progress zlib says Z_BUF_ERROR, which ends the loop.
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && in_at == packed.size() && out_at == size;
  }

  const io::Bytes& archive_;
  std::string_view text_;
  const std::string& path_;
};

}  // namespace

Result<std::vector<ZipMember>> parse_zip(const io::Bytes& archive, const std::string& path) { return ZipReader(archive, path).parse(); }

}  // namespace buda
