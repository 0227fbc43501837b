// SPDX-License-Identifier: Apache-2.0
// Fused ops: each core's schedules on its own parts of the inputs.
#include "evaluate.hpp"

#include <map>

namespace buda::judge {

using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using netlist::SubOp;
using netlist::SubOperand;

namespace {

double same(double v) { return v; }

Array part(const Array& whole, std::size_t t, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols) {
  return gathered(whole, 1, rows, cols,
                  [&](std::size_t, std::size_t r, std::size_t c) { return static_cast<std::ptrdiff_t>(whole.at(t, row + r, col + c)); });
}

struct Core {
  const Task& task;
  std::size_t t, r, c;
  std::map<std::int32_t, Array> buffers;
  std::map<std::int32_t, DataFormat> formats;
  Array dest;

  Array input(const SubOp& sub, std::size_t i) {
    const Array& whole = task.inputs[static_cast<std::size_t>(sub.inputs[i].operand.index)];
    const auto gr = static_cast<std::size_t>(task.op.grid.rows), gc = static_cast<std::size_t>(task.op.grid.cols);
    const bool all_cols = sub.type == OpType::matmul && i == 0, all_rows = sub.type == OpType::matmul && i == 1;
    const std::size_t rows = all_rows ? whole.rows : whole.rows / gr, cols = all_cols ? whole.cols : whole.cols / gc;
    return part(whole, t, all_rows ? 0 : r * rows, rows, all_cols ? 0 : c * cols, cols);
  }

  Array operand(const SubOp& sub, std::size_t i) {
    const auto& o = sub.inputs[i].operand;
    Array a = o.kind == SubOperand::Kind::input ? input(sub, i) : o.kind == SubOperand::Kind::dest ? dest : buffers.at(o.index);
    return manipulated(std::move(a), sub.inputs[i].tms, same);
  }

  Array step(const SubOp& sub) {
    const Registers registers{task.precision,     task.op.acc_format, task.op.intermed_format,
                              task.op.out_format, task.op.fidelity,   task.most_work};
    std::vector<Array> in;
    for (std::size_t i = 0; i < sub.inputs.size(); ++i) in.push_back(operand(sub, i));
    Array out;
    switch (netlist::op_class(sub.type)) {
      case OpClass::binary:
        out = binary(sub.type, in[0], in[1], registers);
        break;
      case OpClass::quant:
        // From the destination register the numbers are the second operand.
        out = sub.inputs[1].operand.kind == SubOperand::Kind::dest ? quantized(sub.type, sub.attributes.zero_point, in[1], in[0])
                                                                   : quantized(sub.type, sub.attributes.zero_point, in[0], in[1]);
        break;
      case OpClass::matmul:
        out = product(in[0], in[1], 1, static_cast<std::size_t>(std::max(sub.attributes.m_k, 1)), false, registers);
        break;
      case OpClass::reduce: {
        const auto groups = sub.attributes.reduce_dim == netlist::Dim::r ? sub.block.mblock_m * sub.block.ublock_rt
                                                                         : sub.block.mblock_n * sub.block.ublock_ct;
        out = reduced(sub.attributes.reduce_dim, static_cast<std::size_t>(groups), in[0], registers);
        break;
      }
      default:
        out = unary(sub.type, sub.attributes, in[0], registers);
        break;
    }
    // Integers that are exact stay so.
    bool exact = task.op.acc_format == DataFormat::int32 && netlist::op_class(sub.type) != OpClass::quant;
    for (const Array& a : in)
      for (double e : a.error) exact = exact && e == 0;
    if (exact) out.error.assign(out.size(), 0);
    relu(sub.attributes.relu, out);
    return out;
  }

  Array run() {
    Array result;
    for (const auto& schedule : task.fused->schedules)
      for (const SubOp& sub : schedule) {
        Array out = step(sub);
        const bool scaled = sub.type == OpType::quantization || sub.type == OpType::requantization;
        switch (sub.output.kind) {
          case SubOperand::Kind::output:
            result = std::move(out);
            break;
          case SubOperand::Kind::dest:
            pack(task.precision,
                 scaled                                      ? DataFormat::int8
                 : task.op.acc_format == DataFormat::invalid ? task.op.out_format
                                                             : task.op.acc_format,
                 out);
            dest = std::move(out);
            break;
          default:
            pack(task.precision, scaled ? DataFormat::int8 : task.op.intermed_format, out);
            buffers[sub.output.index] = std::move(out);
            break;
        }
      }
    return result;
  }
};

}  // namespace

Array fused(const Task& task) {
  const Op& op = task.op;
  const auto shape = op.shape();
  Array out(static_cast<std::size_t>(shape.t), static_cast<std::size_t>(shape.rt * op.tile_dim.rows),
            static_cast<std::size_t>(shape.ct * op.tile_dim.cols), op.tile_dim);
  out.error.assign(out.size(), 0);
  for (std::size_t t = 0; t < out.t; ++t)
    for (std::size_t r = 0; r < static_cast<std::size_t>(op.grid.rows); ++r)
      for (std::size_t c = 0; c < static_cast<std::size_t>(op.grid.cols); ++c) {
        const Array made = Core{task, t, r, c, {}, {}, {}}.run();
        for (std::size_t i = 0; i < made.rows; ++i)
          for (std::size_t j = 0; j < made.cols; ++j) {
            out.value[out.at(t, r * made.rows + i, c * made.cols + j)] = made.value[made.at(0, i, j)];
            out.error[out.at(t, r * made.rows + i, c * made.cols + j)] = made.error_at(made.at(0, i, j));
          }
      }
  return out;
}

}  // namespace buda::judge
