// SPDX-License-Identifier: Apache-2.0
// Numbers of integers with a scale and a zero point.
#pragma once

#include "node_import.hpp"

namespace buda::onnx_frontend {

// Input `i`, a zero point; one that is left out is 0, in this type and the shape of input `scale`.
Result<graph::ValueRef> zero_point(NodeImport& n, std::size_t i, DType dtype, std::size_t scale);

// Input `i` as I32, less its zero point (if there is one), which is a single number or a column with `after` axes behind it.
Result<graph::ValueRef> centred(NodeImport& n, std::size_t i, std::size_t zero, std::string_view name, std::size_t after);

Result<void> import_dequantize(NodeImport& n);
Result<void> import_quantize(NodeImport& n);
Result<void> import_qlinear_conv(NodeImport& n);

}  // namespace buda::onnx_frontend
