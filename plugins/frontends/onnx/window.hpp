// The attributes that ONNX gives to everything with a sliding window: kernel_shape, strides, dilations, pads, auto_pad.
#pragma once

#include "node_import.hpp"

#include <buda/ops/table/op.hpp>

namespace buda::onnx_frontend {

struct WindowArguments {
  NodeImport::Dims kernel, stride, dilation;  // one entry per spatial axis
  NodeImport::Dims padding;                   // before each axis, then after each

  std::size_t rank() const { return kernel.size(); }
  // stride, dilation and padding as our ops have them, without those that have their standard values.
  ops::AttrMap attrs() const;
};

// With the kernel that the attribute kernel_shape says. `x` is [samples, channels, …]; one to three spatial axes are read.
Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x);
// With the kernel that weights [.., .., kernel] have; kernel_shape must agree.
Result<WindowArguments> window_arguments(const NodeImport& n, const Shape& x, const Shape& weights);

// How many windows fit along each axis, of these sizes.
Result<NodeImport::Dims> window_counts(const NodeImport& n, const NodeImport::Dims& sizes, const WindowArguments& window);

}  // namespace buda::onnx_frontend
