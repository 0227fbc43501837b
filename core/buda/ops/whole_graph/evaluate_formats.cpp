// SPDX-License-Identifier: Apache-2.0
// Matmul and multiplication see parts of their operands, everything else rounds around the reference meaning.
#include <buda/ops/whole_graph/evaluate_formats.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/device/fused_body.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/linear_algebra/gemm.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/op.hpp>
#include <buda/tensor/formats/math_unit.hpp>
#include <buda/tensor/formats/quantize.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace buda::ops {
namespace {

using graph::kTileSide;
using graph::MathFidelity;
using graph::Node;

Result<Buffer> copy_of(const Tensor& value) {
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, value.shape()));
  Tensor f32 = value.cast(DType::f32);
  auto from = f32.as<float>();
  std::copy(from.begin(), from.end(), out.as<float>().begin());
  return out;
}

std::size_t row_length(const Shape& s) { return static_cast<std::size_t>(s.rank() == 0 ? 1 : s[s.rank() - 1]); }

// ---- relu, which the packer does after the register has rounded

struct Relu {
  bool enabled = false;
  bool caps = false;
  float threshold = 0;
};

Relu relu_of(const OpDef& def, const Node& n) {
  if (def.attr("relu_en") == nullptr) return {};
  Attrs attrs(def, n.attrs);
  const std::string& mode = attrs.text("relu_mode");
  return {attrs.boolean("relu_en") && mode != "none", mode == "max", static_cast<float>(attrs.real("relu_threshold"))};
}

void apply(const Relu& relu, std::span<float> numbers) {
  if (!relu.enabled) return;
  for (float& v : numbers) {
    // NaN stays NaN.
    if (relu.caps)
      v = v > relu.threshold ? relu.threshold : (v <= 0.0f ? 0.0f : v);
    else
      v = v <= relu.threshold ? 0.0f : v;
  }
}

AttrMap without_relu(const AttrMap& attrs) {
  AttrMap out;
  for (const auto& [name, value] : attrs)
    if (!name.starts_with("relu_")) out.emplace(name, value);
  return out;
}

// ---- products

// `left` is the side that the multiplier takes as operand B: input 0 of a matmul, input 1 of a multiplication.
ProductBits product_bits(MathFidelity fidelity) {
  switch (fidelity) {
    case MathFidelity::lofi:
      return kLoFiProduct;
    case MathFidelity::hifi2:
      return kHiFi2Product;
    case MathFidelity::hifi3:
      return kHiFi3Product;
    case MathFidelity::hifi4:
      break;
  }
  return kHiFi4Product;
}

struct Matrices {
  const float* a = nullptr;  // m x k
  const float* b = nullptr;  // k x n
  std::size_t m = 0, k = 0, n = 0;
};

// As the matrix unit reads a number: exponent 255 is that of ordinary numbers from 2^128 on.
double as_multiplied(float v) {
  if (std::isfinite(v)) return v;
  const auto mantissa = static_cast<double>(std::bit_cast<std::uint32_t>(v) & 0x7fffffu);
  return std::copysign(0x1p128 * (1 + mantissa * 0x1p-23), std::signbit(v) ? -1.0 : 1.0);
}

// Rows and columns of a product that meet an infinity or NaN, once more.
void redo_special(const Matrices& in, std::size_t k0, std::size_t width, const ProductBits& bits, std::vector<float>& product) {
  std::vector<bool> rows(in.m), cols(in.n);
  for (std::size_t i = 0; i < in.m; ++i)
    for (std::size_t p = 0; p < width; ++p)
      if (!std::isfinite(in.a[i * in.k + k0 + p])) rows[i] = true;
  for (std::size_t p = 0; p < width; ++p)
    for (std::size_t j = 0; j < in.n; ++j)
      if (!std::isfinite(in.b[(k0 + p) * in.n + j])) cols[j] = true;
  for (std::size_t i = 0; i < in.m; ++i)
    for (std::size_t j = 0; j < in.n; ++j) {
      if (!rows[i] && !cols[j]) continue;
      double sum = 0;
      for (std::size_t p = 0; p < width; ++p) {
        const float x = in.a[i * in.k + k0 + p], y = in.b[(k0 + p) * in.n + j];
        const double high = as_multiplied(masked_bits(x, bits.left));
        sum += high * as_multiplied(masked_bits(y, bits.right));
        if (bits.low_left)
          sum += (as_multiplied(masked_bits(x, kMultiplierB.full)) - high) * as_multiplied(masked_bits(y, kMultiplierA.high));
      }
      product[i * in.n + j] = static_cast<float>(sum);
    }
}

