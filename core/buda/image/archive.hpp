// SPDX-License-Identifier: Apache-2.0
// Tar and zip archives as lists of named bytes: read from memory without trust, written the same way every time.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::image {

// A file in an archive. Names are relative, with '/' between their parts.
using Members = std::map<std::string, io::Bytes>;

struct ArchiveLimits {
  std::size_t most_members = 1'000'000;
  // Bytes of all members together, where they are compressed: this many, or this many times the archive, whichever is more. Stored
  // members are parts of the archive and need no limit.
  std::uint64_t unpacked_bytes = std::uint64_t{1} << 30;
  std::uint64_t unpacked_ratio = 100;
};

// Reads a plain tar (ustar, pax, GNU) or a zip. Members of a tar share the archive's memory. Refused: what is neither, names that are
// absolute or lead upwards, links and devices, sparse files, a name twice, more than the limits allow, and anything cut short.
// Directories are passed over. `path` names the archive in messages.
Result<Members> read_archive(const io::Bytes& bytes, const std::string& path, const ArchiveLimits& limits = {});

// Whether a name may be used as a path below a directory of the user's: relative, no empty, "." or ".." parts, no control characters.
bool is_safe_name(std::string_view name);

// Writes a plain tar (ustar, with pax headers only where a name or size needs them): members in the order of names, owner 0, time 0,
// mode 0644. The same members give the same bytes.
Result<void> write_archive(io::OutputFile& out, const Members& members);

}  // namespace buda::image

#pragma GCC visibility pop
