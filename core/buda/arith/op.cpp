// SPDX-License-Identifier: Apache-2.0
// What all ops have in common: the table of kinds, checks, and the way out of the destination register.
#include <buda/arith/op.hpp>

#include <buda/arith/bits.hpp>
#include <buda/arith/parts.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/formats/quantize.hpp>

#include <algorithm>
#include <cmath>

namespace buda::arith {

using netlist::OpClass;
using netlist::OpType;
using netlist::Relu;
using netlist::ReluMode;
using netlist::TileShape;

namespace {

// Written so that NaN stays NaN and is seen; a chip's packer makes it infinite before (docs/tools/runner.md).
void relu_floats(const Relu& relu, std::span<float> numbers) {
  const auto threshold = static_cast<float>(relu.threshold);
  if (relu.mode == ReluMode::min)
    for (float& v : numbers) v = v <= threshold ? 0.0f : v;
  if (relu.mode == ReluMode::max)
    for (float& v : numbers) v = v > threshold ? threshold : (v <= 0.0f ? 0.0f : v);
}

void relu_ints(const Relu& relu, std::span<std::int32_t> numbers) {
  const auto threshold = static_cast<std::int32_t>(std::clamp(relu.threshold, 0.0, 2147483647.0));
  if (relu.mode == ReluMode::min)
    for (auto& v : numbers) v = v > threshold ? v : 0;
  if (relu.mode == ReluMode::max)
    for (auto& v : numbers) v = std::clamp(v, 0, threshold);
}

std::vector<std::int32_t> to_ints(const std::vector<float>& numbers) {
  std::vector<std::int32_t> out(numbers.size());
  std::transform(numbers.begin(), numbers.end(), out.begin(), [](float v) {
    // Packed into an integer format before: whole, but perhaps as large as an Int32 or a RawUInt32 gets.
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(v)));
  });
  return out;
}

std::size_t row_length(const netlist::Op& op) {
  return static_cast<std::size_t>(op.shape().ct) * static_cast<std::size_t>(op.tile_dim.cols);
}

}  // namespace

const OpKind& op_kind(OpType type) {
  switch (netlist::op_class(type)) {
    case OpClass::binary:
      return kBinary;
    case OpClass::unary:
    case OpClass::sfpu:
      return kUnary;
    case OpClass::matmul:
      return kMatmul;
    case OpClass::reduce:
      return kReduce;
    case OpClass::splice:
      return kSplice;
    case OpClass::quant:
      return kQuant;
    case OpClass::depthwise:
      return kDepthwise;
    case OpClass::fused:
      return kFused;
    case OpClass::embedding:
      return kEmbedding;
    case OpClass::tilizer:
      return kTilizer;
    case OpClass::topk:
      return kTopk;
    case OpClass::ethernet:
    case OpClass::buffer:
    case OpClass::drainer:
      break;
  }
  return kRelay;
}

std::optional<Unable> need_shape(const OpShapes& shapes, std::size_t i, const TileShape& shape, TileDim dim) {
  if (shapes.inputs[i] == shape && shapes.dims[i] == dim) return std::nullopt;
  auto text = [](const TileShape& s, TileDim d) {
    return cat(s.text(), d == TileDim{} ? std::string() : cat(" in tiles of ", d.rows, "x", d.cols));
  };
  return Unable{cat("input ", i, " ('", shapes.op.inputs[i].name, "') has the shape ", text(shapes.inputs[i], shapes.dims[i]),
                    " after its manipulations; ", netlist::op_type_name(shapes.op.type), " needs ", text(shape, dim)),
                "change the input's TMs, or the blocks of the op", false};
}

std::optional<Unable> need_inputs(const OpShapes& shapes, std::size_t count) {
  if (shapes.inputs.size() == count) return std::nullopt;
  return Unable{cat("it has ", shapes.inputs.size(), " inputs, but takes ", count), "", false};
}

std::optional<Unable> check_elementwise(const OpShapes& shapes, std::size_t inputs) {
  if (auto unable = need_inputs(shapes, inputs)) return unable;
  for (std::size_t i = 0; i < inputs; ++i)
    if (auto unable = need_shape(shapes, i, shapes.op.shape(), shapes.op.tile_dim)) return unable;
  return std::nullopt;
}

std::optional<Unable> check_op(const OpShapes& shapes) {
  const netlist::Op& op = shapes.op;
  if (op.shape().volume() > (std::int64_t{1} << 26))
    return Unable{cat("its output has ", op.shape().volume(), " tiles, more than this target holds in one tensor"), "", false};
  if (op.out_format == DataFormat::invalid) return Unable{"it has no out_df", "", false};
  if (auto unable = op_kind(op.type).check(shapes)) return unable;
  return std::nullopt;
}

Value finish(const OpCall& call, std::vector<float> numbers) {
  const netlist::Op& op = call.op;
  const DestRounding dest = dest_rounding(call.mode, op.acc_format, op.out_format);
  const std::size_t cols = row_length(op);
  in_parts(call.threads, numbers.size(), cols, [&](std::size_t begin, std::size_t end) {
    std::span<float> part(numbers.data() + begin, end - begin);
    if (call.previous && !call.previous->integer()) {
      for (std::size_t i = 0; i < part.size(); ++i) part[i] += call.previous->floats[begin + i];
      round_in_dest(dest, part);
    }
    if (op.attributes.relu.enabled) relu_floats(op.attributes.relu, part);
    pack(call.mode, dest, op.out_format, part, cols);
  });
  Value out;
  out.tiles = op.shape();
  out.dim = op.tile_dim;
  out.format = op.out_format;
  if (out.integer()) {
    out.ints = to_ints(numbers);
  } else {
    out.floats = std::move(numbers);
  }
  return out;
}

Value finish_copied(const OpCall& call, DataFormat in, std::vector<float> numbers) {
  return call.mode == Mode::bits ? bits::finish(call, bits::copied(call, in, numbers)) : finish(call, std::move(numbers));
}

Value finish(const OpCall& call, std::vector<std::int32_t> numbers) {
  const netlist::Op& op = call.op;
  if (!is_integer(op.out_format)) return finish(call, std::vector<float>(numbers.begin(), numbers.end()));
  if (call.previous && call.previous->integer())
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(numbers[i]) + static_cast<std::uint32_t>(call.previous->ints[i]));
  if (op.attributes.relu.enabled) relu_ints(op.attributes.relu, numbers);
  const std::size_t cols = row_length(op);
  quantize_to_format(std::span<std::int32_t>(numbers), numbers.size() / std::max<std::size_t>(cols, 1), cols, op.out_format);
  Value out;
  out.tiles = op.shape();
  out.dim = op.tile_dim;
  out.format = op.out_format;
  out.ints = std::move(numbers);
  return out;
}

}  // namespace buda::arith