// c += a b, tile by tile of the inner dimension: the register rounds after each.
void add_product(const Matrices& in, const ProductBits& bits, DestRounding rounding, float* c, unsigned threads) {
  const std::size_t step = rounding == DestRounding::none ? std::max<std::size_t>(in.k, 1) : static_cast<std::size_t>(kTileSide);
  const std::size_t parts = bits.low_left ? 2 : 1;
  std::vector<float> left(in.m * step * parts), right(step * parts * in.n), product(in.m * in.n);
  for (std::size_t k0 = 0; k0 < in.k; k0 += step) {
    const std::size_t width = std::min(step, in.k - k0), inner = width * parts;
    for (std::size_t i = 0; i < in.m; ++i) {
      const float* from = in.a + i * in.k + k0;
      float* to = left.data() + i * inner;
      for (std::size_t p = 0; p < width; ++p) to[p] = masked_bits(from[p], bits.left);
      if (bits.low_left)
        for (std::size_t p = 0; p < width; ++p) to[width + p] = masked_bits(from[p], kMultiplierB.full) - to[p];
    }
    const float* from = in.b + k0 * in.n;
    for (std::size_t p = 0; p < width * in.n; ++p) right[p] = masked_bits(from[p], bits.right);
    if (bits.low_left)
      for (std::size_t p = 0; p < width * in.n; ++p) right[width * in.n + p] = masked_bits(from[p], kMultiplierA.high);
    gemm(static_cast<std::int64_t>(in.m), static_cast<std::int64_t>(in.n), static_cast<std::int64_t>(inner), Matrix<float>{left.data()},
         Matrix<float>{right.data()}, product.data(), threads);
    if (std::any_of(product.begin(), product.end(), [](float v) { return !std::isfinite(v); })) redo_special(in, k0, width, bits, product);
    for (std::size_t i = 0; i < product.size(); ++i) c[i] += product[i];
    round_in_dest(rounding, {c, in.m * in.n});
  }
}

// A dense matmul: products of all slices, sums of groups of slices, bias, activation.
class DenseMatmul {
 public:
  DenseMatmul(const OpDef& def, const Node& node, std::span<const Tensor> arriving, unsigned threads)
      : attrs_(def, node.attrs),
        node_(node),
        in_(arriving),
        threads_(threads),
        rounding_(dest_rounding(*node.precision.accumulate, *node.outputs[0].format)),
        mid_(node.precision.intermediate.value_or(*node.precision.accumulate)) {}

  Result<Tensor> run() {
    const Shape &a = in_[0].shape(), &b = in_[1].shape();
    const std::int64_t group = attrs_.boolean("accumulate") ? std::max<std::int64_t>(attrs_.integer("z"), 1) : 1;
    const bool bias = attrs_.boolean("bias") && in_.size() > 2;
    Shape shape{std::max(a[0], b[0]), a[1] / group, a[2], b[3]};
    BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, shape));
    std::span<float> sums = out.as<float>();
    std::fill(sums.begin(), sums.end(), 0.0f);
    Matrices part{nullptr, nullptr, static_cast<std::size_t>(a[2]), static_cast<std::size_t>(a[3]), static_cast<std::size_t>(b[3])};
    Tensor fa = in_[0].cast(DType::f32), fb = in_[1].cast(DType::f32);
    const ProductBits bits = product_bits(node_.precision.fidelity.value_or(MathFidelity::hifi4));
    for (std::int64_t w = 0; w < shape[0]; ++w)
      for (std::int64_t z = 0; z < a[1]; ++z) {
        part.a = fa.as<float>().data() + static_cast<std::size_t>((a[0] == 1 ? 0 : w) * a[1] + z) * part.m * part.k;
        part.b = fb.as<float>().data() + static_cast<std::size_t>((b[0] == 1 ? 0 : w) * b[1] + z) * part.k * part.n;
        std::span<float> c = sums.subspan(static_cast<std::size_t>(w * shape[1] + z / group) * part.m * part.n, part.m * part.n);
        add_product(part, bits, rounding_, c.data(), threads_);
        if (!as_wide_as_register() && (bias || (z + 1) % group != 0)) pack_from_dest(rounding_, mid_, c, part.n);
      }
    if (bias) add_bias(sums, shape);
    Tensor result = std::move(out).take();
    if (attrs_.text("sfpu_op") != "gelu") return result;
    auto activated = evaluate(*standard_ops().find(Level::device, "gelu"), std::span(&result, 1), {}, threads_);
    if (!activated) return std::move(activated).failure();
    BUDA_ASSIGN(Buffer rounded, copy_of((*activated)[0]));
    round_in_dest(rounding_, rounded.as<float>());
    return std::move(rounded).take();
  }

 private:
  bool as_wide_as_register() const {
    return (rounding_ == DestRounding::none && mid_ == DataFormat::float32) ||
           (rounding_ == DestRounding::bf16 && mid_ == DataFormat::float16_b) ||
           (rounding_ == DestRounding::fp16 && mid_ == DataFormat::float16);
  }

  // Row 0 of each tile of the bias to all rows of the tile.
  void add_bias(std::span<float> sums, const Shape& shape) {
    Tensor bias = in_[2].cast(DType::f32);
    const auto cols = static_cast<std::size_t>(shape[3]), side = static_cast<std::size_t>(kTileSide);
    for (std::size_t row = 0; row * cols < sums.size(); ++row) {
      const float* from = bias.as<float>().data() + row / side * side * cols % bias.size();
      for (std::size_t c = 0; c < cols; ++c) sums[row * cols + c] += from[c];
    }
    round_in_dest(rounding_, sums);
  }

  Attrs attrs_;
  const Node& node_;
  std::span<const Tensor> in_;
  unsigned threads_;
  DestRounding rounding_;
  DataFormat mid_;
};

