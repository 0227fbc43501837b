// SPDX-License-Identifier: Apache-2.0
// The orders of an image's axes: [samples, channels, …] and [samples, …, channels].
#pragma once

#include "node_import.hpp"

namespace buda::onnx_frontend {

// The axes of one with channels last, in the order that has channels first; and the other way.
inline NodeImport::Dims channels_first(std::size_t rank) {
  NodeImport::Dims out{0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) out.push_back(static_cast<std::int64_t>(i));
  return out;
}

inline NodeImport::Dims channels_last(std::size_t rank) {
  NodeImport::Dims out{0};
  for (std::size_t i = 2; i < rank; ++i) out.push_back(static_cast<std::int64_t>(i));
  out.push_back(1);
  return out;
}

inline Shape turned_shape(const Shape& shape, const NodeImport::Dims& order) {
  Shape out = shape;
  for (std::size_t i = 0; i < order.size(); ++i) out[i] = shape[static_cast<std::size_t>(order[i])];
  return out;
}

}  // namespace buda::onnx_frontend
