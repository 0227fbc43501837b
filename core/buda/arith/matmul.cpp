// SPDX-License-Identifier: Apache-2.0
// Dense matmul, of floats and of integers, with bias and what may follow.
#include <buda/arith/bits.hpp>
#include <buda/arith/gemm.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/parts.hpp>
#include <buda/arith/sfpu.hpp>
#include <buda/arith/special_values.hpp>

#include <buda/base/text.hpp>
#include <buda/numerics/integers.hpp>
#include <buda/numerics/pack.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace buda::arith {

void add_bias(const OpCall& call, const Value& bias, std::vector<float>& out) {
  const DestRounding dest = dest_rounding(call.mode, call.op.acc_format, call.op.out_format);
  const std::size_t cols = bias.cols(), height = static_cast<std::size_t>(bias.dim.rows);
  in_parts(call.threads, out.size() / cols, height, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const float* from = bias.floats.data() + row / height * height * cols;
      std::span<float> to(out.data() + row * cols, cols);
      for (std::size_t c = 0; c < cols; ++c) to[c] += from[c];
      round_in_dest(dest, to);
    }
  });
}

namespace {

using netlist::Op;
using netlist::TileShape;

// Matrices that are multiplied for each t of the output: z of them with `accumulate`.
std::int64_t summed(const Op& op) { return op.attributes.accumulate ? std::max(op.attributes.z, 1) : 1; }

// "invalid" is what TT-Buda's files say for none.
bool has_sfpu_op(const Op& op) { return !op.attributes.sfpu_op.empty() && op.attributes.sfpu_op != "invalid"; }

std::optional<Unable> check_matmul(const OpShapes& shapes) {
  const Op& op = shapes.op;
  const auto& a = op.attributes;
  if (a.identity) return check_sparse(shapes);
  const bool scaled = a.requant || a.dequant;
  if (auto unable = need_inputs(shapes, 2u + (a.bias ? 1 : 0) + (scaled ? 1 : 0))) return unable;
  const TileShape out = op.shape();
  const std::int64_t t = out.t * summed(op), inner = op.inner_tiles();
  if (inner < 1) return Unable{"it needs the attributes m_k and u_kt, which give its inner dimension", "", false};
  TileDim left{op.tile_dim.rows, shapes.dims[0].cols}, right{shapes.dims[0].cols, op.tile_dim.cols};
  if (auto unable = need_shape(shapes, 0, {t, out.rt, inner}, left)) return unable;
  if (auto unable = need_shape(shapes, 1, {t, inner, out.ct}, right)) return unable;
  for (std::size_t i = 2; i < shapes.inputs.size(); ++i)
    if (auto unable = need_shape(shapes, i, out, op.tile_dim)) return unable;
  const bool integers = is_integer(op.inputs[0].format);
  if (integers != is_integer(op.inputs[1].format)) return Unable{"one operand holds integers and the other does not", "", false};
  if (has_sfpu_op(op) && a.sfpu_op != "gelu")
    return Unable{cat("sfpu_op '", a.sfpu_op, "' is not supported after a matmul"), "gelu is", true};
  if (has_sfpu_op(op) && integers) return Unable{"sfpu_op does not work on integers", "", false};
  return std::nullopt;
}

// A matrix with only some bits of its numbers; the matrix itself where that changes nothing.
struct Operand {
  const float* data = nullptr;
  std::size_t ld = 0;
  std::vector<float> own;

  Operand(const float* matrix, std::size_t cols, std::size_t rows, std::uint32_t mask, int bits) : data(matrix), ld(cols) {
    // The mask keeps so many fraction bits.
    int kept = 23;
    while (kept > 0 && (mask & (1u << (23 - kept))) == 0) --kept;
    if (bits <= kept) return;
    own.resize(rows * cols);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = masked_bits(matrix[i], mask);
    data = own.data();
  }
};

// Both parts of a HiFi3 product side by side, tile by tile of the inner dimension: [high, low] of in0 against [full; high] of in1.
void interleave(const float* left, const float* right, std::size_t m, std::size_t k, std::size_t n, std::size_t tile,
                std::vector<float>& left2, std::vector<float>& right2) {
  left2.resize(m * k * 2);
  right2.resize(k * 2 * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t p = 0; p < k; ++p) {
      float high = masked_bits(left[i * k + p], kMultiplierB.high);
      std::size_t at = i * 2 * k + p / tile * 2 * tile + p % tile;
      left2[at] = high;
      left2[at + tile] = masked_bits(left[i * k + p], kMultiplierB.full) - high;
    }
  }
  for (std::size_t p = 0; p < k; ++p) {
    std::size_t at = (p / tile * 2 * tile + p % tile) * n;
    for (std::size_t j = 0; j < n; ++j) {
      right2[at + j] = masked_bits(right[p * n + j], kMultiplierA.full);
      right2[at + tile * n + j] = masked_bits(right[p * n + j], kMultiplierA.high);
    }
  }
}

