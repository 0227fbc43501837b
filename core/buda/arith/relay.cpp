// SPDX-License-Identifier: Apache-2.0
// Ops that hand on what they get: tilizer, ethernet_datacopy, buffer, drainer.
//
// A tilizer's input is row-major in the device's memory and its output is tiled; as matrices both are the same. A buffer may have a second
// input, of which it makes nothing. On a chip both, and drainers, are copies through the destination register; ethernet cores move bytes.
#include <buda/arith/op.hpp>
#include <buda/arith/special_values.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/op_traits.hpp>

namespace buda::arith {
namespace {

using netlist::Op;
using netlist::OpClass;

std::optional<Unable> check_tilizer(const OpShapes& shapes) {
  if (auto unable = need_inputs(shapes, 1)) return unable;
  return need_shape(shapes, 0, shapes.op.shape(), shapes.op.tile_dim);
}

std::optional<Unable> check_relay(const OpShapes& shapes) {
  const bool buffer = netlist::op_class(shapes.op.type) == OpClass::buffer;
  if (!buffer || shapes.inputs.size() != 2)
    if (auto unable = need_inputs(shapes, 1)) return unable;
  return need_shape(shapes, 0, shapes.op.shape(), shapes.op.tile_dim);
}

Value run_copy(const OpCall& call) {
  const Value& in = *call.inputs[0];
  if (in.integer()) return finish(call, in.ints);
  std::vector<float> numbers = in.floats;
  if (call.mode == Mode::bits) return finish_copied(call, in.format, std::move(numbers));
  round_in_dest(dest_rounding(call.mode, call.op.acc_format, call.op.out_format), numbers);
  return finish(call, std::move(numbers));
}

// Of what only moves nothing is rounded.
Value run_relay(const OpCall& call) {
  const Value& in = *call.inputs[0];
  const bool copies = call.mode == Mode::bits && !ops::runs_on_ethernet(call.op.type);
  if (copies || in.format != call.op.out_format || call.previous) return run_copy(call);
  Value out = in;
  return out;
}

double no_flops(const Op&) { return 0; }

}  // namespace

const OpKind kTilizer = {&check_tilizer, &as_on_chip<always<run_copy>, Reach::place>, &no_flops};
const OpKind kRelay = {&check_relay, &as_on_chip<always<run_relay>, Reach::place>, &no_flops};

}  // namespace buda::arith
