// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `quantization`: quantize and dequantize in floating-point numbers.
//
//   quantize     round(x / scale) + zero point, clipped to the range of the type
//   dequantize   (x - zero point) scale
//
// A quotient on the border between two integers rounds as a division in fp32 would (exact_quotient). In formats of fewer digits it may
// become the other one.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/rule.hpp>

namespace {

using namespace buda::plugin;
using buda::DType;
using buda::Shape;

// One number, or one for each place along the axis: as they broadcast to x.
Term along_axis(Rewrite& r, std::size_t input) {
  Term numbers = r.in(input);
  Shape shape = r.shape(numbers), x = r.type(0).shape;
  if (shape.rank() != 1 || x.rank() == 1) return numbers;
  std::vector<std::int64_t> dims(x.rank(), 1);
  if (shape[0] != 1) dims[static_cast<std::size_t>(r.axis("dim"))] = shape[0];
  return r.reshape(numbers, Shape(dims));
}

Term quantize(Rewrite& r) {
  Term x = r.in(0);
  Term scale = along_axis(r, 1);
  Term nearest = round(exact_quotient(x, scale));
  Term moved = nearest + along_axis(r, 2);
  bool with_sign = r.result().dtype == DType::i8;
  return with_sign ? clip(moved, -128, 127) : clip(moved, 0, 255);
}

Term dequantize(Rewrite& r) {
  Term x = r.in(0);
  Term moved = x - along_axis(r, 2);
  return moved * along_axis(r, 1);
}

bool gives_bytes(const buda::graph::Graph&, const buda::graph::Node& n) {
  return n.outputs[0].dtype == DType::i8 || n.outputs[0].dtype == DType::u8;
}

}  // namespace

BUDA_PLUGIN(.name = "quantization", .version = "1.0", .description = "quantize and dequantize in floating-point numbers",
            .license = "Apache-2.0") {
  registrar.add_decomposition(rule({.name = "quantize",
                                    .summary = "scale, round, move and clip",
                                    .consumes = {"quantize"},
                                    .produces = {"reciprocal", "multiply", "subtract", "round", "add", "clip", "reshape"},
                                    .build = quantize,
                                    .takes = Takes::anything,
                                    .matches = gives_bytes}));
  registrar.add_decomposition(rule({.name = "dequantize",
                                    .summary = "move and scale",
                                    .consumes = {"dequantize"},
                                    .produces = {"subtract", "multiply", "reshape"},
                                    .build = dequantize,
                                    .takes = Takes::anything}));
}
