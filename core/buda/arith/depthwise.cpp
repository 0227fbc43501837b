// SPDX-License-Identifier: Apache-2.0
// depthwise: every column of tiles has its own inner dimension.
#include <buda/arith/bits.hpp>
#include <buda/arith/gemm.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/special_values.hpp>

namespace buda::arith {
namespace {

using netlist::Op;
using netlist::TileShape;

std::optional<Unable> check_depthwise(const OpShapes& shapes) {
  const Op& op = shapes.op;
  if (auto unable = need_inputs(shapes, op.attributes.bias ? 3 : 2)) return unable;
  const TileShape out = op.shape();
  const std::int64_t inner = op.inner_tiles();
  if (inner < 1) return Unable{"it needs the attributes m_k and u_kt, which give its inner dimension", "", false};
  if (is_integer(op.inputs[0].format) || is_integer(op.inputs[1].format))
    return Unable{"integer operands are not supported by this target yet", "", true};
  const std::int32_t k = shapes.dims[0].cols;
  if (auto unable = need_shape(shapes, 0, {out.t, out.rt, out.ct * inner}, {op.tile_dim.rows, k})) return unable;
  if (auto unable = need_shape(shapes, 1, {out.t, inner, out.ct}, {k, op.tile_dim.cols})) return unable;
  if (op.attributes.bias) return need_shape(shapes, 2, out, op.tile_dim);
  return std::nullopt;
}

// Output tile (r, c) = sum over b of in0 tile (r, c + ct * b) times in1 tile (b, c).
Outcome run_depthwise(const OpCall& call) {
  if (call.mode == Mode::bits) return bits::depthwise(call);
  const Op& op = call.op;
  const Value& a = *call.inputs[0];
  const Value& b = *call.inputs[1];
  const auto ct = static_cast<std::size_t>(op.shape().ct), inner = static_cast<std::size_t>(op.inner_tiles());
  const auto k = static_cast<std::size_t>(a.dim.cols), w = static_cast<std::size_t>(op.tile_dim.cols);
  const std::size_t cols = ct * w;
  std::vector<float> out(a.depth() * a.rows() * cols);
  const DestRounding dest = dest_rounding(call.mode, op.acc_format, op.out_format);
  for (std::size_t t = 0; t < a.depth(); ++t)
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t c = 0; c < ct; ++c) {
        Gemm g{a.rows(), w, k, nullptr, a.cols(), nullptr, b.cols(), nullptr, cols, k, dest};
        g.a = a.floats.data() + t * a.matrix() + (c + ct * i) * k;
        g.b = b.floats.data() + t * b.matrix() + i * k * b.cols() + c * w;
        g.c = out.data() + t * a.rows() * cols + c * w;
        call.mode == Mode::fp32 ? gemm_past_zeros(g, call.threads) : gemm(g, call.threads);
      }
  if (op.attributes.bias) add_bias(call, *call.inputs[2], out);
  return finish(call, std::move(out));
}

double flops_depthwise(const Op& op) { return 2.0 * elements(op) * static_cast<double>(op.inner_tiles()) * 32.0; }

}  // namespace

const OpKind kDepthwise = {&check_depthwise, &as_on_chip<run_depthwise, Reach::anything>, &flops_depthwise};

}  // namespace buda::arith
