// SPDX-License-Identifier: Apache-2.0
// Identifies buffers, then follows the pipes backwards.
#include <buda/pipes/check/check.hpp>

#include <buda/pipes/check/check_ops.hpp>
#include <buda/pipes/check/check_readers.hpp>
#include <buda/pipes/check/check_relays.hpp>
#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/findings.hpp>

#include <utility>

namespace buda::pipes {

Result<CheckCounts> check_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                                const PaddingTable& padding, const PipeGraph& graph, const device::Cluster& cluster) {
  Findings findings;
  const CheckedEpoch what{index, device, cluster, epoch, padding, graph, BufferIndex(graph.buffers)};
  const Owners owners = find_owners(what, findings);
  const Feeds feeds = find_feeds(what, owners, findings);
  Trace trace(what, owners, feeds, findings);
  const Checked checked{what, owners, feeds, trace};
  for (const auto* g : epoch.graphs)
    for (const netlist::Op& op : g->ops) check_op(checked, op, *g, findings);
  check_readers(what, findings);
  check_relays(checked, findings);
  if (!findings.failure.empty()) return std::move(findings.failure);
  return findings.counts;
}

}  // namespace buda::pipes