// Of floats. Integers, whose products are exact, end in requant or dequant.
bool is_dense_matmul(const Node& n, std::span<const Tensor> in) {
  return n.op() == "matmul" && in.size() >= 2 && !is_sparse_product(n) && !n.attrs.contains("requant") && !n.attrs.contains("dequant");
}

// Operand A of the multiplier is input 0 here. Exact in fp32: A has at most 10 significant bits, B 11.
Result<Tensor> multiplied(const Node& n, std::span<const Tensor> in) {
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, (in[0].size() >= in[1].size() ? in[0] : in[1]).shape()));
  Tensor first = in[0].cast(DType::f32), second = in[1].cast(DType::f32);
  std::span<const float> a = first.as<float>(), b = second.as<float>();
  std::span<float> products = out.as<float>();
  const ProductBits bits = product_bits(n.precision.fidelity.value_or(MathFidelity::hifi4));
  // An operand without batches (w = 1) counts for each.
  for (std::size_t i = 0; i < products.size(); ++i) {
    float x = a[i % a.size()], y = b[i % b.size()], high = masked_bits(y, bits.left);
    products[i] = masked_bits(x, bits.right) * high;
    if (bits.low_left) products[i] += masked_bits(x, kMultiplierA.high) * (masked_bits(y, kMultiplierB.full) - high);
  }
  return std::move(out).take();
}

// ---- all others

// What an op's source registers, or the destination register it copies into, leave of an operand.
Result<Tensor> as_seen(const OpDef& def, const Node& n, const Tensor& value, DataFormat format, DestRounding rounding) {
  bool unary = def.least_inputs == 1 && def.most_inputs == 1 && n.op() != "reduce";
  if (!is_float(value.dtype()) || (unary ? rounding == DestRounding::none : format != DataFormat::float32)) return value;
  BUDA_ASSIGN(Buffer out, copy_of(value));
  if (unary) {
    round_in_dest(rounding, out.as<float>());
  } else if (const DeviceOp* op = find_device_op(n.op()); op == nullptr || uses_register(*op)) {
    for (float& v : out.as<float>()) v = masked_bits(v, kSourceRegisterBits);
  }
  return std::move(out).take();
}

Result<std::vector<Tensor>> rounded_around(const OpDef& def, const Node& n, std::span<const Tensor> arriving,
                                           std::span<const DataFormat> formats, DestRounding rounding, unsigned threads) {
  std::vector<Tensor> seen;
  for (std::size_t i = 0; i < arriving.size(); ++i) {
    BUDA_ASSIGN(Tensor t, as_seen(def, n, arriving[i], i < formats.size() ? formats[i] : DataFormat::float32, rounding));
    seen.push_back(std::move(t));
  }
  return evaluate(def, seen, without_relu(n.attrs), threads);
}

// A tensor on its way through a fused op, and the format in which it waits: Float32 for the register, which has rounded it already.
struct Stored {
  Tensor tensor;
  DataFormat format = DataFormat::float32;
};

