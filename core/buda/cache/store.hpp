// SPDX-License-Identifier: Apache-2.0
// A store of products on disk: work whose key and files are those of an earlier time need not be done again.
//
//   STORE/CACHEDIR.TAG       says to backup programs, and to clear(), that this is a cache
//   STORE/entries/KEY.json   what was made for a key (entry.hpp)
//   STORE/objects/DIGEST     the products
//
// It is on the machine's disk, whatever file system a stage works with. Files appear whole, so that programs may share a store.
// Whatever a store holds, a product that is taken has the digest that its entry says.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace buda::cache {

using Products = std::map<std::string, io::Bytes>;  // by name

// The products of the work `key` (64 hexadecimal digits, a digest of what was asked for), if they were made from files that hold today what
// they held then. Damaged parts of a store are as if they were not there. `inputs`, if wanted, become the files' names. `meanwhile`, if
// given, has products while their digests are computed: what it makes of them counts only if find() gives them.
std::optional<Products> find(const std::string& store, const std::string& key, std::set<std::string>* inputs = nullptr,
                             const std::function<void(const Products&)>& meanwhile = nullptr);

// Makes an empty store where there is none. A folder that holds other things than a store is refused (CA001).
Result<void> make(const std::string& store);

// Keeps products in a store. `inputs` are the files that they were made from, in work that began at `begun`: if one has changed since,
// nothing is kept.
Result<void> keep(const std::string& store, const std::string& key, const std::set<std::string>& inputs, const Products& products,
                  std::filesystem::file_time_type begun);

struct Size {
  std::uint64_t entries = 0, products = 0, bytes = 0;
};

// CA001 where there is no store.
Result<Size> measure(const std::string& store);

// Removes the products that were used longest ago until those that stay have `most_bytes` together, and gives how much went.
Result<Size> shrink(const std::string& store, std::uint64_t most_bytes);

}  // namespace buda::cache
