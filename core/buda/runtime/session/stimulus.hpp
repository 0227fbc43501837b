// SPDX-License-Identifier: Apache-2.0
// Data for the queues of a bare netlist: random, but such as its ops can use.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/runtime/session/test_config.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace buda::runtime {

// A tensor for every queue and ram that comes from outside and that an op reads (input_queues): (w, z, r, c), in the host's type of the
// queue's format. `entries` says how many each gets (entries_read tells what a run needs); all that it has where nothing is said. Numbers
// are as the netlist's test-config says; where it says nothing, uniform in [-1, 1), for integer formats in [-16, 16] or [0, 32]. Whatever
// it says, queues that only make sense with certain contents have those: the index tiles of sparse matmuls (every row of cores lists
// products within its blocks), sparse tiles (one 1 per row), indices of embeddings (rows of their table) and of topk (places in a row).
// What topk sorts are numbers that the format holds. The same seed gives the same data, queue by queue, whatever else the netlist has.
Result<NamedTensors> stimulate(const netlist::Netlist& netlist, const TestConfig& config, std::uint64_t seed,
                               const std::map<std::string, std::int64_t>& entries);

}  // namespace buda::runtime
