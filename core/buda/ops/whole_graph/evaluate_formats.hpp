// SPDX-License-Identifier: Apache-2.0
// What a device makes of a node: its formats, the width of its destination register and its math fidelity applied to the reference meaning.
//
// Values are rounded to their format wherever they are stored: model inputs, parameters and constants when they come to the device, the
// result of each op when it is packed. In between an op sees the operand bits that the fidelity leaves and adds up in the width of the
// accumulate format (tensor/math_unit.hpp).
//
// How an op is blocked is not known yet. Taken is the simplest case: a matmul goes through its inner dimension in one step, rounded once
// for each tile, and stores partial sums in the intermediate format only before a bias and between accumulated slices. A balanced netlist
// may store them more often; where intermediate and accumulate format are the same, as by default, that changes nothing.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/data_format.hpp>
#include <buda/tensor/fwd.hpp>

#include <span>
#include <vector>

namespace buda::ops {

// evaluate_graph (evaluate.hpp) for a graph at device level whose formats are chosen.
Result<NamedTensors> evaluate_graph_in_formats(const graph::Graph& graph, const NamedTensors& inputs, const EvaluateOptions& options = {});

// Whether the node says in which formats it computes; the failure names what is missing.
Result<void> check_formats(const graph::Node& node);

// A value as a buffer of this format holds it; integers are left as they are.
Result<Tensor> as_stored(const Tensor& value, DataFormat format);
// The same of a value that comes from the host, which rounds before it packs (quantize.hpp).
Result<Tensor> as_pushed(const Tensor& value, DataFormat format);

// A device op on 4-D values that arrive in `formats`, after the edges' TMs. The results are in the node's format.
Result<std::vector<Tensor>> evaluate_in_formats(const OpDef& def, const graph::Node& node, std::span<const Tensor> arriving,
                                                std::span<const DataFormat> formats, unsigned threads);

}  // namespace buda::ops
