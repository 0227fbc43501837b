// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `recurrent`: rnn, lstm and gru step by step.
//
//   before   y, h = gru(x [steps, batch, input], w, r, b, lengths, h0)
//   after    x0, x1, … = slices of x; h1 = cell(x0, h0), h2 = cell(x1, h1), …; y = h1, h2, … one after the other, h = the last
//
// A cell is a handful of products and functions (cells.cpp), so that the graph grows with the number of steps; longer sequences than
// kMaxSteps belong into a loop on the host. Backwards the steps are taken from the end. Where sequences are shorter than the longest, or
// their lengths are known only when the model runs, a step beyond the end leaves the state alone and gives zeros, and backwards the
// sequences are reversed before and after.
#include "rules.hpp"

#include <buda/passes/simplify/constant_value.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

#include <algorithm>

namespace buda::recurrent {
namespace {

using namespace plugin;
using graph::Graph;
using graph::Node;
using graph::NodeId;

constexpr std::int64_t kMaxSteps = 256;
constexpr std::size_t kLengthsInput = 4;

std::size_t functions_of(const std::string& op) { return op == "lstm" ? 3 : op == "gru" ? 2 : 1; }

// All functions that the node names, or the usual ones.
std::vector<Function> functions(const Rewrite& r, std::int64_t directions) {
  std::vector<std::string> names = r.texts("activations");
  std::size_t each = functions_of(r.op_name()), count = each * static_cast<std::size_t>(directions);
  if (names.empty())
    for (std::size_t i = 0; i < count; ++i) names.emplace_back(each > 1 && i % each == 0 ? "sigmoid" : "tanh");
  std::vector<double> alphas = r.reals("alpha"), betas = r.reals("beta");
  std::vector<Function> out;
  for (std::size_t i = 0; i < count; ++i) {
    Function f{*ops::find_activation(names[i]), r.real("clip")};
    if (!alphas.empty()) f.function.alpha = alphas[i];
    if (!betas.empty()) f.function.beta = betas[i];
    out.push_back(f);
  }
  return out;
}

class Unrolled final : public passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"rnn", "lstm", "gru"}; }
  std::vector<std::string> produces() const override {
    std::vector<std::string> out = cell_ops();
    out.insert(out.end(), {"cast", "exact_cast"});
    return out;
  }
  bool matches(const Graph& graph, const Node& n) const override {
    const Shape& x = graph.type(n.inputs()[0].source)->shape;
    return x.volume() != 0 && x[0] <= kMaxSteps && n.outputs[0].shape.volume() != 0;
  }

  Result<void> rewrite(graph::GraphEditor& editor, NodeId id) override {
    std::size_t results = editor.graph().node(id).outputs.size();
    Rewrite r(editor, id);
    const Shape y = r.result().shape;  // [steps, directions, batch, hidden]
    std::int64_t steps = y[0], directions = y[1], batch = y[2], hidden = y[3];
    std::vector<Function> all = functions(r, directions);
    Lengths lengths = lengths_of(r, steps);
    std::vector<std::vector<Term>> states(static_cast<std::size_t>(steps));  // after each step, for each direction
    std::vector<Term> last_h, last_c;
    for (std::int64_t d = 0; d < directions; ++d) {
      auto first = all.begin() + static_cast<std::ptrdiff_t>(d) * static_cast<std::ptrdiff_t>(functions_of(r.op_name()));
      Cell cell(r, d, {first, first + static_cast<std::ptrdiff_t>(functions_of(r.op_name()))});
      bool backwards = d == 1 || r.text("direction") == "reverse";
      Walk walk = walked(r, cell, lengths, steps, backwards);
      for (std::size_t t = 0; t < states.size(); ++t) states[t].push_back(r.reshape(walk.results[t], Shape{1, batch, hidden}));
      last_h.push_back(r.reshape(walk.last.h, Shape{1, batch, hidden}));
      if (walk.last.c) last_c.push_back(r.reshape(*walk.last.c, Shape{1, batch, hidden}));
    }
    std::vector<Term> in_order;
    for (auto& of_step : states) in_order.insert(in_order.end(), of_step.begin(), of_step.end());
    std::vector<Term> out{r.reshape(joined(r, in_order), y), joined(r, last_h)};
    if (results == 3) out.push_back(joined(r, last_c));
    for (Term& t : out) t = r.exactly(t, r.result().dtype);
    return r.finish_with(out);
  }

 private:
  // Whether each sequence has all steps; if not known to be so, for each step 1 where it is before a sequence's end [batch, 1].
  struct Lengths {
    bool full = false;
    std::vector<Term> is_inside;
  };
  struct Walk {
    std::vector<Term> results;  // by step of the sequence
    Cell::State last;
  };

  static Lengths lengths_of(Rewrite& r, std::int64_t steps) {
    Lengths out;
    out.full = passes::uniform_value(r.graph(), r.inputs()[kLengthsInput]) == static_cast<double>(steps);
    if (out.full) return out;
    r.keep_exact(true);
    Term ends = r.reshape(r.in(kLengthsInput), Shape{r.type(0).shape[1], 1});
    r.keep_exact(false);
    for (std::int64_t t = 0; t < steps; ++t) out.is_inside.push_back(above(ends, static_cast<double>(t)));
    return out;
  }

  static Term joined(Rewrite& r, const std::vector<Term>& parts) {
    return parts.size() == 1 ? parts[0] : r.op("concatenate", parts, {{"dim", std::int64_t{0}}});
  }

  static Term reversed(Rewrite& r, const Term& x) {
    return r.op("reverse_sequence", {x, r.raw(kLengthsInput)}, {{"batch_dim", std::int64_t{1}}, {"time_dim", std::int64_t{0}}});
  }

  static Term step_of(Rewrite& r, const Term& x, std::int64_t t) {
    Shape shape = r.shape(x);
    Term one = shape[0] == 1 ? x : r.op("slice", {x}, {{"dims", Dims{0}}, {"starts", Dims{t}}, {"stops", Dims{t + 1}}});
    return r.reshape(one, Shape{shape[1], shape[2]});
  }

  static Walk walked(Rewrite& r, Cell& cell, const Lengths& lengths, std::int64_t steps, bool backwards) {
    bool reverses = backwards && !lengths.full;
    Term x = reverses ? reversed(r, r.in(0)) : r.in(0);
    Walk walk{std::vector<Term>(static_cast<std::size_t>(steps)), cell.initial()};
    for (std::int64_t step = 0; step < steps; ++step) {
      std::int64_t t = backwards && lengths.full ? steps - 1 - step : step;
      Cell::State next = cell.advanced(step_of(r, x, t), walk.last);
      Term& result = walk.results[static_cast<std::size_t>(t)];
      result = next.h;
      if (!lengths.full) {
        const Term& inside = lengths.is_inside[static_cast<std::size_t>(step)];
        result = next.h * inside;
        next.h = walk.last.h + (next.h - walk.last.h) * inside;
        if (next.c) next.c = *walk.last.c + (*next.c - *walk.last.c) * inside;
      }
      walk.last = next;
    }
    if (reverses) put_back(r, walk);
    return walk;
  }

  // The results of reversed sequences in the order of the steps.
  static void put_back(Rewrite& r, Walk& walk) {
    Shape state = r.shape(walk.last.h);
    std::vector<Term> parts;
    for (const Term& t : walk.results) parts.push_back(r.reshape(t, Shape{1, state[0], state[1]}));
    Term all = reversed(r, joined(r, parts));
    for (std::size_t t = 0; t < walk.results.size(); ++t) walk.results[t] = step_of(r, all, static_cast<std::int64_t>(t));
  }
};

}  // namespace
}  // namespace buda::recurrent

BUDA_PLUGIN(.name = "recurrent", .version = "1.0", .description = "recurrent networks step by step", .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<buda::recurrent::Unrolled>(
      "recurrent", "rnn, lstm and gru as products and functions of each step"));
}
