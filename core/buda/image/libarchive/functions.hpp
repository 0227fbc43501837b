// SPDX-License-Identifier: Apache-2.0
// What libbuda_archive.so, which is loaded with the first archive, does with libarchive.
#pragma once

#include <buda/image/archive.hpp>

namespace buda::image {

// read_archive and write_archive.
Result<Members> read_by_libarchive(const io::Bytes& bytes, const std::string& path, const ArchiveLimits& limits);
Result<void> write_by_libarchive(io::OutputFile& out, const Members& members);

struct ArchiveFunctions {
  decltype(&read_by_libarchive) read;
  decltype(&write_by_libarchive) write;
};

}  // namespace buda::image
