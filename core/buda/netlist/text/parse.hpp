// SPDX-License-Identifier: Apache-2.0
// Reads netlists.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

struct ParseOptions {
  // Which architecture is meant when the file lists several; it must be one of them. Empty: the file has to name just one.
  std::string arch;
  // With several and no `arch`, take the first of them; for those who validate the netlist on each, or want no device at all.
  bool any_arch = false;
  // Leave queues and graphs of several chips as they are written, with `instances`. No later stage takes such a netlist.
  bool keep_instances = false;
};

// The architectures that a netlist may name.
const std::vector<std::string>& known_archs();

// Every error of the file is collected, up to a hundred, in the order of their places. What comes out is complete and well-formed: all
// required fields are there, lists have the lengths they should, products of dimensions fit in 64 bits, several instances are expanded.
// Whether it makes sense is check_netlist's business. An op of a type that does not exist is an error among the findings (NL003), and a
// plain op with as many inputs stands in for it. Time is linear in the size of the file.
Result<Netlist> parse_netlist(std::string_view text, const std::string& file, const ParseOptions& options = {});

// Bounds that the reader keeps, far above what any chip can hold, so that nobody after it needs to check products.
inline constexpr std::int64_t kMaxDimension = 1 << 20;                 // of a grid, t, mblock or ublock
inline constexpr std::int64_t kMaxTiles = std::int64_t{1} << 32;       // of a tensor
inline constexpr std::int64_t kMaxQueueTiles = std::int64_t{1} << 40;  // of all entries of a queue

}  // namespace buda::netlist
