// SPDX-License-Identifier: Apache-2.0
// The kernels for x86-64 processors with AVX2: a group is two registers of eight numbers.
//
// The arithmetic is BfpGroup's, step by step. What BfpGroup does the slow way (family B's exponents near the ends of their range) is left
// to it, group by group. Functions are compiled for AVX2 one by one, not the file, so that no inline function of a header can leak from
// here into code for other processors.
#include <buda/tensor/formats/bfp_kernels.hpp>

#include <buda/tensor/formats/bfp_group.hpp>
#include <buda/tensor/formats/group_bits.hpp>

#if defined(__x86_64__)
#include <immintrin.h>

#define BUDA_AVX2 [[gnu::target("avx2")]]

namespace buda::datum {
namespace {

template <int magnitude_bits, ExponentFamily family>
struct Avx2 {
  using Group = BfpGroup<magnitude_bits, family>;
  static constexpr bool kFamilyA = family == ExponentFamily::a;
  static constexpr int kBias = kFamilyA ? 15 : 127;
  static constexpr int kMaxMagnitude = (1 << magnitude_bits) - 1;
  static constexpr std::size_t kBytes = 2 * Group::kBits;

  struct Numbers {
    __m256i low, high;  // the bits of 16 floats
  };

  BUDA_AVX2 static inline __m256i magnitude_of(__m256i bits) { return _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff)); }

  // In all four lanes.
  BUDA_AVX2 static inline __m128i shared_exponent(const Numbers& x) {
    __m256i largest = _mm256_max_epi32(magnitude_of(x.low), magnitude_of(x.high));
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
    __m128i exponent = _mm_srli_epi32(four, 23);
    if constexpr (kFamilyA) {
      exponent = _mm_max_epi32(_mm_sub_epi32(exponent, _mm_set1_epi32(127 - kBias)), _mm_setzero_si128());
      exponent = _mm_min_epi32(exponent, _mm_set1_epi32(31));
    }
    return exponent;
  }

  static bool plain(int exponent) { return kFamilyA || (exponent >= magnitude_bits + 2 && exponent < 255); }

  // 2^power in eight lanes.
  BUDA_AVX2 static inline __m256 power_of_two(__m128i power) {
    __m128i bits = _mm_slli_epi32(_mm_add_epi32(power, _mm_set1_epi32(127)), 23);
    return _mm256_broadcastss_ps(_mm_castsi128_ps(bits));
  }
  BUDA_AVX2 static inline __m256 factor_of(__m128i exponent) {
    return power_of_two(_mm_sub_epi32(_mm_set1_epi32(magnitude_bits + kBias), exponent));
  }
  BUDA_AVX2 static inline __m256 unit_of(__m128i exponent) {
    return power_of_two(_mm_sub_epi32(exponent, _mm_set1_epi32(kBias + magnitude_bits - 1)));
  }

