// SPDX-License-Identifier: Apache-2.0
// The choice of kernels, and those for any processor: one group after the other.
#include <buda/tensor/formats/bfp_kernels.hpp>

#include <buda/tensor/formats/bfp_group.hpp>
#include <buda/tensor/formats/datum.hpp>
#include <buda/tensor/formats/group_bits.hpp>

namespace buda::datum {
namespace {

template <class Group>
struct Portable {
  static constexpr std::size_t kBytes = 2 * Group::kBits;

  static void pack(const float* values, std::size_t stride, std::size_t groups, BfpRounding rounding, char* exponents, char* datums) {
    for (std::size_t g = 0; g < groups; ++g) {
      std::uint32_t group[kGroup];
      exponents[g] = static_cast<char>(Group::encode(values + g * stride, rounding, group));
      store_group<Group::kBits>(group, datums + g * kBytes);
    }
  }

  static void unpack(const char* exponents, const char* datums, std::size_t groups, float* values, std::size_t stride) {
    for (std::size_t g = 0; g < groups; ++g) {
      std::uint32_t group[kGroup];
      load_group<Group::kBits>(datums + g * kBytes, group);
      Group::decode(static_cast<std::uint8_t>(exponents[g]), group, values + g * stride);
    }
  }

  static void quantize(float* values, std::size_t stride, std::size_t groups, BfpRounding rounding) {
    for (std::size_t g = 0; g < groups; ++g) Group::quantize(values + g * stride, rounding);
  }
};

}  // namespace

const BfpKernels& portable_bfp_kernels(DataFormat format) {
  const BfpKernels* found = nullptr;
  with_codec(
      format, [](auto) {},
      [&](auto group) {
        using Kernels = Portable<decltype(group)>;
        static constexpr BfpKernels kKernels{Kernels::pack, Kernels::unpack, Kernels::quantize};
        found = &kKernels;
      });
  return *found;
}

const BfpKernels& bfp_kernels(DataFormat format) {
  const BfpKernels* fast = avx2_bfp_kernels(format);
  return fast != nullptr ? *fast : portable_bfp_kernels(format);
}

}  // namespace buda::datum
