// SPDX-License-Identifier: Apache-2.0
// Archives through libarchive: libbuda_archive.so.
#include <buda/image/libarchive/functions.hpp>

#include <buda/base/text.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

namespace buda::image {
namespace {

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

std::string reason(archive* a) {
  const char* text = archive_error_string(a);
  return text == nullptr ? "unknown reason" : text;
}

// The data of the current member: a slice of the archive where libarchive hands out pointers into it, otherwise a copy.
class MemberReader {
 public:
  MemberReader(archive* a, const io::Bytes& whole, std::uint64_t& copied, std::uint64_t most_copied)
      : archive_(a), whole_(whole), copied_(copied), most_copied_(most_copied) {}

  // Nothing: too large; the archive's error otherwise.
  enum class End { complete, failed, too_large, has_hole };

  End read(io::Bytes& out) {
    std::optional<io::Bytes> slice;
    std::string copy;
    while (true) {
      const void* data = nullptr;
      std::size_t size = 0;
      std::int64_t offset = 0;
      int status = archive_read_data_block(archive_, &data, &size, &offset);
      if (status == ARCHIVE_EOF) break;
      if (status != ARCHIVE_OK) return End::failed;
      if (size == 0) continue;
      if (static_cast<std::uint64_t>(offset) != copy.size() + (slice ? slice->size() : 0)) return End::has_hole;
      const char* begin = static_cast<const char*>(data);
      if (copy.empty() && !slice && is_inside(begin, size)) {
        slice = whole_.slice(static_cast<std::size_t>(begin - whole_.data()), size);
        continue;
      }
      if (slice && is_inside(begin, size) && begin == slice->data() + slice->size()) {
        slice = whole_.slice(static_cast<std::size_t>(slice->data() - whole_.data()), slice->size() + size);
        continue;
      }
      if (slice) {
        copy = std::string(slice->view());
        copied_ += copy.size();
        slice.reset();
      }
      copied_ += size;
      if (copied_ > most_copied_) return End::too_large;
      copy.append(begin, size);
    }
    out = slice ? *slice : io::Bytes(std::move(copy));
    return End::complete;
  }

 private:
  bool is_inside(const char* begin, std::size_t size) const {
    auto first = reinterpret_cast<std::uintptr_t>(whole_.data()), from = reinterpret_cast<std::uintptr_t>(begin);
    return from >= first && from - first <= whole_.size() && size <= whole_.size() - (from - first);
  }

