// SPDX-License-Identifier: Apache-2.0
// Names of members; what reads and writes archives is loaded when it is needed.
#include <buda/image/archive.hpp>

#include <buda/base/late_library.hpp>
#include <buda/base/text.hpp>
#include <buda/image/libarchive/functions.hpp>

#include <algorithm>

namespace buda::image {
namespace {

const ArchiveFunctions& functions() {
  static const ArchiveFunctions& all = late_functions<ArchiveFunctions>(BUDA_LATE_ARCHIVE, "buda_archive_functions");
  return all;
}

}  // namespace

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > 4096) return false;
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\'; }))
    return false;
  for (std::string_view part : split(name, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

Result<Members> read_archive(const io::Bytes& bytes, const std::string& path, const ArchiveLimits& limits) {
  return functions().read(bytes, path, limits);
}

Result<void> write_archive(io::OutputFile& out, const Members& members) { return functions().write(out, members); }

}  // namespace buda::image
