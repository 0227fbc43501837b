// SPDX-License-Identifier: Apache-2.0
// fused_op: the schedules of sub-ops, executed core by core and matrix by matrix.
//
// A core's intermediates are its own: a reduction ends at the core's edge, and a broadcast starts there. So each core's part of every
// input is cut out, the sub-ops run on these parts as if they were ops on one core with t = 1, and the output is put in its place. Within
// a part the sub-ops run one after the other on all ublocks, which gives the same numbers as going through the schedule ublock by ublock:
// no sub-op of a schedule but the last one (matmul, reduce) looks at more than one ublock. Results have the format of the buffer that they
// go to: intermed_df, acc_df in the destination register, out_df.
#include <buda/arith/fused.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <map>

namespace buda::arith {
namespace {

using netlist::Dim;
using netlist::FusedOp;
using netlist::Op;
using netlist::OpType;
using netlist::SubOp;
using netlist::SubOperand;
using netlist::TileShape;
using netlist::Tm;
using netlist::TmKind;

using Kind = SubOperand::Kind;

// What is known of a buffer between sub-ops.
struct Buffer {
  bool full = false;
  TileShape shape;
  DataFormat format = DataFormat::invalid;
};

Cut cut_of(const SubOp& sub, std::size_t operand) {
  if (!ops::multiplies_matrices(sub.type)) return Cut::block;
  return operand == 0 ? Cut::rows : operand == 1 ? Cut::columns : Cut::block;
}

TileShape part_shape(const Op& base, const TileShape& whole, Cut cut) {
  return {1, cut == Cut::columns ? whole.rt : whole.rt / base.grid.rows, cut == Cut::rows ? whole.ct : whole.ct / base.grid.cols};
}

class Builder {
 public:
  Builder(const Op& base, const FusedOp& fused, std::vector<TileShape> inputs, std::vector<TileDim> dims)
      : base_(base),
        inputs_(std::move(inputs)),
        dims_(std::move(dims)),
        fused_(fused),
        buffers_(static_cast<std::size_t>(std::max(fused.intermediates, 0))) {}

  std::variant<std::vector<FusedStep>, Unable> run() {
    for (const auto& schedule : fused_.schedules)
      for (const SubOp& sub : schedule) {
        if (auto unable = add(sub)) return *unable;
      }
    if (!writes_output_) return Unable{cat("fused op '", fused_.id, "' writes no output"), "", false};
    return std::move(steps_);
  }

 private:
  std::optional<Unable> add(const SubOp& sub) {
    FusedStep step;
    step.op = op_of(base_, sub);
    Op& op = step.op;
    step.output = sub.output;
    OpShapes shapes{op, {}, {}, nullptr};
    for (std::size_t i = 0; i < sub.inputs.size(); ++i)
      if (auto unable = add_operand(sub, i, step, shapes)) return unable;
    // Scales come first where the numbers to be scaled are in the destination register.
    if (ops::is_quantization(sub.type) && sub.inputs.size() == 2 && sub.inputs[1].operand.kind == Kind::dest) {
      std::swap(step.operands[0], step.operands[1]);
      std::swap(step.op.inputs[0], step.op.inputs[1]);
      std::swap(shapes.inputs[0], shapes.inputs[1]);
      std::swap(shapes.dims[0], shapes.dims[1]);
    }
    if (auto unable = check_op(shapes)) {
      unable->reason = cat("sub-op '", sub.name, "' of fused op '", fused_.id, "': ", unable->reason);
      return unable;
    }
    return write(sub, std::move(step));
  }

  std::optional<Unable> write(const SubOp& sub, FusedStep step) {
    dest_ = {};
    const Buffer made{true, step.op.shape(), step.op.out_format};
    switch (sub.output.kind) {
      case Kind::dest:
        dest_ = made;
        break;
      case Kind::intermed:
        if (!is_buffer(sub.output)) return wrong(sub, sub.output, "is not one of the fused op's intermediates");
        buffers_[static_cast<std::size_t>(sub.output.index)] = made;
        break;
      case Kind::output:
        if (step.op.shape() != part_shape(base_, base_.shape(), Cut::block))
          return wrong(sub, sub.output, "has another shape than the op's");
        writes_output_ = true;
        break;
      case Kind::input:
        return wrong(sub, sub.output, "cannot be written");
    }
    steps_.push_back(std::move(step));
    return std::nullopt;
  }

