// SPDX-License-Identifier: Apache-2.0
// Cells of recurrent networks, with the equations and the order of gates that ONNX gives them (ops/recurrent/recurrent.cpp has them in
// full).
//
// Each gate has products of its own with the parts of the weights that belong to it: columns cut out of one large product would have to be
// moved at each step, while weights are cut once, by constant folding.
#include "rules.hpp"

namespace buda::recurrent {

using namespace plugin;

namespace {

enum Input : std::size_t { kX, kW, kR, kB, kLengths, kH, kC, kP };

Term part(Rewrite& r, const Term& x, std::int64_t axis, std::int64_t begin, std::int64_t size) {
  return r.op("slice", {x}, {{"dims", Dims{axis}}, {"starts", Dims{begin}}, {"stops", Dims{begin + size}}});
}

Term turned(Rewrite& r, const Term& x) { return r.op("transpose", {x}, {{"perm", Dims{1, 0}}}); }

Term product(Rewrite& r, const Term& a, const Term& b) { return r.op("matmul", {a, b}); }

}  // namespace

Cell::Cell(Rewrite& r, std::int64_t direction, std::vector<Function> functions)
    : r_(r), direction_(direction), hidden_(r.type(kR).shape[2]), functions_(std::move(functions)) {
  std::int64_t gates = r.op_name() == "lstm" ? 4 : r.op_name() == "gru" ? 3 : 1;
  for (std::int64_t i = 0; i < gates; ++i) gates_.push_back(gate(i));
  if (r.op_name() == "lstm")
    for (std::int64_t i = 0; i < 3; ++i) peepholes_.push_back(peephole(i));
}

Term Cell::of_direction(std::size_t input, const Shape& shape) {
  Term all = r_.in(input);
  if (r_.shape(all)[0] != 1) all = part(r_, all, 0, direction_, 1);
  return r_.reshape(all, shape);
}

Cell::Gate Cell::gate(std::int64_t number) {
  std::int64_t inputs = r_.type(kX).shape[2], width = r_.type(kR).shape[1], at = number * hidden_;
  Gate g;
  g.w = turned(r_, part(r_, of_direction(kW, Shape{width, inputs}), 0, at, hidden_));
  g.r = turned(r_, part(r_, of_direction(kR, Shape{width, hidden_}), 0, at, hidden_));
  Term biases = of_direction(kB, Shape{1, 2 * width});
  g.b = part(r_, biases, 1, at, hidden_);
  g.b_r = part(r_, biases, 1, width + at, hidden_);
  return g;
}

Term Cell::peephole(std::int64_t number) { return part(r_, of_direction(kP, Shape{1, 3 * hidden_}), 1, number * hidden_, hidden_); }

Cell::State Cell::initial() {
  std::int64_t batch = r_.type(kX).shape[1];
  State s{of_direction(kH, Shape{batch, hidden_}), std::nullopt};
  if (r_.op_name() == "lstm") s.c = of_direction(kC, Shape{batch, hidden_});
  return s;
}

Term Cell::arriving(const Gate& gate, const Term& x, const Term& h) {
  Term bias = gate.b + gate.b_r;
  Term of_input = product(r_, x, gate.w) + bias;
  return of_input + product(r_, h, gate.r);
}

Cell::State Cell::advanced(const Term& x, const State& before) {
  if (r_.op_name() == "lstm") return lstm(x, before);
  if (r_.op_name() == "gru") return gru(x, before);
  return {applied(r_, functions_[0], arriving(gates_[0], x, before.h)), std::nullopt};
}

// Gates: input, output, forget, cell.
Cell::State Cell::lstm(const Term& x, const State& before) {
  auto with_peephole = [&](std::size_t gate, std::size_t which, const Term& c) {
    Term sum = arriving(gates_[gate], x, before.h);
    return applied(r_, functions_[0], sum + peepholes_[which] * c);
  };
  Term input = with_peephole(0, 0, *before.c);
  Term forget = r_.flag("input_forget") ? 1 - input : with_peephole(2, 2, *before.c);
  Term candidate = applied(r_, functions_[1], arriving(gates_[3], x, before.h));
  Term kept = forget * *before.c;
  Term c = kept + input * candidate;
  if (double most = r_.real("cell_clip"); most > 0) c = clip(c, -most, most);
  Term output = with_peephole(1, 1, c);
  return {output * applied(r_, functions_[2], c), c};
}

// Gates: update, reset, hidden.
Cell::State Cell::gru(const Term& x, const State& before) {
  Term update = applied(r_, functions_[0], arriving(gates_[0], x, before.h));
  Term reset = applied(r_, functions_[0], arriving(gates_[1], x, before.h));
  const Gate& g = gates_[2];
  Term of_input = product(r_, x, g.w) + g.b;
  Term of_state;
  if (r_.flag("linear_before_reset")) {
    of_state = product(r_, before.h, g.r) + g.b_r;
    of_state = reset * of_state;
  } else {
    of_state = product(r_, reset * before.h, g.r) + g.b_r;
  }
  Term candidate = applied(r_, functions_[1], of_input + of_state);
  // (1 - update) candidate + update h
  Term change = before.h - candidate;
  return {candidate + update * change, std::nullopt};
}

const std::vector<std::string>& cell_ops() {
  static const std::vector<std::string> ops = {
      "slice",       "reshape",          "transpose",       "matmul", "add",  "subtract", "multiply",   "clip",
      "concatenate", "reverse_sequence", "sigmoid",         "tanh",   "relu", "elu",      "leaky_relu", "softplus",
      "softsign",    "hard_sigmoid",     "thresholded_relu"};
  return ops;
}

}  // namespace buda::recurrent