  BUDA_AVX2 static inline __m256i magnitude(__m256i bits, __m256 factor, __m256i increment) {
    __m256 twice = _mm256_mul_ps(_mm256_castsi256_ps(magnitude_of(bits)), factor);
    twice = _mm256_min_ps(twice, _mm256_set1_ps(2.0f * kMaxMagnitude));  // NaN, too, becomes the largest
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_cvttps_epi32(twice), increment), 1);
  }

  // The sign bits of numbers that are not zero, in the top bit.
  BUDA_AVX2 static inline __m256i sign(__m256i bits, __m256i magnitude) {
    __m256i zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    return _mm256_andnot_si256(zero, _mm256_and_si256(bits, _mm256_set1_epi32(static_cast<int>(0x80000000u))));
  }

  BUDA_AVX2 static inline __m256i datums_of(__m256i bits, __m256 factor, __m256i increment) {
    __m256i m = magnitude(bits, factor, increment);
    return _mm256_or_si256(m, _mm256_srli_epi32(sign(bits, m), 31 - magnitude_bits));
  }

  BUDA_AVX2 static inline void store(__m256i low, __m256i high, char* out) {
    __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    if constexpr (magnitude_bits == 7) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    } else if constexpr (magnitude_bits == 3) {
      __m128i pairs = _mm_maddubs_epi16(bytes, _mm_set1_epi16(0x1001));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(pairs, pairs));
    } else {
      __m128i fours = _mm_madd_epi16(_mm_maddubs_epi16(bytes, _mm_set1_epi16(0x0401)), _mm_set1_epi32(0x00100001));
      int packed = _mm_cvtsi128_si32(_mm_shuffle_epi8(fours, _mm_set1_epi32(0x0c080400)));
      std::memcpy(out, &packed, sizeof packed);
    }
  }

  // The datums first…first+7 of a group.
  template <int first>
  BUDA_AVX2 static inline __m256i load(const char* in) {
    __m128i bytes = _mm_setzero_si128();
    std::memcpy(&bytes, in, kBytes);
    constexpr int kPerByte = 8 / Group::kBits;
    constexpr auto byte = [](int i) { return static_cast<char>((first + i) / kPerByte); };
    constexpr auto shift = [](int i) { return i % kPerByte * Group::kBits; };
    __m128i spread = _mm_shuffle_epi8(
        bytes, _mm_setr_epi8(byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7), 0, 0, 0, 0, 0, 0, 0, 0));
    __m256i shifts = _mm256_setr_epi32(shift(0), shift(1), shift(2), shift(3), shift(4), shift(5), shift(6), shift(7));
    return _mm256_srlv_epi32(_mm256_cvtepu8_epi32(spread), shifts);
  }

  BUDA_AVX2 static inline __m256 numbers(__m256i datums, __m256 unit) {
    __m256 size = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_and_si256(datums, _mm256_set1_epi32(kMaxMagnitude))), unit);
    __m256i negative = _mm256_slli_epi32(_mm256_srli_epi32(datums, magnitude_bits), 31);
    return _mm256_or_ps(size, _mm256_castsi256_ps(negative));
  }

  BUDA_AVX2 static inline Numbers load_numbers(const float* v) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(v)), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(v + 8))};
  }

  BUDA_AVX2 static inline __m256i increment_of(BfpRounding rounding) {
    return _mm256_set1_epi32(rounding == BfpRounding::half_up ? 1 : 0);
  }

  BUDA_AVX2 static void pack(const float* values, std::size_t stride, std::size_t groups, BfpRounding rounding, char* exponents,
                             char* datums) {
    const __m256i increment = increment_of(rounding);
    for (std::size_t g = 0; g < groups; ++g, values += stride, datums += kBytes) {
      Numbers x = load_numbers(values);
      __m128i shared = shared_exponent(x);
      int exponent = _mm_cvtsi128_si32(shared);
      exponents[g] = static_cast<char>(exponent);
      if (!plain(exponent)) {
        std::uint32_t group[kGroup];
        Group::encode(values, rounding, group);
        store_group<Group::kBits>(group, datums);
        continue;
      }
      __m256 factor = factor_of(shared);
      store(datums_of(x.low, factor, increment), datums_of(x.high, factor, increment), datums);
    }
  }

  BUDA_AVX2 static void unpack(const char* exponents, const char* datums, std::size_t groups, float* values, std::size_t stride) {
    for (std::size_t g = 0; g < groups; ++g, values += stride, datums += kBytes) {
      int exponent = static_cast<unsigned char>(exponents[g]);
      if (exponent < magnitude_bits + 2 || exponent > (kFamilyA ? 31 : 254)) {
        std::uint32_t group[kGroup];
        load_group<Group::kBits>(datums, group);
        Group::decode(static_cast<std::uint8_t>(exponent), group, values);
        continue;
      }
      __m256 unit = unit_of(_mm_set1_epi32(exponent));
      _mm256_storeu_ps(values, numbers(load<0>(datums), unit));
      _mm256_storeu_ps(values + 8, numbers(load<8>(datums), unit));
    }
  }

  BUDA_AVX2 static inline __m256 quantized(__m256i bits, __m256 factor, __m256 unit, __m256i increment) {
    __m256i m = magnitude(bits, factor, increment);
    return _mm256_or_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(m), unit), _mm256_castsi256_ps(sign(bits, m)));
  }

  BUDA_AVX2 static void quantize(float* values, std::size_t stride, std::size_t groups, BfpRounding rounding) {
    const __m256i increment = increment_of(rounding);
    for (std::size_t g = 0; g < groups; ++g, values += stride) {
      Numbers x = load_numbers(values);
      __m128i shared = shared_exponent(x);
      if (!plain(_mm_cvtsi128_si32(shared))) {
        Group::quantize(values, rounding);
        continue;
      }
      __m256 factor = factor_of(shared);
      __m256 unit = unit_of(shared);
      _mm256_storeu_ps(values, quantized(x.low, factor, unit, increment));
      _mm256_storeu_ps(values + 8, quantized(x.high, factor, unit, increment));
    }
  }
};

template <int magnitude_bits, ExponentFamily family>
constexpr BfpKernels kKernels{Avx2<magnitude_bits, family>::pack, Avx2<magnitude_bits, family>::unpack,
                              Avx2<magnitude_bits, family>::quantize};

}  // namespace

const BfpKernels* avx2_bfp_kernels(DataFormat format) {
  if (!__builtin_cpu_supports("avx2")) return nullptr;
  switch (format) {
    case DataFormat::bfp8: return &kKernels<7, ExponentFamily::a>;
    case DataFormat::bfp8_b: return &kKernels<7, ExponentFamily::b>;
    case DataFormat::bfp4: return &kKernels<3, ExponentFamily::a>;
    case DataFormat::bfp4_b: return &kKernels<3, ExponentFamily::b>;
    case DataFormat::bfp2: return &kKernels<1, ExponentFamily::a>;
    case DataFormat::bfp2_b: return &kKernels<1, ExponentFamily::b>;
    default: return nullptr;
  }
}

}  // namespace buda::datum

#else

namespace buda::datum {

const BfpKernels* avx2_bfp_kernels(DataFormat) { return nullptr; }

}  // namespace buda::datum

#endif