  std::optional<Unable> add_operand(const SubOp& sub, std::size_t i, FusedStep& step, OpShapes& shapes) {
    const auto& given = sub.inputs[i];
    FusedOperand operand{given.operand, Cut::block, {}, Dim::none};
    TileShape shape;
    netlist::OpInput input;
    input.name = netlist::text(given.operand);
    TileDim dim = base_.tile_dim;
    switch (given.operand.kind) {
      case Kind::input: {
        const auto index = static_cast<std::size_t>(given.operand.index);
        if (given.operand.index < 0 || index >= inputs_.size()) return wrong(sub, given.operand, "is not one of the op's inputs");
        operand.cut = cut_of(sub, i);
        shape = part_shape(base_, inputs_[index], operand.cut);
        input.format = base_.inputs[index].format;
        dim = dims_[index];
        break;
      }
      case Kind::intermed:
      case Kind::dest: {
        if (given.operand.kind == Kind::intermed && !is_buffer(given.operand))
          return wrong(sub, given.operand, "is not one of the fused op's intermediates");
        const Buffer& buffer = given.operand.kind == Kind::dest ? dest_ : buffers_[static_cast<std::size_t>(given.operand.index)];
        if (!buffer.full) return wrong(sub, given.operand, "is read, but nothing was written to it");
        shape = buffer.shape;
        input.format = buffer.format;
        break;
      }
      case Kind::output:
        return wrong(sub, given.operand, "cannot be read");
    }
    netlist::EdgeMaps maps;
    for (const Tm& tm : given.tms) {
      if (tm.kind == TmKind::tile_broadcast) {
        operand.within_tiles = tm.dim;
      } else {
        maps.tms.push_back(tm);
      }
    }
    auto gather = Gather::make(shape, maps);
    if (auto* error = std::get_if<netlist::MapError>(&gather))
      return wrong(sub, given.operand, cat("has manipulations that do not apply: ", error->reason));
    operand.gather = std::move(std::get<Gather>(gather));
    shapes.inputs.push_back(operand.gather.shape());
    shapes.dims.push_back(dim);
    step.op.inputs.push_back(std::move(input));
    step.operands.push_back(std::move(operand));
    return std::nullopt;
  }

  bool is_buffer(const SubOperand& o) const { return o.index >= 0 && static_cast<std::size_t>(o.index) < buffers_.size(); }

  Unable wrong(const SubOp& sub, const SubOperand& operand, const std::string& what) const {
    return {cat("sub-op '", sub.name, "' of fused op '", fused_.id, "': ", netlist::text(operand), " ", what), "", false};
  }

  const Op& base_;
  std::vector<TileShape> inputs_;
  std::vector<TileDim> dims_;
  const FusedOp& fused_;
  std::vector<Buffer> buffers_;
  Buffer dest_;
  bool writes_output_ = false;
  std::vector<FusedStep> steps_;
};

std::optional<Unable> check_fused(const OpShapes& shapes) {
  const Op& op = shapes.op;
  if (shapes.fused == nullptr) return Unable{cat("there is no fused op '", op.attributes.fused_op_id, "'"), "", false};
  if (auto unable = need_inputs(shapes, static_cast<std::size_t>(std::max(shapes.fused->inputs, 0)))) return unable;
  for (std::size_t i = 0; i < shapes.inputs.size(); ++i)
    if (shapes.inputs[i].t != op.block.t)
      return Unable{cat("input ", i, " ('", op.inputs[i].name, "') has t=", shapes.inputs[i].t, ", the output t=", op.block.t), "", false};
  auto steps = Builder(op, *shapes.fused, shapes.inputs, shapes.dims).run();
  if (auto* unable = std::get_if<Unable>(&steps)) return *unable;
  return std::nullopt;
}

template <class T>
void copy_block(const T* from, std::size_t from_cols, T* to, std::size_t to_cols, std::size_t rows, std::size_t cols) {
  for (std::size_t y = 0; y < rows; ++y) std::copy_n(from + y * from_cols, cols, to + y * to_cols);
}

ValuePtr part_of(const Op& base, const Value& whole, Cut cut, std::size_t t, std::size_t r, std::size_t c) {
  const TileShape shape = part_shape(base, whole.tiles, cut);
  auto part = std::make_shared<Value>(shape, whole.dim, whole.format);
  const std::size_t row = cut == Cut::columns ? 0 : r * part->rows(), col = cut == Cut::rows ? 0 : c * part->cols();
  auto copy = [&](const auto& from, auto& to) {
    copy_block(from.data() + t * whole.matrix() + row * whole.cols() + col, whole.cols(), to.data(), part->cols(), part->rows(),
               part->cols());
  };
  if (whole.integer()) {
    copy(whole.ints, part->ints);
  } else {
    copy(whole.floats, part->floats);
  }
  return part;
}

// Repeats row 0 (r) or column 0 (c) of each tile.
template <class T>
void broadcast_within_tiles(Value& v, Dim dim) {
  auto& numbers = v.data<T>();
  const std::size_t cols = v.cols(), h = static_cast<std::size_t>(v.dim.rows), w = static_cast<std::size_t>(v.dim.cols);
  for (std::size_t row = 0; row < numbers.size() / cols; ++row)
    for (std::size_t c = 0; c < cols; ++c)
      numbers[row * cols + c] = dim == Dim::r ? numbers[row / h * h * cols + c] : numbers[row * cols + c / w * w];
}

// One core's execution for one matrix.
class Core {
 public:
  Core(const OpCall& call, const std::vector<FusedStep>& steps, std::size_t t, std::size_t r, std::size_t c)
      : call_(call), steps_(steps), t_(t), r_(r), c_(c) {}