  archive* archive_;
  const io::Bytes& whole_;
  std::uint64_t& copied_;
  std::uint64_t most_copied_;
};

std::string printable(const char* name) {
  std::string out;
  for (const char* c = name; *c != '\0' && out.size() < 200; ++c) out += static_cast<unsigned char>(*c) < 0x20 ? '?' : *c;
  return out;
}

// The name of a member that is a plain file; nothing for a directory.
Result<std::optional<std::string>> member_name(archive_entry* entry, const std::string& path) {
  const char* raw = archive_entry_pathname(entry);
  if (raw == nullptr) return input_error("IM004", {path}, "a member's name cannot be read");
  std::string name = raw;
  bool directory = archive_entry_filetype(entry) == AE_IFDIR;
  if (directory && name.ends_with('/')) name.pop_back();
  if (name.starts_with("./")) name.erase(0, 2);  // `tar -cf x -C dir .` writes these
  if (directory && (name.empty() || name == ".")) return std::optional<std::string>();
  if (!is_safe_name(name))
    return input_error("IM004", {path}, cat("member '", printable(raw), "': a name must be relative and must not contain '..'"));
  if (directory) return std::optional<std::string>();
  bool link = archive_entry_symlink(entry) != nullptr || archive_entry_hardlink(entry) != nullptr;
  if (link || archive_entry_filetype(entry) != AE_IFREG)
    return input_error("IM004", {path}, cat("member '", printable(raw), "' is a link or a device; only plain files are allowed"));
  if (archive_entry_sparse_count(entry) > 0)
    return input_error("IM004", {path}, cat("member '", printable(raw), "' is sparse, which is not allowed"));
  return std::optional<std::string>(std::move(name));
}

la_ssize_t write_block(archive* a, void* client, const void* data, std::size_t size) {
  auto& [out, failure] = *static_cast<std::pair<io::OutputFile*, std::optional<Failure>>*>(client);
  auto written = out->write({static_cast<const char*>(data), size});
  if (written) return static_cast<la_ssize_t>(size);
  failure = std::move(written).failure();
  archive_set_error(a, EIO, "the output file cannot be written");
  return -1;
}

}  // namespace

Result<Members> read_by_libarchive(const io::Bytes& bytes, const std::string& path, const ArchiveLimits& limits) {
  if (bytes.empty()) return input_error("IM001", {path}, "the file is empty; expected a tar or zip archive");
  Reader reader(archive_read_new(), &archive_read_free);
  if (!reader) return internal_error("libarchive gives no reader");
  archive_read_support_filter_none(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return input_error("IM001", {path}, cat("not a tar or zip archive: ", reason(reader.get())));

  const std::uint64_t most_copied = std::max<std::uint64_t>(limits.unpacked_bytes, bytes.size() * limits.unpacked_ratio);
  std::uint64_t copied = 0;
  std::size_t seen = 0;
  Members members;
  while (true) {
    archive_entry* entry = nullptr;
    int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
      return seen == 0 ? input_error("IM001", {path}, cat("not a tar or zip archive: ", reason(reader.get())))
                       : input_error("IM002", {path}, cat("the archive is damaged after ", seen, " members: ", reason(reader.get())));
    if (++seen > limits.most_members)
      return input_error("IM003", {path}, cat("the archive has more than ", limits.most_members, " members"));
    BUDA_ASSIGN(auto name, member_name(entry, path));
    if (!name) continue;
    io::Bytes data;
    switch (MemberReader(reader.get(), bytes, copied, most_copied).read(data)) {
      case MemberReader::End::complete:
        break;
      case MemberReader::End::failed:
        return input_error("IM002", {path}, cat("member '", *name, "' is damaged: ", reason(reader.get())));
      case MemberReader::End::has_hole:
        return input_error("IM004", {path}, cat("member '", *name, "' is sparse, which is not allowed"));
      case MemberReader::End::too_large:
        return input_error("IM003", {path},
                           cat("the members unpack to more than ", bytes_text(most_copied), ", ", limits.unpacked_ratio,
                               " times the size of the archive; such an archive is rejected as an attack"));
    }
    // Zip entries may state their size; what is there counts. Tar entries that end early are reported by libarchive.
    if (!members.emplace(*name, std::move(data)).second) return input_error("IM004", {path}, cat("member '", *name, "' occurs twice"));
  }
  return members;
}

Result<void> write_by_libarchive(io::OutputFile& out, const Members& members) {
  // Outlives the writer, which writes once more when it is freed.
  std::pair<io::OutputFile*, std::optional<Failure>> client{&out, std::nullopt};
  Writer writer(archive_write_new(), &archive_write_free);
  if (!writer) return internal_error("libarchive gives no writer");
  archive_write_set_format_pax_restricted(writer.get());
  // Names are bytes, whatever the locale. Said only where it matters: it costs every member a header of its own, which GNU tar wonders at.
  const bool ascii = std::all_of(members.begin(), members.end(), [](const auto& member) {
    return std::all_of(member.first.begin(), member.first.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  });
  if (!ascii) archive_write_set_options(writer.get(), "hdrcharset=BINARY");
  // libarchive hands on what it is given in pieces of this size; its default, of a tape, is 10 KiB.
  constexpr int kPiece = 1 << 20;
  archive_write_set_bytes_per_block(writer.get(), kPiece);
  archive_write_set_bytes_in_last_block(writer.get(), 1);  // no padding beyond tar's own two blocks
  auto failed = [&]() -> Failure {
    if (client.second) return *client.second;
    return internal_error(cat("the archive cannot be written: ", reason(writer.get())));
  };
  if (archive_write_open(writer.get(), &client, nullptr, &write_block, nullptr) != ARCHIVE_OK) return failed();
  for (const auto& [name, bytes] : members) {
    if (!is_safe_name(name)) return input_error("IM004", {}, cat("'", printable(name.c_str()), "' cannot be the name of a member"));
    Entry entry(archive_entry_new(), &archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_uid(entry.get(), 0);
    archive_entry_set_gid(entry.get(), 0);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    if (archive_write_header(writer.get(), entry.get()) != ARCHIVE_OK) return failed();
    std::string_view rest = bytes.view();
    while (!rest.empty()) {
      la_ssize_t written = archive_write_data(writer.get(), rest.data(), rest.size());
      if (written <= 0) return failed();
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) return failed();
  return success();
}

}  // namespace buda::image

extern "C" {
__attribute__((visibility("default"))) extern const buda::image::ArchiveFunctions buda_archive_functions;
const buda::image::ArchiveFunctions buda_archive_functions{&buda::image::read_by_libarchive, &buda::image::write_by_libarchive};
}