// What the packer leaves in L1 where it adds a block's sums to those that are there: rounded to the nearest even number.
void add_in_l1(const OpCall& call, const std::vector<float>& arriving, float* there) {
  const DataFormat format = call.op.intermed_format;
  in_parts(call.threads, arriving.size(), 16, [&](std::size_t begin, std::size_t end) {
    if (format == DataFormat::float32) {
      for (std::size_t i = begin; i < end; ++i) there[i] += arriving[i];
    } else if (format == DataFormat::float16_b) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto sum = std::bit_cast<std::uint32_t>(there[i] + arriving[i]);
        there[i] = std::bit_cast<float>((sum + 0x7fffu + (sum >> 16 & 1)) & 0xffff0000u);
      }
    } else {
      for (std::size_t i = begin; i < end; ++i) there[i] = numerics::sum_in_l1(format, there[i], arriving[i]);
    }
  });
}

// What the matrix unit makes of a block's sums and of those that wait.
void add_in_dest(const OpCall& call, DestRounding dest, const std::vector<float>& block, float* there) {
  in_parts(call.threads, block.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) there[i] += block[i];
    round_in_dest(dest, {there + begin, end - begin});
  });
}

// C += A B for one pair of matrices, inner block by inner block; between blocks the sums wait in a buffer of the intermediate format, or
// are added up there. In a destination of 16 bits a block's sums begin at zero, and are added to what waits when they are complete.
// `begins`: C is zero, and nothing waits.
void multiply(const OpCall& call, const float* a, const float* b, std::size_t m, std::size_t k, std::size_t n, bool begins, bool spill_last,
              float* c) {
  const Op& op = call.op;
  const DestRounding dest = dest_rounding(call.mode, op.acc_format, op.out_format);
  const ProductBits bits = phases(call.mode, op.fidelity, op.inputs[0].format);
  const auto tile = static_cast<std::size_t>(call.inputs[0]->dim.cols);
  Gemm g{m, n, k, nullptr, k, nullptr, n, c, n, call.mode == Mode::fp32 ? 256 : tile, dest};
  Operand left(bits.low_left ? nullptr : a, k, bits.low_left ? 0 : m, bits.left, fraction_bits(op.inputs[0].format));
  Operand right(bits.low_left ? nullptr : b, n, bits.low_left ? 0 : k, bits.right, fraction_bits(op.inputs[1].format));
  std::vector<float> left2, right2;
  std::size_t stretch = 1;
  g.a = left.data;
  g.b = right.data;
  if (bits.low_left) {
    interleave(a, b, m, k, n, tile, left2, right2);
    stretch = 2;
    g.a = left2.data();
    g.b = right2.data();
    g.lda = 2 * k;
    g.step = 2 * tile;
  }
  const std::size_t block = static_cast<std::size_t>(op.attributes.u_kt) * tile;
  const bool is_narrow = call.mode == Mode::exact && dest != DestRounding::none;
  // Sums of 32 bits are the same wherever they are added.
  const bool in_l1 = is_narrow && op.attributes.l1_acc && numerics::can_accumulate_in_l1(op.intermed_format);
  const bool keeps_all = call.mode == Mode::fp32 || (dest == DestRounding::none && op.intermed_format == DataFormat::float32);
  if (keeps_all || op.intermed_format == DataFormat::invalid || is_integer(op.intermed_format)) {
    g.k = k * stretch;
    return call.mode == Mode::fp32 ? gemm_past_zeros(g, call.threads) : gemm(g, call.threads);
  }
  // What is added to nothing is its own sum.
  const bool adds = in_l1 || (is_narrow && (!begins || k > block));
  std::vector<float> sums(adds ? m * n : 0);
  for (std::size_t k0 = 0; k0 < k; k0 += block) {
    Gemm part = g;
    part.k = std::min(block, k - k0) * stretch;
    part.a += k0 * stretch;
    part.b += k0 * stretch * n;
    const bool is_added = in_l1 || (is_narrow && !(begins && k0 == 0));
    if (is_added) {
      std::fill(sums.begin(), sums.end(), 0.0f);
      part.c = sums.data();
    }
    gemm(part, call.threads);
    if (in_l1) {
      pack(call.mode, dest, op.intermed_format, sums, n);
      add_in_l1(call, sums, c);
      continue;
    }
    if (is_added) add_in_dest(call, dest, sums, c);
    if (k0 + block < k || spill_last)
      in_parts(call.threads, m * n, n, [&](std::size_t begin, std::size_t end) {
        pack(call.mode, dest, op.intermed_format, {c + begin, end - begin}, n);
      });
  }
}

Value run_matmul_floats(const OpCall& call) {
  const Op& op = call.op;
  const Value& a = *call.inputs[0];
  const Value& b = *call.inputs[1];
  const std::size_t m = a.rows(), k = a.cols(), n = b.cols(), z = static_cast<std::size_t>(summed(op));
  std::vector<float> out(a.depth() / z * m * n);
  for (std::size_t t = 0; t < a.depth(); ++t)
    multiply(call, a.floats.data() + t * a.matrix(), b.floats.data() + t * b.matrix(), m, k, n, t % z == 0,
             op.attributes.bias || t % z + 1 < z, out.data() + t / z * m * n);
  if (op.attributes.bias) add_bias(call, *call.inputs[2], out);
  if (has_sfpu_op(op)) {
    const DestRounding dest = dest_rounding(call.mode, op.acc_format, op.out_format);
    in_parts(call.threads, out.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) out[i] = sfpu::gelu(out[i]);
      round_in_dest(dest, {out.data() + begin, end - begin});
    });
  }
  return finish(call, std::move(out));
}

