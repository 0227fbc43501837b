// SPDX-License-Identifier: Apache-2.0
// Angles of points in the plane.
#pragma once

#include <buda/frontend/op_import.hpp>
#include <buda/tensor/dtype.hpp>

#pragma GCC visibility push(default)

namespace buda::frontend {

// The angle of each point (x, y), from -pi to pi, and 0 of (0, 0): the arc tangent of y / x, in the half plane of x. Both are of this
// floating-point type and broadcast. The last node has the operator's name.
graph::ValueRef arc_tangent(OpImport& op, graph::ValueRef y, graph::ValueRef x, DType dtype);

}  // namespace buda::frontend

#pragma GCC visibility pop
