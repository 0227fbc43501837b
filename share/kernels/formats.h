// Number formats as the hardware numbers them.
#pragma once

#include <stdint.h>

namespace tt {

enum Format : uint32_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kBfp8 = 2,
  kBfp4 = 3,
  kTf32 = 4,
  kFloat16B = 5,
  kBfp8B = 6,
  kBfp4B = 7,
  kInt32 = 8,
  kInt16 = 9,
  kLf8 = 10,
  kBfp2 = 11,
  kInt8 = 14,
  kBfp2B = 15,
};

constexpr uint32_t datum_bits(uint32_t format) {
  return format == kBfp2 || format == kBfp2B   ? 2
         : format == kBfp4 || format == kBfp4B ? 4
         : (format & 3) == 0                   ? 32
         : (format & 3) == 1                   ? 16
                                               : 8;
}
constexpr bool is_bfp(uint32_t format) { return datum_bits(format) < 16 && format != kLf8 && format != kInt8; }

// How a number from L1 arrives: its format there, the one that the unpacker makes of it, and whether it goes past the source registers
// straight into the destination. `turned`: its tiles are transposed on the way, which the first unpacker does for numbers of 16 bits.
struct Operand {
  uint32_t stored, unpacked;
  bool to_dest;
  bool turned = false;
};

// The matrix unit only has to know how wide exponents are; of two bits, ttsim knows no format in its settings.
constexpr uint32_t matrix_format(uint32_t unpacked) { return unpacked == kBfp2B ? kFloat16B : unpacked == kBfp2 ? kFloat16 : unpacked; }

}  // namespace tt
