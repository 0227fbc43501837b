// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, as TensorFlow and TensorFlow Lite describe them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/layouts.hpp>
#include <buda/frontend/op_import.hpp>

#include <string>

#pragma GCC visibility push(default)

namespace buda::frontend {

// The axes of a value of this rank, sorted; a repetition counts once.
Result<Dims> reduced_axes(const OpImport& op, const Dims& given, std::size_t rank);

// Attributes of our reductions.
ops::AttrMap reduce_attrs(Dims axes, bool keep);

// x reduced along the axes, or x itself where there are none. The rows and columns of an image that was computed with channels first are
// reduced there. `reduction` is an op of ours: "reduce_sum".
graph::ValueRef reduced(OpImport& op, Layouts& layouts, graph::ValueRef x, const std::string& reduction, Dims axes, bool keep);

// Booleans as numbers: "reduce_max" is whether one is true, "reduce_min" whether all are.
graph::ValueRef reduced_truths(OpImport& op, graph::ValueRef x, const std::string& reduction, Dims axes, bool keep);

}  // namespace buda::frontend

#pragma GCC visibility pop
