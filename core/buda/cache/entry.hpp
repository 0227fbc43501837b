// SPDX-License-Identifier: Apache-2.0
// What a store knows of one piece of work: products, and the files that they were made from (format buda.cache/1).
#pragma once

#include <buda/io/node.hpp>
#include <buda/schema/record.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::cache {

// Digests are those of io::sha256_hex.
struct Making {
  std::map<std::string, std::string> inputs;    // digest by absolute path
  std::map<std::string, std::string> products;  // digest by name
  friend bool operator==(const Making&, const Making&) = default;
};

// The makings of one key, the latest first: a key says what was asked for, not what the files held that the work came upon.
struct Entry {
  std::vector<Making> makings;
};

const schema::Record<Making>& describe(const Making*);
const schema::Record<Entry>& describe(const Entry*);

}  // namespace buda::cache
