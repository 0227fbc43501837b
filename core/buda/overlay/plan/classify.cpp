// SPDX-License-Identifier: Apache-2.0
// Kinds of sources and sinks, and which of them go together.
#include <buda/overlay/plan/classify.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <optional>

namespace buda::overlay {
namespace {

std::optional<SinkKind> sink_of(const PipePlan& plan, Violations& violations) {
  const Buffer& out = plan.first_output();
  for (const auto& group : plan.groups)
    for (const Buffer* b : group)
      if (b->type != out.type) {
        violations.error("OV002", plan.pipe, b,
                         cat("it leads to a ", pipes::buffer_type_name(b->type), " and to a ", pipes::buffer_type_name(out.type)));
        return std::nullopt;
      }
  if (out.type == BufferType::unpacker) return SinkKind::kernel;
  if (out.type == BufferType::prolog_relay) return SinkKind::share;
  if (out.type == BufferType::dram_io) return SinkKind::queue;
  violations.error("OV002", plan.pipe, &out, cat("it leads to a ", pipes::buffer_type_name(out.type), ", which receives nothing"));
  return std::nullopt;
}

// How many of a plan's sources are of which kind.
struct SourceCounts {
  int outputs = 0, stores = 0;
  int streamed = 0;  // from DRAM during the epoch
  int kept = 0;      // read before the epoch, into the receiver's buffer
};

std::optional<SourceCounts> count_sources(const PipePlan& plan, Violations& violations) {
  SourceCounts n;
  for (const Buffer* b : plan.sources) {
    if (b->type == BufferType::packer) {
      ++n.outputs;
    } else if (b->type == BufferType::prolog_relay) {
      ++n.stores;
    } else if (b->is_padding) {
      (b->dram_buf_flag && b->core.row != pipes::kNoCore) ? ++n.stores : ++n.streamed;
    } else if (b->type == BufferType::dram_prolog) {
      (plan.sink == SinkKind::share || b->prefetch_type == pipes::PrefetchType::post_tm) ? ++n.kept : ++n.stores;
    } else if (b->type == BufferType::dram_io) {
      ++n.streamed;
    } else {
      violations.error("OV002", plan.pipe, b, cat("it takes from a ", pipes::buffer_type_name(b->type), ", which sends nothing"));
      return std::nullopt;
    }
  }
  // What is read before the epoch is padded from DRAM like the rest of it.
  const bool only_prologue = std::all_of(plan.sources.begin(), plan.sources.end(),
                                         [](const Buffer* b) { return b->is_padding || b->type == BufferType::dram_prolog; });
  if (n.kept > 0 && n.outputs == 0 && n.streamed == 0 && only_prologue) n.stores = 0;
  return n;
}

bool set_source(PipePlan& plan, Violations& violations) {
  const auto n = count_sources(plan, violations);
  if (!n) return false;
  const int kinds = (n->outputs > 0 || n->stores > 0) + (n->streamed > 0) + (n->kept > 0);
  if (kinds != 1) {
    violations.unsupported(plan.pipe, &plan.first_output(), "a pipe that takes from L1 and from DRAM at once");
    return false;
  }
  plan.source = n->outputs > 0 ? SourceKind::output : n->stores > 0 ? SourceKind::store : SourceKind::dram;
  plan.before_epoch = n->kept > 0;
  return true;
}

bool check_combination(const PipePlan& plan, Violations& violations) {
  const Buffer& out = plan.first_output();
  if (plan.sink == SinkKind::share && !plan.before_epoch) {
    violations.error("OV002", plan.pipe, &out, "a share of a prologue has to be read from a queue's prologue");
    return false;
  }
  std::string feature;
  if (plan.sink == SinkKind::queue && plan.source != SourceKind::output) {
    feature = "copying from queue to queue";
  } else if (plan.source == SourceKind::dram && plan.is_round_robin()) {
    feature = "a queue whose entries go to round-robin receivers";
  }
  if (feature.empty()) return true;
  violations.unsupported(plan.pipe, &out, feature);
  return false;
}

// Over PCIe, outputs on one chip send to inputs on another one, without relay buffers.
bool check_over_pcie(const EpochInput& in, const PipePlan& plan, Violations& violations) {
  const Buffer& out = plan.first_output();
  const Buffer* from = nullptr;
  bool sound = plan.sink == SinkKind::kernel && plan.source == SourceKind::output;
  for (const Buffer* b : plan.sources) {
    if (b->is_padding) continue;
    from = from == nullptr ? b : from;
    sound = sound && b->type == BufferType::packer && b->chip == from->chip;
  }
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    sound = sound && plan.routes[g].hops.empty();
    for (const Buffer* b : plan.groups[g]) sound = sound && b->chip == out.chip;
  }
  if (!sound || from == nullptr || from->chip == out.chip) {
    violations.error("OV002", plan.pipe, &out, "over PCIe a pipe leads from outputs on one chip to inputs on another");
    return false;
  }
  if (in.cluster.peers && in.cluster.peers->core_bytes > 0 && in.device.pcie) return true;
  violations.error(
      "OV003", plan.pipe, &out,
      cat("it is not described how '", in.device.name, "' accesses other chips over PCIe (pcie of the device, peers of its cluster)"));
  return false;
}

bool check_chips(const PipePlan& plan, Violations& violations) {
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    if (!plan.routes[g].hops.empty()) continue;
    for (const Buffer* b : plan.groups[g])
      for (const Buffer* s : plan.sources) {
        if (s->chip == b->chip || s->is_padding || s->dram_io_flag_is_remote + b->dram_io_flag_is_remote != 0) continue;
        violations.error("OV002", plan.pipe, b,
                         cat("it leads from chip ", s->chip, " to chip ", b->chip, " without ethernet or PCIe between"));
        return false;
      }
  }
  return true;
}

}  // namespace

bool classify(const EpochInput& in, PipePlan& plan, Violations& violations) {
  const auto sink = sink_of(plan, violations);
  if (!sink) return false;
  plan.sink = *sink;
  if (!set_source(plan, violations) || !check_combination(plan, violations)) return false;
  if (plan.over_pcie() ? !check_over_pcie(in, plan, violations) : !check_chips(plan, violations)) return false;
  plan.multicast = plan.sink == SinkKind::kernel && !plan.before_epoch &&
                   std::any_of(plan.groups.begin(), plan.groups.end(), [](const auto& g) { return g.size() > 1; });
  if (plan.sink == SinkKind::kernel || (!plan.is_round_robin() && plan.groups.front().size() == 1)) return true;
  violations.unsupported(plan.pipe, &plan.first_output(), "writing the same tiles to several queue buffers or shares");
  return false;
}

}  // namespace buda::overlay
