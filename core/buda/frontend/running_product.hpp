// SPDX-License-Identifier: Apache-2.0
// Products of all elements up to each place.
#pragma once

#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::frontend {

// Along an axis (not negative) of x, which has this shape: of each element and those before it, in log2(size) products. The last node has
// the operator's name; an axis of one element gives x itself.
graph::ValueRef running_product(OpImport& op, graph::ValueRef x, const Shape& shape, std::int64_t axis);

}  // namespace buda::frontend

#pragma GCC visibility pop