  std::variant<ValuePtr, std::string> run() {
    ValuePtr result;
    for (const FusedStep& step : steps_) {
      std::vector<ValuePtr> operands;
      for (const FusedOperand& operand : step.operands) operands.push_back(fetch(operand));
      auto outcome = op_kind(step.op.type).run({step.op, operands, call_.mode, 1, nullptr, nullptr});
      if (auto* error = std::get_if<std::string>(&outcome)) return *error;
      auto value = std::make_shared<const Value>(std::move(std::get<Value>(outcome)));
      switch (step.output.kind) {
        case Kind::output:
          result = std::move(value);
          break;
        case Kind::dest:
          dest_ = std::move(value);
          break;
        default:
          buffers_[step.output.index] = std::move(value);
          break;
      }
    }
    return result;
  }

 private:
  ValuePtr fetch(const FusedOperand& operand) {
    ValuePtr value = source(operand);
    value = operand.gather.apply(value, call_.mode, 1);
    if (operand.within_tiles == Dim::none) return value;
    auto spread = std::make_shared<Value>(*value);
    if (spread->integer()) {
      broadcast_within_tiles<std::int32_t>(*spread, operand.within_tiles);
    } else {
      broadcast_within_tiles<float>(*spread, operand.within_tiles);
    }
    return spread;
  }

  ValuePtr source(const FusedOperand& operand) {
    if (operand.what.kind == Kind::dest) return dest_;
    if (operand.what.kind == Kind::intermed) return buffers_[operand.what.index];
    ValuePtr& part = parts_[{operand.what.index, operand.cut}];
    if (!part) part = part_of(call_.op, *call_.inputs[static_cast<std::size_t>(operand.what.index)], operand.cut, t_, r_, c_);
    return part;
  }

  const OpCall& call_;
  const std::vector<FusedStep>& steps_;
  std::size_t t_, r_, c_;
  std::map<std::int32_t, ValuePtr> buffers_;
  std::map<std::pair<std::int32_t, Cut>, ValuePtr> parts_;
  ValuePtr dest_;
};

Outcome run_fused(const OpCall& call) {
  const Op& op = call.op;
  std::vector<TileShape> shapes;
  std::vector<TileDim> dims;
  for (const auto& input : call.inputs) {
    shapes.push_back(input->tiles);
    dims.push_back(input->dim);
  }
  auto built = Builder(op, *call.fused, std::move(shapes), std::move(dims)).run();
  const auto& steps = std::get<std::vector<FusedStep>>(built);
  Value out(op.shape(), op.tile_dim, op.out_format);
  const auto rows = static_cast<std::size_t>(op.grid.rows), cols = static_cast<std::size_t>(op.grid.cols);
  std::vector<std::string> errors(out.depth() * rows * cols);
  parallel_for(call.threads, errors.size(), [&](std::size_t task) {
    const std::size_t c = task % cols, r = task / cols % rows, t = task / cols / rows;
    auto made = Core(call, steps, t, r, c).run();
    if (auto* error = std::get_if<std::string>(&made)) {
      errors[task] = *error;
      return;
    }
    const Value& part = *std::get<ValuePtr>(made);
    const std::size_t at = t * out.matrix() + r * part.rows() * out.cols() + c * part.cols();
    if (out.integer()) {
      copy_block(part.ints.data(), part.cols(), out.ints.data() + at, out.cols(), part.rows(), part.cols());
    } else {
      copy_block(part.floats.data(), part.cols(), out.floats.data() + at, out.cols(), part.rows(), part.cols());
    }
  });
  for (const auto& error : errors)
    if (!error.empty()) return error;
  if (!call.previous) return out;
  return out.integer() ? finish(call, std::move(out.ints)) : finish_copied(call, out.format, std::move(out.floats));
}

// Its sub-ops' operations are counted as one for each number and schedule step; matmuls inside are rare.
double flops_fused(const Op& op) { return elements(op); }

}  // namespace

std::variant<std::vector<FusedStep>, Unable> fused_steps(const Op& base, const FusedOp& fused, std::vector<TileShape> inputs,
                                                         std::vector<TileDim> dims) {
  return Builder(base, fused, std::move(inputs), std::move(dims)).run();
}

Op op_of(const Op& base, const SubOp& sub) {
  Op op;
  op.name = cat(base.name, "/", sub.name);
  op.type = sub.type;
  op.block = sub.block;
  op.block.t = 1;
  op.tile_dim = base.tile_dim;
  op.intermed_format = base.intermed_format;
  op.acc_format = base.acc_format;
  op.fidelity = base.fidelity;
  op.attributes = sub.attributes;
  op.attributes.identity = op.attributes.accumulate = op.attributes.bias = false;
  op.out_format = sub.output.kind == Kind::output          ? base.out_format
                  : sub.output.kind == Kind::intermed      ? base.intermed_format
                  : base.acc_format == DataFormat::invalid ? base.out_format
                                                           : base.acc_format;
  // Integers that were scaled leave for dest or an intermediate as 8 bits.
  if (sub.output.kind != Kind::output && (sub.type == OpType::quantization || sub.type == OpType::requantization))
    op.out_format = DataFormat::int8;
  return op;
}

const OpKind kFused = {&check_fused, &run_fused, &flops_fused};

}  // namespace buda::arith
