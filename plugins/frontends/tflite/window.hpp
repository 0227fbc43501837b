// SPDX-License-Identifier: Apache-2.0
// Sliding windows over the rows and columns of images, as options of operators describe them.
#pragma once

#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/windows.hpp>

namespace buda::tflite_frontend {

inline constexpr std::int64_t kLargestWindow = std::int64_t{1} << 30;  // so that nothing overflows

// `x` is the shape of the file: [samples, rows, columns, channels]. Everything that comes out is in the order rows, columns.
inline Result<frontend::WindowArguments> window_of(const NodeImport& n, const Shape& x, frontend::Dims kernel, frontend::Dims stride,
                                                   frontend::Dims dilation, tflite_format::Padding padding) {
  if (x.rank() != 4) return n.refuse(cat("its input is ", x.text(), "; [samples, rows, columns, channels] is needed"));
  for (auto size : x)
    if (size > kLargestWindow) return n.refuse(cat("its input ", x.text(), " is too large"));
  for (const auto* list : {&kernel, &stride, &dilation})
    for (auto v : *list)
      if (v < 1 || v > kLargestWindow)
        return n.refuse(
            cat("its window ", list_text(kernel), ", stride ", list_text(stride), " or dilation ", list_text(dilation), " has ", v));
  frontend::WindowArguments w{std::move(kernel), std::move(stride), std::move(dilation), {0, 0, 0, 0}};
  if (padding == tflite_format::Padding::SAME) w.padding = frontend::same_padding({x[1], x[2]}, w, false);
  return w;
}

}  // namespace buda::tflite_frontend
