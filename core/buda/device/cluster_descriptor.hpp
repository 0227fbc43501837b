// SPDX-License-Identifier: Apache-2.0
// Cluster descriptors of TT-Buda: which chips there are and which ethernet channels are joined. Internal to the module.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/io/node.hpp>

namespace buda::device {

bool is_cluster_descriptor(const io::Node& top);

// The links, each once, in the order of the file. What else the descriptor says (places in racks, harvesting) has no meaning here; unknown
// keys are errors.
Result<std::vector<EthLink>> read_cluster_descriptor(const io::Node& top);

// The chips that the host reaches directly: [0, 1], or [{0: 0}, {1: 1}] with their places on the host's bus. Empty where it names none.
Result<std::vector<std::int32_t>> read_mmio_chips(const io::Node& top);

}  // namespace buda::device
