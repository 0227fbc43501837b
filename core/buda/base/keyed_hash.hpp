// SPDX-License-Identifier: Apache-2.0
// A hash for tables whose keys come from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace buda {

// SipHash-2-4 (Aumasson and Bernstein, 2012): without the key nobody can make a file whose names all fall into one place of a table, which
// would make each look-up walk through all of them.
std::uint64_t sip_hash(std::string_view bytes, std::uint64_t key0, std::uint64_t key1);

// For unordered containers of texts; takes string views without copies. The key is drawn once for each process, so that the order of such
// a container is another in each run: look things up in it, and never walk it.
struct KeyedHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const;
};

}  // namespace buda