// Each sub-op as an op of its own that packs into the intermediate format, or leaves its result in the register.
Result<std::vector<Tensor>> fused_in_formats(const Node& n, std::span<const Tensor> arriving, std::span<const DataFormat> formats,
                                             unsigned threads) {
  BUDA_ASSIGN(graph::SharedBody body, fused_body(n.attrs, arriving.size()));
  std::vector<Stored> inputs;
  for (std::size_t i = 0; i < arriving.size(); ++i) inputs.push_back({arriving[i], formats[i]});
  graph::Graph scratch("fused", Level::device);
  auto do_sub_op = [&](const FusedSubOp& s, std::span<const Stored> in) -> Result<Stored> {
    using Kind = FusedOperand::Kind;
    Node& one = scratch.node(scratch.add(scratch.fresh_name(s.name), s.type));
    one.attrs = s.attrs;
    one.precision = n.precision;
    DataFormat waits = s.output.kind == Kind::output     ? *n.outputs[0].format
                       : s.output.kind == Kind::intermed ? n.precision.intermediate.value_or(*n.precision.accumulate)
                                                         : DataFormat::float32;
    one.outputs = {{DType::f32, {}, waits}};
    std::vector<Tensor> tensors;
    std::vector<DataFormat> stored;
    for (const Stored& v : in) {
      tensors.push_back(v.tensor);
      stored.push_back(v.format);
    }
    BUDA_ASSIGN(auto results, evaluate_in_formats(*standard_ops().find(Level::device, s.type), one, tensors, stored, threads));
    return Stored{std::move(results[0]), waits};
  };
  BUDA_ASSIGN(Stored out, walk_fused<Stored>(*body, inputs, do_sub_op));
  return std::vector<Tensor>{std::move(out.tensor)};
}

}  // namespace

Result<void> check_formats(const Node& n) {
  auto missing = [&](std::string_view what) {
    Diagnostic d = input_error("OP060", n.loc, cat("node '", n.name(), "' has no ", what, ", so what a device makes of it is not known"));
    d.node = n.name();
    d.hint = "the optimizer's pass assign-formats chooses formats for a graph at device level";
    return d;
  };
  for (const ValueType& type : n.outputs)
    if (!type.format) return missing("data format");
  if (n.is_op() && n.op() != graph::kToDevice && !n.precision.accumulate) return missing("accumulate format");
  return success();
}

namespace {

Result<Tensor> in_buffer(const Tensor& value, DataFormat format, bool rounds_before) {
  if (!is_float(value.dtype()) || !is_float(format)) return value;
  BUDA_ASSIGN(Buffer out, copy_of(value));
  std::size_t cols = row_length(value.shape());
  if (rounds_before) round_before_packing(out.as<float>(), format);
  quantize_to_format(out.as<float>(), cols == 0 ? 0 : value.size() / cols, cols, format);
  return std::move(out).take();
}

}  // namespace

Result<Tensor> as_stored(const Tensor& value, DataFormat format) { return in_buffer(value, format, false); }
Result<Tensor> as_pushed(const Tensor& value, DataFormat format) { return in_buffer(value, format, true); }

Result<std::vector<Tensor>> evaluate_in_formats(const OpDef& def, const Node& n, std::span<const Tensor> arriving,
                                                std::span<const DataFormat> formats, unsigned threads) {
  if (n.op() == kFusedOp) return fused_in_formats(n, arriving, formats, threads);
  const DestRounding rounding = dest_rounding(*n.precision.accumulate, *n.outputs[0].format);
  std::vector<Tensor> results;
  bool floats = std::all_of(arriving.begin(), arriving.end(), [](const Tensor& t) { return is_float(t.dtype()); });
  if (floats && is_dense_matmul(n, arriving)) {
    BUDA_ASSIGN(Tensor product, DenseMatmul(def, n, arriving, threads).run());
    results.push_back(std::move(product));
  } else if (floats && n.op() == "multiply") {
    BUDA_ASSIGN(Tensor product, multiplied(n, arriving));
    results.push_back(std::move(product));
  } else {
    BUDA_ASSIGN(results, rounded_around(def, n, arriving, formats, rounding, threads));
  }
  const Relu relu = relu_of(def, n);
  for (std::size_t port = 0; port < results.size(); ++port) {
    if (!is_float(results[port].dtype())) continue;
    BUDA_ASSIGN(Buffer out, copy_of(results[port]));
    round_in_dest(rounding, out.as<float>());
    apply(relu, out.as<float>());
    DataFormat format = port < n.outputs.size() ? *n.outputs[port].format : DataFormat::float32;
    if (is_float(format)) pack_from_dest(rounding, format, out.as<float>(), row_length(results[port].shape()));
    results[port] = std::move(out).take();
  }
  return results;
}

}  // namespace buda::ops
