// SPDX-License-Identifier: Apache-2.0
// Fused ops as an op uses them: its block, its destination register, and which sub-ops have a form for its formats.
//
// Sub-ops compute on one of two units. add, subtract and multiply of floats run on the matrix unit, which reads two operands and leaves
// the result in the destination register. Quantization ops, maximum, and add of Int32 run on the vector unit (SFPU), which works inside
// that register: both operands have to be copied there first, so a result cannot stay there for the next sub-op, and tiles are taken as
// they are.
#include <buda/netlist/check/check_context.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

using F = DataFormat;
using Kind = SubOperand::Kind;

// Of a quantized dest and its scales, in tiles of 32 bits.
constexpr std::int32_t kMaxQuantTiles = 2;

std::string block_text(const BlockShape& b) {
  return cat("mblock [", b.mblock_m, ", ", b.mblock_n, "] ublock [", b.ublock_rt, ", ", b.ublock_ct, "]");
}

class UseChecker {
 public:
  UseChecker(CheckContext& ctx, const Op& op, const FusedOp& fused) : ctx_(ctx), op_(op), fused_(fused) {}

  void run() {
    for (const auto& schedule : fused_.schedules) {
      for (const SubOp& s : schedule) {
        check_block(s);
        check_relu(s);
        check_vector_unit(s);
        if (s.type == OpType::reduce) check_reduce(s);
        if (op_.acc_format == F::int32) {
          check_integers(s);
        } else if (ops::is_quantization(s.type)) {
          error("NL540", s, Field::type, cat(op_type_name(s.type), " needs acc_df Int32; ", user(), " has ", format_name(op_.acc_format)));
        }
      }
    }
    check_result();
  }

 private:
  Diagnostic& error(std::string_view code, const SubOp& s, Field field, std::string message, int index = -1) {
    return ctx_.error(code, "fused op", cat(fused_.id, "/", s.name), s.places.of(field, index), std::move(message));
  }
  std::string user() const { return cat("op '", op_.name, "'"); }

  F format_of(const SubOperand& o) const {
    if (o.kind == Kind::dest) return op_.acc_format;
    if (o.kind == Kind::intermed) return op_.intermed_format;
    auto index = static_cast<std::size_t>(std::max(o.index, 0));
    return index < op_.inputs.size() ? op_.inputs[index].format : F::invalid;  // reported as NL519 or NL121
  }
  bool on_vector_unit(const SubOp& s) const {
    if (ops::device_op(s.type).vector_unit) return true;
    return s.type == OpType::add &&
           std::any_of(s.inputs.begin(), s.inputs.end(), [&](const SubOpInput& i) { return format_of(i.operand) == F::int32; });
  }

  void check_block(const SubOp& s) {
    std::int32_t room = ctx_.device.dest_tiles(op_.acc_format);
    if (s.block.ublock_tiles() > room) {
      Diagnostic& d =
          error("NL336", s, Field::ublock,
                cat("a ublock of ", s.block.ublock_rt, "x", s.block.ublock_ct, " does not fit the destination register, which holds ", room,
                    " tiles of ", format_name(op_.acc_format), ", the acc_df of ", user()));
      needs(d, "dest tiles", static_cast<std::uint64_t>(s.block.ublock_tiles()), static_cast<std::uint64_t>(room));
    }
    bool same = s.block.mblock_m == op_.block.mblock_m && s.block.mblock_n == op_.block.mblock_n &&
                s.block.ublock_rt == op_.block.ublock_rt && s.block.ublock_ct == op_.block.ublock_ct;
    if (s.output.kind == Kind::output && !same)
      error("NL528", s, Field::output,
            cat("it writes the output with ", block_text(s.block), ", but ", user(), " has ", block_text(op_.block)));
  }

  // The packer has one ReLU for what leaves the op.
  void check_relu(const SubOp& s) {
    const Relu &own = s.attributes.relu, &all = op_.attributes.relu;
    if (s.output.kind != Kind::output || !own.enabled || !all.enabled) return;
    if (own.threshold != all.threshold || own.mode != all.mode)
      error("NL549", s, Field::attributes,
            cat("it writes the output with a ReLU of its own, and ", user(), " has another one; threshold and mode have to be the same"));
  }

  void check_vector_unit(const SubOp& s) {
    if (!on_vector_unit(s)) return;
    std::string what = cat(op_type_name(s.type), s.type == OpType::add ? " of Int32" : "");
    if (s.output.kind == Kind::dest)
      error("NL538", s, Field::output, cat(what, " cannot leave its result in dest; an intermediate can take it"));
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      if (!s.inputs[i].tms.empty())
        error("NL539", s, Field::tms, cat(what, " takes its operands as they are, not with '", s.inputs[i].tms.front().text(), "'"),
              static_cast<int>(i));
  }

