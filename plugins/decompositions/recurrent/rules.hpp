// SPDX-License-Identifier: Apache-2.0
// The parts of plugin `recurrent`: functions of gates, cells, and the walk over the steps.
#pragma once

#include <buda/ops/recurrent/activation_function.hpp>
#include <buda/plugin/rule.hpp>

#include <optional>
#include <string>
#include <vector>

namespace buda::recurrent {

using Dims = std::vector<std::int64_t>;

struct Function {
  ops::ActivationFunction function;
  double clip = 0;  // what arrives is clipped to this magnitude; 0: not
};

// activations.cpp
plugin::Term applied(plugin::Rewrite& r, const Function& f, const plugin::Term& x);

// One direction of a network.
class Cell {
 public:
  // The number `direction` of the node's weights; of the functions those of this direction.
  Cell(plugin::Rewrite& r, std::int64_t direction, std::vector<Function> functions);

  struct State {
    plugin::Term h;
    std::optional<plugin::Term> c;  // of an lstm
  };
  State initial();
  // The state after a step with the input x [batch, input].
  State advanced(const plugin::Term& x, const State& before);

 private:
  struct Gate {
    plugin::Term w, r;    // [input, hidden], [hidden, hidden]
    plugin::Term b, b_r;  // [1, hidden]
  };

  plugin::Term of_direction(std::size_t input, const Shape& shape);
  Gate gate(std::int64_t number);
  // x w + h r + both biases.
  plugin::Term arriving(const Gate& gate, const plugin::Term& x, const plugin::Term& h);
  plugin::Term peephole(std::int64_t number);
  State lstm(const plugin::Term& x, const State& before);
  State gru(const plugin::Term& x, const State& before);

  plugin::Rewrite& r_;
  std::int64_t direction_, hidden_;
  std::vector<Function> functions_;
  std::vector<Gate> gates_;
  std::vector<plugin::Term> peepholes_;
};

// What cells build, for produces().
const std::vector<std::string>& cell_ops();

}  // namespace buda::recurrent
