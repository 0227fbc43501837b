// SPDX-License-Identifier: Apache-2.0
// One step of recurrent layers, as `nn.LSTMCell`, `nn.GRUCell` and `nn.RNNCell` call it: products of input and state, and what becomes of
// them.
#include "call.hpp"

#include <buda/base/text.hpp>

namespace buda::torchscript {
namespace {

// The products of an input and of a state with the weights of all gates, which lie side by side.
struct Gates {
  Ref input, state;
  std::int64_t hidden = 0;

  static Ref part(Call& n, std::string_view name, Ref of, std::int64_t gate, std::int64_t hidden) {
    return n.step(name).slice(of, 1, gate * hidden, (gate + 1) * hidden);
  }
};

Ref weighted(Call& n, Ref x, std::string_view weight, std::string_view bias, std::string_view name) {
  std::vector<graph::Edge> inputs{x, n.ref(weight)};
  if (n.has(bias)) inputs.emplace_back(n.ref(bias));
  return n.step(name).op("gemm", std::move(inputs), {{"trans_b", true}});
}

Result<Gates> gates_of(Call& n, Ref state) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(Shape h, n.shape_of(state));
  BUDA_ASSIGN(Shape weight, n.shape("w_hh"));
  if (x.rank() != 2 || h.rank() != 2 || weight.rank() != 2)
    return n.refuse(cat("its input is ", x.text(), ", its state ", h.text(), " and its recurrent weight ", weight.text()));
  Gates out;
  out.hidden = weight[1];
  out.input = weighted(n, n.ref("input"), "w_ih", "b_ih", "from_input");
  out.state = weighted(n, state, "w_hh", "b_hh", "from_state");
  return out;
}

Result<Value> cell_lstm(Call& n) {
  const auto* states = n["hx"].as<SequenceRef>();
  if (states == nullptr || (*states)->items.size() != 2) return n.refuse(wrong_argument("hx", n["hx"], "a pair of states"));
  Ref h = n.value_ref((*states)->items[0]), c = n.value_ref((*states)->items[1]);
  BUDA_ASSIGN(Gates gates, gates_of(n, h));
  Ref all = n.step("gates").add(gates.input, gates.state);
  const auto gate = [&](std::int64_t i, std::string_view name) { return Gates::part(n, name, all, i, gates.hidden); };
  Ref input = gate(0, "input"), forget = gate(1, "forget"), candidate = gate(2, "candidate"), output = gate(3, "output");
  input = n.step("input.sigmoid").sigmoid(input);
  forget = n.step("forget.sigmoid").sigmoid(forget);
  candidate = n.step("candidate.tanh").tanh(candidate);
  output = n.step("output.sigmoid").sigmoid(output);
  Ref kept = n.step("kept").multiply(forget, c);
  Ref taken = n.step("taken").multiply(input, candidate);
  Ref next = n.step("c").add(kept, taken);
  Ref shown = n.step("c.tanh").tanh(next);
  return tuple_of({n.tensor(n.result().multiply(output, shown)), n.tensor(next)});
}

Result<Value> cell_gru(Call& n) {
  Ref h = n.ref("hx");
  BUDA_ASSIGN(Gates gates, gates_of(n, h));
  const auto from_input = [&](std::int64_t i, std::string_view name) { return Gates::part(n, name, gates.input, i, gates.hidden); };
  const auto from_state = [&](std::int64_t i, std::string_view name) { return Gates::part(n, name, gates.state, i, gates.hidden); };
  Ref a = from_input(0, "reset.input"), b = from_state(0, "reset.state");
  Ref reset = n.step("reset.sum").add(a, b);
  reset = n.step("reset").sigmoid(reset);
  a = from_input(1, "update.input"), b = from_state(1, "update.state");
  Ref update = n.step("update.sum").add(a, b);
  update = n.step("update").sigmoid(update);
  a = from_input(2, "candidate.input"), b = from_state(2, "candidate.state");
  b = n.step("candidate.reset").multiply(reset, b);
  Ref candidate = n.step("candidate.sum").add(a, b);
  candidate = n.step("candidate").tanh(candidate);
  Ref apart = n.step("apart").subtract(h, candidate);
  Ref kept = n.step("kept").multiply(update, apart);
  return n.tensor(n.result().add(candidate, kept));
}

Result<Value> cell_plain(Call& n) {
  BUDA_ASSIGN(Gates gates, gates_of(n, n.ref("hx")));
  Ref sum = n.step("sum").add(gates.input, gates.state);
  return n.tensor(n.result().op(n.importer().op, {sum}));
}

constexpr std::string_view kCellParameters = "input hx w_ih w_hh b_ih b_hh";

constexpr OpImporter kCellOps[] = {
    {"gru_cell", kCellParameters, cell_gru},
    {"lstm_cell", kCellParameters, cell_lstm},
    {"rnn_relu_cell", kCellParameters, cell_plain, "relu"},
    {"rnn_tanh_cell", kCellParameters, cell_plain, "tanh"},
};

}  // namespace

std::span<const OpImporter> cell_ops() { return kCellOps; }

}  // namespace buda::torchscript
