// SPDX-License-Identifier: Apache-2.0
// What the formats, the fidelity and the accumulation of each op lose of a model's outputs.
//
// For each op: the error that it makes itself on the arithmetic of the device (its results there next to the same op in fp32 on the
// operands that it had there), and what this error alone does to the outputs of the model in fp32. For each raise that is possible: the
// share of the op's own error that is left with it. Padding counts neither way: what it does to outputs is nothing, and own errors are
// those of data.
#pragma once

#include <buda/compiler/accuracy/raise.hpp>
#include <buda/compiler/accuracy/trial.hpp>
#include <buda/diag/result.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace buda::compiler {

struct PossibleRaise {
  Raise raise;
  double left = 1;  // of the op's loss
};

struct OpLoss {
  std::string name, type;
  std::vector<double> effects;       // what the op alone makes the outputs miss (score.hpp), by the order of their names
  std::vector<std::size_t> sources;  // operands that are inputs, parameters or constants
  std::vector<PossibleRaise> raises;
};

// `inputs`: one batch, by the names, in the types and the shapes of the graph's inputs. Effects are on the outputs of the base's score,
// whose criteria have `floor`.
Result<std::vector<OpLoss>> op_losses(const Trial& base, const NamedTensors& inputs, double floor, const std::vector<Raise>& raises,
                                      Host& host);

}  // namespace buda::compiler
