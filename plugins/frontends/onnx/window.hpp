// SPDX-License-Identifier: Apache-2.0
// The attributes that ONNX gives to everything with a sliding window: kernel_shape, strides, dilations, pads, auto_pad.
#pragma once

#include "node_import.hpp"

#include <buda/frontend/windows.hpp>

namespace buda::onnx_frontend {

using frontend::WindowArguments;

// With the kernel that the attribute kernel_shape says. `x` is [samples, channels, …]; one to three spatial axes are read.
Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x);
// With the kernel that weights [.., .., kernel] have; kernel_shape must agree.
Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x, const Shape& weights);

}  // namespace buda::onnx_frontend
