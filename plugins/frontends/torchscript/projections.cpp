// SPDX-License-Identifier: Apache-2.0
// LSTM layers with projections: each state that a step gives is a product of what it would give without them.
#include "projections.hpp"

#include <buda/base/text.hpp>

namespace buda::torchscript {
namespace {

constexpr std::int64_t kMaxProjectedSteps = 4096;

struct Directions {
  std::int64_t layers = 1, count = 1, steps = 0, batch = 0;
  bool biases = true;
};

class Projected {
 public:
  Projected(Call& n, const Directions& d, std::vector<Value> weights, Ref h, Ref c)
      : n_(n), d_(d), weights_(std::move(weights)), all_h_(h), all_c_(c) {}

  // [steps, batch, directions * projected]
  Result<Ref> layer(std::int64_t number, Ref x) {
    std::vector<graph::Edge> sides;
    for (std::int64_t direction = 0; direction < d_.count; ++direction) {
      BUDA_ASSIGN(Ref side, one_direction(number * d_.count + direction, x, direction == 1));
      sides.emplace_back(side);
    }
    return sides.size() == 1 ? sides[0].source : n_.step("sides").concatenate(std::move(sides), 2);
  }

  std::vector<graph::Edge> last_h, last_c;

 private:
  Ref weight(std::int64_t place, std::size_t which) {
    const std::size_t each = d_.biases ? 5 : 3;
    return n_.value_ref(weights_[each * static_cast<std::size_t>(place) + which]);
  }

  Ref transposed(Ref value, std::string_view name) { return n_.step(name).transpose(value, {1, 0}); }

  Result<Ref> one_direction(std::int64_t place, Ref x, bool backwards) {
    Ref w = transposed(weight(place, 0), "w_ih"), r = transposed(weight(place, 1), "w_hh"),
        p = transposed(weight(place, d_.biases ? 4 : 2), "w_hr");
    BUDA_ASSIGN(Shape projection, n_.shape_of(p));
    const std::int64_t hidden = projection[0];
    Ref gates = n_.step("from_input").matmul(x, w);
    if (d_.biases) {
      Ref bias = n_.step("biases").add(weight(place, 2), weight(place, 3));
      gates = n_.step("from_input.biased").add(gates, bias);
    }
    Ref h = n_.step("h.slice").slice(all_h_, 0, place, place + 1), c = n_.step("c.slice").slice(all_c_, 0, place, place + 1);
    h = n_.step("h").squeeze(h, {0});
    c = n_.step("c").squeeze(c, {0});
    std::vector<graph::Edge> steps(static_cast<std::size_t>(d_.steps));
    for (std::int64_t i = 0; i < d_.steps; ++i) {
      const std::int64_t t = backwards ? d_.steps - 1 - i : i;
      Ref now = n_.step("step").slice(gates, 0, t, t + 1);
      now = n_.step("now").squeeze(now, {0});
      Ref before = n_.step("from_state").matmul(h, r);
      Ref all = n_.step("gates").add(now, before);
      const auto gate = [&](std::int64_t k, std::string_view name) { return n_.step(name).slice(all, 1, k * hidden, (k + 1) * hidden); };
      Ref input = gate(0, "input"), forget = gate(1, "forget"), candidate = gate(2, "candidate"), output = gate(3, "output");
      input = n_.step("input.sigmoid").sigmoid(input);
      forget = n_.step("forget.sigmoid").sigmoid(forget);
      candidate = n_.step("candidate.tanh").tanh(candidate);
      output = n_.step("output.sigmoid").sigmoid(output);
      Ref kept = n_.step("kept").multiply(forget, c), taken = n_.step("taken").multiply(input, candidate);
      c = n_.step("c.next").add(kept, taken);
      Ref shown = n_.step("c.tanh").tanh(c);
      Ref whole = n_.step("h.whole").multiply(output, shown);
      h = n_.step("h.next").matmul(whole, p);
      steps[static_cast<std::size_t>(t)] = n_.step("h.row").unsqueeze(h, {0});
    }
    last_h.emplace_back(n_.step("h.last").unsqueeze(h, {0}));
    last_c.emplace_back(n_.step("c.last").unsqueeze(c, {0}));
    return n_.step("y").concatenate(std::move(steps), 0);
  }

  Call& n_;
  Directions d_;
  std::vector<Value> weights_;
  Ref all_h_, all_c_;
};

}  // namespace

bool has_projections(const Call& n) {
  const auto* params = n["params"].as<SequenceRef>();
  const auto* biases = n["has_biases"].as<bool>();
  const auto* layers = n["num_layers"].as<std::int64_t>();
  const auto* both = n["bidirectional"].as<bool>();
  if (n.importer().name != "lstm" || params == nullptr || biases == nullptr || layers == nullptr || both == nullptr || *layers < 1)
    return false;
  return static_cast<std::int64_t>((*params)->items.size()) == *layers * (*both ? 2 : 1) * (*biases ? 5 : 3);
}

Result<Value> import_projected_lstm(Call& n) {
  if (n.has("batch_sizes")) return n.refuse("takes packed sequences and projects its states; one of both is supported");
  Directions d;
  BUDA_ASSIGN(d.biases, n.flag_or("has_biases", true));
  BUDA_ASSIGN(d.layers, n.integer("num_layers"));
  BUDA_ASSIGN(bool both, n.flag_or("bidirectional", false));
  BUDA_ASSIGN(bool batch_first, n.flag_or("batch_first", false));
  BUDA_ASSIGN(bool train, n.flag_or("train", false));
  BUDA_ASSIGN(double dropout, n.real_or("dropout", 0));
  if (train && dropout != 0) return n.refuse("is in training mode, where results are random");
  BUDA_ASSIGN(Shape x, n.shape("input"));
  const auto* states = n["hx"].as<SequenceRef>();
  if (x.rank() != 3 || states == nullptr || (*states)->items.size() != 2)
    return n.refuse(cat("its input is ", x.text(), "; three axes and two states are needed"));
  d.count = both ? 2 : 1;
  d.steps = x[batch_first ? 1 : 0];
  d.batch = x[batch_first ? 0 : 1];
  if (d.steps < 1 || d.steps * d.layers * d.count > kMaxProjectedSteps)
    return n.refuse(cat("has ", d.steps, " steps in ", d.layers, " layers; at most ", kMaxProjectedSteps, " in all are supported"));
  Ref value = n.ref("input");
  if (batch_first) value = n.step("x").transpose(value, {1, 0, 2});
  Projected layers(n, d, (*n["params"].as<SequenceRef>())->items, n.value_ref((*states)->items[0]), n.value_ref((*states)->items[1]));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    BUDA_ASSIGN(value, layers.layer(i, value));
  }
  if (batch_first) value = n.result().transpose(value, {1, 0, 2});
  Ref h = n.step("h.all").concatenate(std::move(layers.last_h), 0), c = n.step("c.all").concatenate(std::move(layers.last_c), 0);
  return tuple_of({n.tensor(value), n.tensor(h), n.tensor(c)});
}

}  // namespace buda::torchscript