  void check_reduce(const SubOp& s) {
    if (op_.acc_format != F::float32) return;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      if (exponent_family(op_.inputs[i].format) == ExponentFamily::a)
        error("NL546", s, Field::type,
              cat("with acc_df Float32 a fused op that reduces does not support inputs of 5 exponent bits; input ", i, " of ", user(),
                  " is ", format_name(op_.inputs[i].format)));
  }

  // ---- with acc_df Int32

  void check_integers(const SubOp& s) {
    if (!class_of(s).int32_step) {
      error("NL511", s, Field::type, cat(op_type_name(s.type), " has no Int32 form; ", user(), " accumulates in Int32"));
      return;
    }
    if (!ops::is_quantization(s.type)) check_integer_operands(s);
    if (s.type == OpType::quantization) check_quantization(s);
    if (s.type == OpType::requantization || s.type == OpType::dequantization) check_from_integers(s);
  }

  void check_integer_operands(const SubOp& s) {
    bool wide = s.type != OpType::subtract && s.type != OpType::multiply;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      const SubOperand& o = s.inputs[i].operand;
      F f = format_of(o);
      if (o.kind == Kind::dest)
        error("NL536", s, Field::inputs,
              cat("with acc_df Int32, requantization and dequantization read dest, ", op_type_name(s.type), " does not"),
              static_cast<int>(i));
      if (o.kind == Kind::input && f != F::int8 && !(wide && f == F::int32))
        error(wide ? "NL541" : "NL542", s, Field::inputs,
              cat("with acc_df Int32, ", op_type_name(s.type), " takes inputs in Int8", wide ? " or Int32" : "", "; ", netlist::text(o),
                  " of ", user(), " is ", format_name(f)),
              static_cast<int>(i));
    }
  }

  void check_quantization(const SubOp& s) {
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      const SubOperand& o = s.inputs[i].operand;
      if (o.kind != Kind::input || format_of(o) != F::float32)
        error("NL543", s, Field::inputs,
              cat("quantization takes two inputs of the fused op, in Float32; operand ", i, " is ", netlist::text(o), " in ",
                  format_name(format_of(o))),
              static_cast<int>(i));
    }
  }

  // requantization and dequantization: of a buffer by scales, or of dest by scales in the first operand.
  void check_from_integers(const SubOp& s) {
    if (s.inputs.size() != 2) return;
    const SubOperand &first = s.inputs[0].operand, &second = s.inputs[1].operand;
    if (first.kind == Kind::dest) {
      error("NL537", s, Field::inputs, cat(op_type_name(s.type), " reads dest as its second operand only"), 0);
      return;
    }
    bool of_dest = second.kind == Kind::dest;
    if (of_dest && s.block.ublock_tiles() > kMaxQuantTiles)
      error("NL535", s, Field::ublock,
            cat(op_type_name(s.type), " of dest takes ublocks of at most ", kMaxQuantTiles, " tiles, not ", s.block.ublock_tiles()));
    F a = format_of(first), b = format_of(second);
    bool fine = of_dest ? first.kind == Kind::input && a == F::float32 : (a == F::int8 || a == F::int32) && b == F::float32;
    if (!fine)
      error(
          "NL544", s, Field::inputs,
          cat(op_type_name(s.type),
              of_dest ? " of dest takes an input in Float32 as first operand" : " takes Int8 or Int32, and scales in Float32",
              "; the operands are ", netlist::text(first), " in ", format_name(a), " and ", netlist::text(second), " in ", format_name(b)));
  }

  void check_result() {
    if (op_.acc_format != F::int32 || fused_.schedules.empty() || fused_.schedules.back().empty()) return;
    bool to_float = fused_.schedules.back().back().type == OpType::dequantization;
    bool fine = to_float ? op_.out_format == F::float32 : op_.out_format == F::int32 || op_.out_format == F::int8;
    if (!fine)
      ctx_.op_error("NL545", op_, Field::out_df,
                    cat("with acc_df Int32, a fused op that ends in ", to_float ? "" : "anything but ", "dequantization makes ",
                        to_float ? "Float32" : "Int32 or Int8", ", not ", format_name(op_.out_format)));
  }

  CheckContext& ctx_;
  const Op& op_;
  const FusedOp& fused_;
};

}  // namespace

void check_fused_use(CheckContext& ctx, const Op& op, const FusedOp& fused) { UseChecker(ctx, op, fused).run(); }

}  // namespace buda::netlist