// Mode::bits: sums begin with the bias, and saturate. Where no sum can come to an end, all orders give the same.
constexpr std::int64_t kMaxDigitProduct = 127 * 127;

// A sum that may: 16 products of a phase after the other, as the matrix unit adds them (numerics/integers.hpp).
std::int32_t sum_in_steps(std::int32_t sum, const std::int32_t* left, const std::int32_t* right, std::size_t k, std::size_t stride) {
  constexpr std::size_t kTile = 32, kStep = 16;
  std::uint32_t word = numerics::sign_and_magnitude(sum);
  for (std::size_t tile = 0; tile < k; tile += kTile)
    for (unsigned phase : bits::phases_of(netlist::MathFidelity::hifi4))
      for (std::size_t from = tile; from < tile + kTile; from += kStep) {
        std::int32_t step = 0;
        for (std::size_t p = from; p < from + kStep; ++p)
          step += numerics::integer_factor_b(numerics::source_of_integer(left[p]), phase) *
                  numerics::integer_factor_a(numerics::source_of_integer(right[p * stride]), phase);
        word = numerics::integer_sum(word, step);
      }
  return numerics::value_of_integer(word);
}

// The sums of one pair of matrices that the bias has brought near the ends again, step by step.
void sum_large_ones(const OpCall& call, const std::vector<std::int32_t>& begin, std::vector<std::int32_t>& out) {
  const Value& a = *call.inputs[0];
  const Value& b = *call.inputs[1];
  const std::size_t m = a.rows(), k = a.cols(), n = b.cols(), z = static_cast<std::size_t>(summed(call.op));
  const std::int64_t most = kMaxDigitProduct * static_cast<std::int64_t>(k * z);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::abs(std::int64_t{begin[i]}) + most <= numerics::kLargestInteger) continue;
    const std::size_t t = i / (m * n), row = i / n % m, col = i % n;
    out[i] = begin[i];
    for (std::size_t s = t * z; s < (t + 1) * z; ++s)
      out[i] = sum_in_steps(out[i], a.ints.data() + s * a.matrix() + row * k, b.ints.data() + s * b.matrix() + col, k, n);
  }
}

Value run_matmul_integers(const OpCall& call) {
  const Op& op = call.op;
  const Value& a = *call.inputs[0];
  const Value& b = *call.inputs[1];
  const std::size_t m = a.rows(), k = a.cols(), n = b.cols(), z = static_cast<std::size_t>(summed(op));
  std::vector<std::int32_t> out(a.depth() / z * m * n);
  for (std::size_t t = 0; t < a.depth(); ++t) {
    const std::int32_t* left = a.ints.data() + t * a.matrix();
    const std::int32_t* right = b.ints.data() + t * b.matrix();
    std::int32_t* sums = out.data() + t / z * m * n;
    // Products of 8-bit numbers: 2^17 of them fit in 32 bits, which is more than any inner dimension; unsigned, so that nothing else
    // can overflow either.
    in_parts(call.threads, m, std::max<std::size_t>(1, (1u << 18) / (k * n + 1)), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t p = 0; p < k; ++p) {
          const auto factor = static_cast<std::uint32_t>(left[i * k + p]);
          for (std::size_t j = 0; j < n; ++j)
            sums[i * n + j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[i * n + j]) +
                                                        factor * static_cast<std::uint32_t>(right[p * n + j]));
        }
    });
  }
  const auto& attributes = op.attributes;
  if (attributes.bias) {
    const Value& bias = *call.inputs[2];
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(out[i]) +
                                    static_cast<std::uint32_t>(bias.integer() ? bias.ints[i] : static_cast<std::int32_t>(bias.floats[i])));
    if (call.mode == Mode::bits && bias.integer()) sum_large_ones(call, bias.ints, out);
  }
  if (!attributes.requant && !attributes.dequant) return finish(call, std::move(out));
  return rescaled(call, out, *call.inputs.back());
}

Outcome run_matmul(const OpCall& call) {
  if (call.op.attributes.identity) return run_sparse(call);
  if (call.mode == Mode::bits && !call.inputs[0]->integer()) return bits::matmul(call);
  return call.inputs[0]->integer() ? run_matmul_integers(call) : run_matmul_floats(call);
}

double flops_matmul(const Op& op) { return 2.0 * elements(op) * static_cast<double>(op.inner_tiles() * summed(op)) * 32.0; }

}  // namespace

const OpKind kMatmul = {&check_matmul, &as_on_chip<run_matmul, Reach::product>, &flops_matmul};

}  // namespace buda::arith
