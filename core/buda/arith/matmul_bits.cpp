// SPDX-License-Identifier: Apache-2.0
// Products of Mode::bits: matmul, depthwise, and element by element.
#include <buda/arith/bits.hpp>
#include <buda/arith/parts.hpp>

#include <buda/numerics/unpack.hpp>

#include <algorithm>
#include <array>

namespace buda::arith::bits {

using netlist::Op;
using netlist::OpType;
using numerics::LeftOperand;
using numerics::RightOperand;

namespace {

bool has_sfpu_op(const Op& op) { return !op.attributes.sfpu_op.empty() && op.attributes.sfpu_op != "invalid"; }

Words part_of(const Words& words, std::size_t first, std::size_t count) {
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// What one block after the other leaves in L1, where the packer adds them up there.
class L1Sums {
 public:
  L1Sums(const OpCall& call, DataFormat format) : call_(call), format_(format) {}

  void add(const DestNumbers& numbers) {
    const std::vector<float> values = packed(call_, numbers, format_);
    if (sums_.empty()) {
      sums_ = values;
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) sums_[i] = numerics::sum_in_l1(format_, sums_[i], values[i]);
  }
  DestNumbers read_back() const { return copied(call_, format_, sums_); }

 private:
  const OpCall& call_;
  DataFormat format_;
  std::vector<float> sums_;
};

// What waits in L1, added to a block's sums: SrcA has the one, SrcB zeros.
void add_waiting(const OpCall& call, const DestNumbers& waiting, Words& block) {
  constexpr std::size_t kAtOnce = 1024;
  static constexpr std::array<std::uint32_t, kAtOnce> kZeros{};
  const numerics::Source source = waiting.form == numerics::Dest::fp16 ? numerics::Source::fp16 : numerics::Source::tf32;
  in_parts(call.threads, block.size(), kAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += kAtOnce)
      numerics::best_kernels().elwadd(
          {waiting.words.data() + i, kZeros.data(), block.data() + i, std::min(kAtOnce, end - i), source, waiting.form, 0}, true);
  });
}

// One matrix of the output: the products of `z` pairs of matrices, from matrix `first` on, inner block by inner block. Between blocks the
// sums wait in a buffer of the intermediate format, or are added up there. A block's sums begin at zero, but for those of 32 bits that the
// unpacker puts back into the destination.
DestNumbers products(const OpCall& call, const Words& a, const Words& b, std::size_t first, std::size_t z) {
  const Op& op = call.op;
  const Value &left = *call.inputs[0], &right = *call.inputs[1];
  const numerics::Product how = product(call);
  const std::size_t k = left.cols(), block = std::min(k, static_cast<std::size_t>(op.attributes.u_kt) * how.tile);
  const DataFormat between = op.intermed_format;
  const bool in_l1 = op.attributes.l1_acc && numerics::can_accumulate_in_l1(between);
  DestNumbers sums{how.dest, Words(left.rows() * right.cols())};
  L1Sums l1(call, between);
  const bool continues = how.dest == numerics::Dest::fp32 && (between == DataFormat::float32 || !is_float(between));
  bool is_first = true;
  for (std::size_t t = first; t < first + z; ++t) {
    const LeftOperand l(part_of(a, t * left.matrix(), left.matrix()), k);
    const RightOperand r(part_of(b, t * right.matrix(), right.matrix()), right.cols());
    for (std::size_t k0 = 0; k0 < k; k0 += block) {
      const bool adds = !in_l1 && !continues && !is_first;
      Words fresh(adds ? sums.words.size() : 0);
      numerics::multiply(how, l, r, k0, std::min(block, k - k0), adds ? fresh : sums.words, call.threads);
      if (adds) {
        add_waiting(call, sums, fresh);
        sums.words.swap(fresh);
      }
      is_first = false;
      if (in_l1) {
        l1.add(sums);
        std::fill(sums.words.begin(), sums.words.end(), 0u);
      } else if (k0 + block < k || t + 1 < first + z || op.attributes.bias) {
        spill(call, sums, between);
      }
    }
  }
  return in_l1 ? l1.read_back() : sums;
}

void append(DestNumbers& all, const DestNumbers& matrix) { all.words.insert(all.words.end(), matrix.words.begin(), matrix.words.end()); }

}  // namespace

