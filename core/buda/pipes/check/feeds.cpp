// SPDX-License-Identifier: Apache-2.0
// Inverts the outputs of pipes.
#include <buda/pipes/check/feeds.hpp>

#include <buda/base/text.hpp>

namespace buda::pipes {

Feeds find_feeds(const CheckedEpoch& epoch, const Owners& owners, Findings& findings) {
  Feeds out;
  for (std::size_t p = 0; p < epoch.graph.pipes.size(); ++p) {
    const Pipe& pipe = epoch.graph.pipes[p];
    for (std::size_t g = 0; g < pipe.outputs.size(); ++g)
      for (Id id : pipe.outputs[g]) {
        const Buffer* b = epoch.buffers.find(id);
        if (b == nullptr || b->id != id) {
          findings.error("PC007", "", cat("pipe_", pipe.id, " leads to ", id, ", which is no buffer"));
          continue;
        }
        const bool receives = b->type == BufferType::unpacker || b->type == BufferType::dram_io || owners.is_relay(b);
        if (!receives)
          findings.error("PC007", b->op, cat("pipe_", pipe.id, " leads to buffer_", id, " of '", b->op, "', which receives nothing"));
        out[id].push_back({p, g});
      }
  }
  return out;
}

}  // namespace buda::pipes
