// SPDX-License-Identifier: Apache-2.0
// How the ops of a quantised model are computed.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::passes {

// What the pass quantized-models makes of them.
enum class QuantizedModels : std::uint8_t {
  dequantize,  // with the real numbers that its integers stand for, on the device
  int8,        // likewise, but for products that the device can compute in Int8
  host,        // as they are, on the host
};

}  // namespace buda::passes

#pragma GCC visibility pop
