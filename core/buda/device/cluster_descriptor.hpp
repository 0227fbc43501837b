// Cluster descriptors of TT-Buda: which chips there are and which ethernet channels are joined. Internal to the module.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/io/node.hpp>

namespace buda::device {

bool is_cluster_descriptor(const io::Node& top);

// The links, each once, in the order of the file. What else the descriptor says (places in racks, which chips the host reaches,
// harvesting) has no meaning here; unknown keys are errors.
Result<std::vector<EthLink>> read_cluster_descriptor(const io::Node& top);

}  // namespace buda::device
