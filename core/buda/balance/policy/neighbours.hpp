// SPDX-License-Identifier: Apache-2.0
// Ops beside each other: what the edges of a placed op cost, and whether its core has enough for them.
#pragma once

#include <buda/balance/policy/choice_space.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// How the tensor of a queue that this input alone reads is laid out: as the input takes it, but inputs of the model that are larger than
// kSmallInputTiles stand in one buffer, so that the host writes one place.
TileLayout source_layout(const Problem& problem, OpId op, const OpModel& model, std::size_t input);
inline constexpr std::int64_t kSmallInputTiles = 64;
// All of a layout in one buffer.
TileLayout folded(const TileLayout& layout);
// The queue that an op of this model writes: the op's own blocking, all t there at once.
TileLayout queue_layout(const OpModel& model);

// Whether an operand of an op in `epoch` comes straight from an op in the same epoch. `producer`: as placed; null for a source.
bool is_direct(const Operand& operand, const PlacedOp* producer, std::int32_t epoch);

// What the edge to operand `input` costs when the consumer has this model, or why it cannot be.
std::variant<EdgeCost, std::string> operand_cost(const Problem& problem, OpId op, const OpModel& model, std::size_t input,
                                                 std::int32_t epoch, const PlacedOp* producer);

// Links of the inputs of an op, from the costs of its edges.
std::vector<InputLink> input_links(const Problem& problem, const netlist::Op& blocked, const OpModel& model,
                                   const std::vector<EdgeCost>& costs, const std::vector<bool>& direct);

// Does the op, with these links, fit a core? Gives the overlay size that it needs, or the misfit. `remedy` ends the message.
std::variant<std::int32_t, Diagnostic> judge(const OpSpec& spec, netlist::Op blocked, const Links& links,
                                             const device::DeviceDescriptor& device, const std::string& remedy);

// The same for an op some of whose inputs cost this, from queues or straight from ops; the others are taken to cost the least.
struct KnownInput {
  std::size_t input = 0;
  EdgeCost cost;
  bool direct = false;
};
std::variant<std::int32_t, Diagnostic> judge_with_inputs(const Problem& problem, OpId op, const OpModel& model,
                                                         const std::vector<KnownInput>& known);

// Whether an op of this model fits a core with what the queues of its sources cost it, whatever its other neighbours.
bool fits_with_sources(const Problem& problem, OpId op, const OpModel& model);

// What of a model decides how its op takes and gives tensors.
using ModelShape = std::array<std::int32_t, 16>;
ModelShape shape_of(const OpModel& model);

// Everything that the cost of an edge depends on. Ops are numbers of kinds (ChoiceSpace::kinds).
struct EdgeKey {
  static constexpr std::size_t kSource = static_cast<std::size_t>(-1);
  std::size_t op = 0, input = 0, producer = kSource;
  bool direct = false;
  ModelShape model{}, producer_model{};
  friend bool operator==(const EdgeKey&, const EdgeKey&) = default;
};
struct EdgeKeyHash {
  std::size_t operator()(const EdgeKey& key) const;
};

// Edge costs of ops as they are placed, so that no edge is walked twice.
class EdgeBook {
 public:
  // `kinds`: ChoiceSpace::kinds.
  explicit EdgeBook(const Problem& problem, std::span<const std::size_t> kinds = {})
      : problem_(&problem), kinds_(kinds), inputs_(problem.ops.size()) {}

  struct Entry {
    std::vector<EdgeCost> costs;
    std::vector<bool> direct;
  };
  using Lookup = std::function<const PlacedOp*(OpId)>;

  // What keeps an edge from being.
  struct Complaint {
    std::size_t input = 0;
    std::string why;
  };
  Diagnostic explain(OpId op, const OpModel& model, const Complaint& complaint) const;

  // The costs that the op's inputs would have, or the first complaint.
  std::variant<Entry, Complaint> measure(OpId op, const OpModel& model, std::int32_t epoch, const Lookup& placed) const;
  void enter(OpId op, Entry entry) {
    inputs_[op.index()] = std::move(entry);
    last_.reset();
  }
  void forget(OpId op) {
    inputs_[op.index()] = {};
    last_.reset();
  }

  // Links of an op whose inputs cost `own`, with its users as far as they are entered, and `extra` as one more of them.
  struct ExtraUse {
    OpUse use;
    const Entry* entry = nullptr;
  };
  Links links(OpId op, const OpModel& model, const Entry& own, const std::vector<ExtraUse>& extra) const;
  // Whether the op fits a core with these links, by judge().
  bool fits(OpId op, const OpModel& model, const Entry& own, const std::vector<ExtraUse>& extra) const;
  const Entry& entry(OpId op) const { return inputs_[op.index()]; }

 private:
  // Whether an op but `reader` takes what `producer` gives directly, as far as they are entered.
  bool has_other_reader(OpId producer, OpId reader) const;

  std::size_t kind(OpId op) const { return kinds_.empty() ? op.index() : kinds_[op.index()]; }
  const std::variant<EdgeCost, std::string>& cost_of(OpId op, const OpModel& model, std::size_t input, std::int32_t epoch,
                                                     const PlacedOp* producer) const;
  std::variant<Entry, Complaint> measure_anew(OpId op, const OpModel& model, std::int32_t epoch, const Lookup& placed) const;

  const Problem* problem_;
  std::span<const std::size_t> kinds_;
  std::vector<Entry> inputs_;  // by OpId; empty where the op is not placed
  // What was measured last, as long as nothing is entered or forgotten: whoever finds no objection places the op next.
  struct Measured {
    OpId op;
    OpModel model;
    std::int32_t epoch;
    Entry entry;
  };
  mutable std::optional<Measured> last_;
  // Policies ask for the same again and again.
  mutable std::unordered_map<EdgeKey, std::variant<EdgeCost, std::string>, EdgeKeyHash> costs_;
  // Verdicts by kind and model of the op and by what judge() sees of its links.
  mutable std::map<std::vector<std::int64_t>, bool> verdicts_;
};

}  // namespace buda::balance

#pragma GCC visibility pop
