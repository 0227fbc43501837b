// SPDX-License-Identifier: Apache-2.0
// Doubling, then bisection; each value is tried on the whole epoch.
#include <buda/liveness/mend.hpp>

#include <buda/base/text.hpp>
#include <buda/liveness/epoch_decision.hpp>
#include <buda/liveness/queue_entries.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/model/output_buffer.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace buda::liveness {
namespace {

using netlist::Netlist;

constexpr std::int64_t kMaxFactor = 64, kMaxValues = 1 << 20;
constexpr std::size_t kMaxBuffers = 8;  // of a cycle
constexpr int kMaxChanges = 4;

netlist::Op* find_op(Netlist& netlist, const std::string& name) {
  for (auto& graph : netlist.graphs)
    for (auto& op : graph.ops)
      if (op.name == name) return &op;
  return nullptr;
}

netlist::Queue* find_queue(Netlist& netlist, const std::string& name) {
  const auto found = std::find_if(netlist.queues.begin(), netlist.queues.end(), [&](const auto& q) { return q.name == name; });
  return found == netlist.queues.end() ? nullptr : &*found;
}

void apply(Netlist& netlist, const Change& change) {
  const auto value = static_cast<std::int32_t>(change.value);
  if (change.kind == FullBuffer::Kind::queue) {
    if (auto* queue = find_queue(netlist, change.name)) queue->entries = value;
    return;
  }
  auto* op = find_op(netlist, change.name);
  if (op == nullptr) return;
  if (change.kind == FullBuffer::Kind::output) {
    op->buf_size_mb = value;
  } else if (static_cast<std::size_t>(change.operand) < op->inputs.size()) {
    op->inputs[static_cast<std::size_t>(change.operand)].min_buffer_tiles = value;
  }
}

// The values of an option that can be tried, the first of which is what the netlist has.
using Values = std::vector<std::int64_t>;

// Of the size of an output's buffer, without those that break a rule.
Values output_sizes(const netlist::Op& op, std::int64_t inputs) {
  Values out = {op.buf_size_mb};
  const std::int64_t most = std::min(kMaxFactor * std::max(op.buf_size_mb, 2), op.buf_size_mb + kMaxValues);
  for (std::int32_t size = op.buf_size_mb + 1; size <= most; ++size)
    if (!netlist::output_buffer_fault(size, std::max(op.block.t, 1), inputs)) out.push_back(size);
  return out;
}

class Mending {
 public:
  Mending(const Netlist& netlist, const device::DeviceDescriptor& device, Host& host, std::int32_t epoch)
      : netlist_(netlist), device_(device), host_(host), epoch_(epoch) {}

