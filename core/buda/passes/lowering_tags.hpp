// Marks that lower-to-device leaves on nodes for the passes behind it.
#pragma once

namespace buda::passes {

// The padding of the node's value is far away from its data (a mask): neighbours must not share an exponent.
inline constexpr const char* kWideRange = "wide_range";

// The value needs all 24 bits of Float32's mantissa.
inline constexpr const char* kExact = "exact";

}  // namespace buda::passes