Outcome matmul(const OpCall& call) {
  if (auto error = cannot_meet(call)) return *error;
  const Op& op = call.op;
  const std::size_t z = op.attributes.accumulate ? static_cast<std::size_t>(std::max(op.attributes.z, 1)) : 1;
  const Words a = source_words(call, *call.inputs[0]), b = source_words(call, *call.inputs[1]);
  DestNumbers out{product(call).dest, {}};
  for (std::size_t t = 0; t < call.inputs[0]->depth(); t += z) append(out, products(call, a, b, t, z));
  if (op.attributes.bias) add_bias(call, *call.inputs[2], out);
  if (has_sfpu_op(op)) apply(call, out, {"gelu", {}});
  return finish(call, out);
}

// Output tile (r, c) = sum over i of in0 tile (r, c + ct * i) times in1 tile (i, c).
Outcome depthwise(const OpCall& call) {
  if (auto error = cannot_meet(call)) return *error;
  const Op& op = call.op;
  const Value &left = *call.inputs[0], &right = *call.inputs[1];
  const Words a = source_words(call, left), b = source_words(call, right);
  const numerics::Product how = product(call);
  const auto ct = static_cast<std::size_t>(op.shape().ct), inner = static_cast<std::size_t>(op.inner_tiles());
  const std::size_t tile = how.tile, w = static_cast<std::size_t>(op.tile_dim.cols), rows = left.rows(), cols = ct * w;
  DestNumbers out{how.dest, Words(left.depth() * rows * cols)};
  for (std::size_t t = 0; t < left.depth(); ++t)
    for (std::size_t c = 0; c < ct; ++c) {
      // This column's operands side by side, so that its inner tiles follow each other.
      Words l(rows * inner * tile), r(inner * tile * w), sums(rows * w);
      for (std::size_t i = 0; i < inner; ++i) {
        for (std::size_t y = 0; y < rows; ++y)
          std::copy_n(a.data() + t * left.matrix() + y * left.cols() + (c + ct * i) * tile, tile, l.data() + (y * inner + i) * tile);
        for (std::size_t y = 0; y < tile; ++y)
          std::copy_n(b.data() + t * right.matrix() + (i * tile + y) * right.cols() + c * w, w, r.data() + (i * tile + y) * w);
      }
      numerics::multiply(how, LeftOperand(l, inner * tile), RightOperand(r, w), 0, inner * tile, sums, call.threads);
      for (std::size_t y = 0; y < rows; ++y) std::copy_n(sums.data() + y * w, w, out.words.data() + (t * rows + y) * cols + c * w);
    }
  if (op.attributes.bias) {
    spill(call, out, op.intermed_format);
    add_bias(call, *call.inputs[2], out);
  }
  return finish(call, out);
}

Outcome binary(const OpCall& call) {
  const Value &left = *call.inputs[0], &right = *call.inputs[1];
  if (call.op.type == OpType::maximum) {
    DestNumbers a = copied(call, left.format, left.floats);
    const DestNumbers b = copied(call, right.format, right.floats);
    if (a.form != b.form) return *cannot_meet(call);
    apply(call, a, {"maximum", {}}, b.words);
    return finish(call, a);
  }
  if (auto error = cannot_meet(call)) return *error;
  const Words a = source_words(call, left);
  Words b = source_words(call, right);
  const numerics::Product how = product(call);
  DestNumbers out{how.dest, Words(a.size())};
  if (call.op.type == OpType::subtract)
    for (std::uint32_t& word : b) word ^= numerics::kSignBit;
  in_parts(call.threads, a.size(), 16, [&](std::size_t begin, std::size_t end) {
    numerics::Elementwise e{a.data() + begin, b.data() + begin, out.words.data() + begin, end - begin, how.source, how.dest, 0};
    if (call.op.type != OpType::multiply) return numerics::best_kernels().elwadd(e, false);
    for (unsigned phase : how.phases) {
      e.phase = phase;
      numerics::best_kernels().elwmul(e);
    }
  });
  return finish(call, out);
}

}  // namespace buda::arith::bits
