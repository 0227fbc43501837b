// SPDX-License-Identifier: Apache-2.0
// Marks on nodes for later passes: of lower-to-device, and of decompositions.
#pragma once

namespace buda::passes {

// The padding of the node's value is far away from its data (a mask): neighbours must not share an exponent.
inline constexpr const char* kWideRange = "wide_range";

// The value needs all 24 bits of Float32's mantissa: what is rounded to integers, integers themselves, and what they are computed
// by. Where a device does not compute in Float32 it has its usual format.
inline constexpr const char* kExact = "exact";

// A clip that stands for the limits of a quantised model's integers, in which there is no NaN.
inline constexpr const char* kQuantisedLimits = "quantised_limits";

// A splice that adds nothing but whole tiles of padding to its first input (steps/spare_tiles.hpp); the value says along which axis: r or c.
inline constexpr const char* kSpareTiles = "spare_tiles";

}  // namespace buda::passes
