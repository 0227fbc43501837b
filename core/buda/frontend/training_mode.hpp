// SPDX-License-Identifier: Apache-2.0
// Dropout and batch normalisation as a training step computes them (importer --training). What the model's file leaves to whoever trains
// are inputs with tags (graph/training.hpp): masks, and whether the step learns; the statistics of a batch are outputs with a tag.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/graph/node.hpp>

#include <string_view>

#pragma GCC visibility push(default)

namespace buda::frontend {

struct Dropped {
  graph::ValueRef y, mask;
};

// x times a mask that is 0 with the probability `ratio`, from 0 to 1, and else 1 / (1 - ratio).
Result<Dropped> dropout_in_training(OpImport& op, std::string_view name, graph::ValueRef x, double ratio);

struct BatchNorm {
  graph::ValueRef x, scale, bias, mean, variance;
  double epsilon = 1e-5;
  double momentum = 0.1;  // the part of the batch in the next stored statistics
};

struct BatchNormResults {
  graph::ValueRef y, mean, variance;  // the statistics are those of the batch
};

// Normalised by the statistics of the batch where the step learns, else by the stored ones. Where these are parameters, a step moves them.
// The input has at least two axes.
Result<BatchNormResults> batch_norm_in_training(OpImport& op, std::string_view name, const BatchNorm& norm);

}  // namespace buda::frontend

#pragma GCC visibility pop
