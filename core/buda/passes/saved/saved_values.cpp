// SPDX-License-Identifier: Apache-2.0
// Values as nodes of a network whose minimum cut are those to keep: each is an entry and an exit, and what is between them costs its bytes.
//
//   source -> entry      what cannot be computed again
//   entry -> exit        its bytes: the value is kept
//   exit -> entry        from an operand to a result that can be computed again
//   exit -> sink         what the backward phase reads
#include <buda/passes/saved/saved_values.hpp>

#include <buda/passes/saved/checkpoints.hpp>
#include <buda/passes/saved/min_cut.hpp>

#include <algorithm>

namespace buda::passes {
namespace {

constexpr std::size_t kSource = 0, kSink = 1;
std::size_t entry_of(std::size_t place) { return 2 * place + 2; }
std::size_t exit_of(std::size_t place) { return 2 * place + 3; }

// Of what lies behind the cut, that which somebody needs.
std::vector<bool> needed(const std::vector<ForwardValue>& values, const std::vector<bool>& sink_side) {
  std::vector<bool> out(values.size());
  for (std::size_t at = values.size(); at-- > 0;) {
    const ForwardValue& v = values[at];
    if (v.is_there || !sink_side[entry_of(at)]) continue;
    out[at] = v.is_read_backward || std::any_of(v.readers.begin(), v.readers.end(), [&](std::size_t reader) { return out[reader]; });
  }
  return out;
}

// May be computed again: formulas of elements, and the products of those segments that are repeated as a whole, up to their ends.
std::vector<bool> repeatable(const std::vector<ForwardValue>& values, const Segments& segments, const std::vector<bool>& is_repeated) {
  std::vector<bool> out(values.size());
  for (std::size_t at = 0; at < values.size(); ++at) out[at] = !values[at].is_product || is_repeated[segments.of[at]];
  for (std::size_t s = 0; s < segments.ends.size(); ++s)
    if (is_repeated[s] || is_repeated[s + 1])
      for (std::size_t at : segments.ends[s]) out[at] = false;
  return out;
}

// Repeats one segment after the other, first those that keep most, until the limit holds.
SavedValues within(const std::vector<ForwardValue>& values, const SavedValues& start, std::int64_t limit) {
  const Segments segments = segments_of_checkpoints(values, start);
  std::vector<std::int64_t> kept(segments.count());
  for (std::size_t at = 0; at < values.size(); ++at)
    if (start.is_kept[at]) kept[segments.of[at]] += values[at].bytes;
  std::vector<std::size_t> order(segments.count());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return kept[a] > kept[b]; });
  std::vector<bool> is_repeated(segments.count());
  SavedValues out = start;
  for (std::size_t segment : order) {
    if (out.bytes <= limit) break;
    is_repeated[segment] = true;
    out = fewest_saved(values, repeatable(values, segments, is_repeated));
  }
  return out;
}

}  // namespace

SavedValues all_saved(const std::vector<ForwardValue>& values) {
  SavedValues out{std::vector<bool>(values.size()), std::vector<bool>(values.size()), 0};
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values[at].is_there || !values[at].is_read_backward) continue;
    out.is_kept[at] = true;
    out.bytes += values[at].bytes;
  }
  return out;
}

SavedValues fewest_saved(const std::vector<ForwardValue>& values, const std::vector<bool>& may_repeat) {
  FlowNetwork network(2 * values.size() + 2);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const ForwardValue& v = values[at];
    if (v.is_there) continue;
    network.connect(entry_of(at), exit_of(at), v.bytes);
    if (v.is_read_backward) network.connect(exit_of(at), kSink, FlowNetwork::kUnlimited);
    if (!v.may_repeat || !may_repeat[at]) {
      network.connect(kSource, entry_of(at), FlowNetwork::kUnlimited);
      continue;
    }
    for (std::size_t operand : v.operands) network.connect(exit_of(operand), entry_of(at), FlowNetwork::kUnlimited);
  }
  const std::vector<bool> sink_side = network.sink_side(kSource, kSink);
  SavedValues out{std::vector<bool>(values.size()), needed(values, sink_side), 0};
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values[at].is_there || sink_side[entry_of(at)] || !sink_side[exit_of(at)]) continue;
    out.is_kept[at] = true;
    out.bytes += values[at].bytes;
  }
  return out;
}

SavedValues choose_saved_values(const std::vector<ForwardValue>& values, const SavedOptions& options) {
  const std::int64_t limit = options.limit.value_or(FlowNetwork::kUnlimited);
  SavedValues all = all_saved(values);
  if (options.recompute == Recompute::none && all.bytes <= limit) return all;
  std::vector<bool> formulas(values.size());
  for (std::size_t at = 0; at < values.size(); ++at) formulas[at] = !values[at].is_product;
  const SavedValues cheap = fewest_saved(values, formulas);
  if (options.recompute == Recompute::segments) return within(values, cheap, -1);
  return within(values, cheap, limit);
}

}  // namespace buda::passes