  std::vector<Change> find(Deadlock deadlock) {
    while (changes_.size() < kMaxChanges) {
      // Inputs grow by single tiles, outputs by mblocks, of all cores of their ops.
      std::stable_sort(deadlock.full.begin(), deadlock.full.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
      std::optional<Change> kept;
      std::optional<FullBuffer> moved;
      Deadlock next;
      for (std::size_t i = 0; i < std::min(deadlock.full.size(), kMaxBuffers); ++i)
        if (enough(deadlock.full[i], kept, next)) {
          return changes_;
        } else if (kept && !moved) {
          moved = deadlock.full[i];
        }
      if (!kept) return {};
      changes_.push_back(*kept);
      kept_.push_back(*moved);
      deadlock = std::move(next);
    }
    return {};
  }

 private:
  // Decides the epoch with the changes and one more. Nothing where that breaks a rule, or cannot be laid out.
  std::optional<Decision> with(const Change& change) const {
    Netlist changed = netlist_;
    for (const Change& c : changes_) apply(changed, c);
    apply(changed, change);
    for (const Diagnostic& d : netlist::check_netlist(changed, device_))
      if (d.severity == Severity::error) return std::nullopt;
    auto compiler = overlay::EpochCompiler::make(changed, device_, "", host_);
    if (!compiler) return std::nullopt;
    auto starts = beginnings(changed, compiler->epochs());
    if (!starts) return std::nullopt;
    std::optional<Decision> out;
    for (std::size_t e = 0; e < compiler->epochs().size(); ++e) {
      const pipes::Epoch& epoch = compiler->epochs()[e];
      if (epoch.number != epoch_) continue;
      auto pipes = compiler->pipes(epoch);
      if (!pipes) return std::nullopt;
      auto blob = compiler->streams(*pipes);
      if (!blob) return std::nullopt;
      for (const EntriesByQueue& entries : starts->by_epoch[e]) {
        auto decision = decide({*compiler, epoch, *pipes, *blob}, entries);
        if (!decision) return std::nullopt;
        out = std::move(*decision);
        if (out->deadlock) return out;
      }
    }
    return out;
  }

  Values values_of(const FullBuffer& buffer) const {
    if (buffer.kind == FullBuffer::Kind::output) {
      for (const auto& graph : netlist_.graphs)
        for (const auto& op : graph.ops)
          if (op.name == buffer.op) return output_sizes(op, graph.input_count);
    }
    const std::int64_t first = std::max<std::int64_t>(buffer.capacity, 1);
    Values out(static_cast<std::size_t>(std::min((kMaxFactor - 1) * first, kMaxValues)) + 1);
    std::iota(out.begin(), out.end(), buffer.capacity);
    return out;
  }
  static Change to(const FullBuffer& buffer, std::int64_t value) { return {buffer.kind, buffer.op, buffer.operand, value}; }

  // The smallest of the values between number `too_few`, which is not enough, and `enough`, which is.
  Change bisect(const FullBuffer& buffer, const Values& values, std::size_t too_few, std::size_t enough) const {
    while (enough - too_few > 1) {
      const std::size_t between = too_few + (enough - too_few) / 2;
      const auto decision = with(to(buffer, values[between]));
      (decision && !decision->deadlock ? enough : too_few) = between;
    }
    return to(buffer, values[enough]);
  }

  // Whether a larger buffer is enough, which is then among the changes. Else, if it moves the deadlock and none was kept before, it is
  // kept.
  bool enough(const FullBuffer& buffer, std::optional<Change>& kept, Deadlock& next) {
    const Values values = values_of(buffer);
    // Those before `too_few` and it are not enough; `too_many` and those behind it cannot be.
    std::size_t too_few = 0, too_many = values.size(), number = 1;
    for (;; number = too_many == values.size() ? std::min(2 * number, too_many - 1) : too_few + (too_many - too_few) / 2) {
      if (number <= too_few || number >= too_many) return false;
      auto decision = with(to(buffer, values[number]));
      if (!decision) {
        too_many = number;
        continue;
      }
      if (!decision->deadlock) break;
      const auto& full = decision->deadlock->full;
      const bool moved = std::none_of(full.begin(), full.end(), [&](const FullBuffer& b) {
        return b.kind == buffer.kind && b.op == buffer.op && b.operand == buffer.operand;
      });
      if (moved && !full.empty() && !kept) {
        kept = to(buffer, values[number]);
        next = std::move(*decision->deadlock);
      }
      too_few = number;
    }
    changes_.push_back(bisect(buffer, values, too_few, number));
    // Those before were doubled until they moved the deadlock.
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Values own = values_of(kept_[i]);
      const auto chosen = std::find(own.begin(), own.end(), changes_[i].value);
      if (chosen != own.end()) changes_[i] = bisect(kept_[i], own, 0, static_cast<std::size_t>(chosen - own.begin()));
    }
    return true;
  }

  const Netlist& netlist_;
  const device::DeviceDescriptor& device_;
  Host& host_;
  const std::int32_t epoch_;
  std::vector<Change> changes_;
  std::vector<FullBuffer> kept_;  // whose changes moved the deadlock
};

}  // namespace

std::vector<Change> mend(const Netlist& netlist, const device::DeviceDescriptor& device, Host& host, std::int32_t epoch,
                         const Deadlock& deadlock) {
  return Mending(netlist, device, host, epoch).find(deadlock);
}

std::string in_netlist(const Netlist& netlist, const std::vector<Change>& changes) {
  Netlist changed = netlist;
  for (const Change& change : changes) apply(changed, change);
  std::vector<std::string> out;
  for (const Change& change : changes) {
    std::string text;
    if (change.kind == FullBuffer::Kind::queue) {
      text = cat("queue '", change.name, "': entries: ", change.value);
    } else if (change.kind == FullBuffer::Kind::output) {
      text = cat("op '", change.name, "': buf_size_mb: ", change.value);
    } else {
      std::vector<std::int32_t> tiles;
      for (const auto& input : find_op(changed, change.name)->inputs) tiles.push_back(input.min_buffer_tiles);
      text = cat("op '", change.name, "': input_buf_min_size_tiles: [", join(tiles, ", "), ']');
    }
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  }
  return join(out, "; ");
}

}  // namespace buda::liveness
