// SPDX-License-Identifier: Apache-2.0
// Fused ops: what may follow what in a schedule, who reads which buffer when, and blocks that fit together.
//
// A fused op's intermediates are FIFOs in L1; `dest` is the destination register, whose content lives until the next sub-op only. The
// walk below goes through the sub-ops in execution order and keeps, for each intermediate, who wrote it and in which schedule.
#include <buda/netlist/check/check_context.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <array>

namespace buda::netlist {
namespace {

constexpr std::int32_t kMaxIntermediates = 8;

using Kind = SubOperand::Kind;

// mblock and ublock sides; 0 = anything.
struct Block {
  std::int64_t m = 0, n = 0, rt = 0, ct = 0;
};

Block block_of(const SubOp& s) { return {s.block.mblock_m, s.block.mblock_n, s.block.ublock_rt, s.block.ublock_ct}; }

std::string text(const Block& b) {
  auto one = [](std::int64_t v) { return v == 0 ? std::string("any") : cat(v); };
  return cat("mblock [", one(b.m), ", ", one(b.n), "] ublock [", one(b.rt), ", ", one(b.ct), "]");
}

// The block that operand `i` of a sub-op has to have.
Block needed_block(const SubOp& s, std::size_t i) {
  const OperandBlocks b = operand_blocks(s, i);
  return {b.blocks_r, b.blocks_c, b.block_rt, b.block_ct};
}

bool ends_schedule(const SubOp& s) { return class_of(s).ends_schedule; }

bool contains(const std::vector<SubOperand>& list, const SubOperand& o) { return std::find(list.begin(), list.end(), o) != list.end(); }

// Errors of a fused op and its sub-ops.
class FusedErrors {
 public:
  FusedErrors(CheckContext& ctx, const FusedOp& fused) : ctx_(ctx), fused_(fused) {}

 protected:
  Diagnostic& fused_error(std::string_view code, std::string message) {
    return ctx_.error(code, "fused op", fused_.id, fused_.places.self, std::move(message));
  }
  Diagnostic& error(std::string_view code, const SubOp& s, Field field, std::string message, std::string hint = "", int index = -1) {
    return ctx_.error(code, "fused op", cat(fused_.id, "/", s.name), s.places.of(field, index), std::move(message), std::move(hint));
  }
  Diagnostic& input_error(std::string_view code, const SubOp& s, std::size_t i, std::string message, std::string hint = "") {
    return error(code, s, Field::inputs, std::move(message), std::move(hint), static_cast<int>(i));
  }
  Diagnostic& attribute_error(std::string_view code, const SubOp& s, std::string_view attribute, std::string message) {
    return ctx_.error(code, "fused op", cat(fused_.id, "/", s.name), s.places.of_attribute(attribute_number(attribute)),
                      std::move(message));
  }

  CheckContext& ctx_;
  const FusedOp& fused_;
};

class FusedChecker : FusedErrors {
 public:
  FusedChecker(CheckContext& ctx, const FusedOp& fused)
      : FusedErrors(ctx, fused), buffers_(static_cast<std::size_t>(std::clamp(fused.intermediates, 0, kMaxIntermediates))) {}

  void run() {
    if (fused_.intermediates > kMaxIntermediates)
      fused_error("NL501", cat("it has ", fused_.intermediates, " intermediates; at most ", kMaxIntermediates, " are possible"));
    check_names();
    for (schedule_ = 0; schedule_ < fused_.schedules.size(); ++schedule_) walk_schedule(fused_.schedules[schedule_]);
    finish();
  }

 private:
  struct Buffer {
    const SubOp* writer = nullptr;  // null: empty
    std::size_t schedule = 0;
  };

  void check_names() {
    std::set<std::string_view> names;
    std::set<std::int32_t> inputs;
    bool output = false;
    for (const auto& schedule : fused_.schedules) {
      for (const SubOp& s : schedule) {
        if (!names.insert(s.name).second) error("NL502", s, Field::type, "there is another sub-op of this name");
        for (const auto& input : s.inputs)
          if (input.operand.kind == Kind::input) inputs.insert(input.operand.index);
        output = output || s.output.kind == Kind::output;
      }
    }
    for (std::int32_t i = 0; i < fused_.inputs; ++i)
      if (inputs.count(i) == 0) fused_error("NL503", cat("no sub-op reads input", i));
    if (!output) fused_error("NL520", "no sub-op writes output");
  }

  void walk_schedule(const std::vector<SubOp>& schedule) {
    dest_ = nullptr;
    if (schedule.empty()) fused_error("NL518", "a schedule is empty");
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      const SubOp& s = schedule[i];
      check_arity(s);
      check_attributes(s);
      if (ends_schedule(s) && i + 1 < schedule.size())
        error("NL504", s, Field::type, cat(op_type_name(s.type), " has to be the last of its schedule"));
      check_inputs(s);
      check_reduction(s);
      pop(s);
      write(s);
    }
    if (dest_ != nullptr)
      error("NL505", *dest_, Field::output, "it leaves its result in dest at the end of the schedule, where no sub-op reads it");
  }

  void check_arity(const SubOp& s) {
    const std::size_t min = class_of(s).min_inputs();
    if (s.inputs.size() < min || s.inputs.size() > class_of(s).max_inputs())
      error("NL105", s, Field::inputs, cat(op_type_name(s.type), " takes ", min, " inputs, not ", s.inputs.size()));
  }

  void check_attributes(const SubOp& s) {
    const OpAttributes& a = s.attributes;
    if (a.relu.threshold < 0)
      attribute_error("NL320", s, "relu_threshold", cat("relu_threshold is ", a.relu.threshold, "; it is not negative"));
    if (a.p < 0 || a.p > 1) attribute_error("NL332", s, "p", cat("p is ", a.p, "; a probability is between 0 and 1"));
  }

  Buffer* buffer(const SubOp& s, const SubOperand& o, Field field, int index = -1) {
    if (o.index >= 0 && static_cast<std::size_t>(o.index) < buffers_.size()) return &buffers_[static_cast<std::size_t>(o.index)];
    error("NL519", s, field, cat("intermed", o.index, " is one of ", fused_.intermediates, " intermediates"), "", index);
    return nullptr;
  }

  void check_inputs(const SubOp& s) {
    bool reads_dest = false;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      const SubOpInput& input = s.inputs[i];
      switch (input.operand.kind) {
        case Kind::input:
          if (input.operand.index >= fused_.inputs)
            input_error("NL519", s, i, cat("input", input.operand.index, " is one of ", fused_.inputs, " inputs"));
          check_tms(s, i, nullptr);
          break;
        case Kind::intermed: {
          Buffer* b = buffer(s, input.operand, Field::inputs, static_cast<int>(i));
          if (b == nullptr) break;
          if (b->writer == nullptr) {
            input_error("NL506", s, i, cat("intermed", input.operand.index, " is read, but has no value here"));
            break;
          }
          check_crossing(s, i, *b);
          check_tms(s, i, b->writer);
          break;
        }
        case Kind::dest:
          reads_dest = true;
          check_dest_operand(s, i);
          break;
        case Kind::output:
          input_error("NL527", s, i, "output cannot be read");
          break;
      }
    }
    if (dest_ != nullptr && !reads_dest)
      error("NL505", s, Field::inputs, cat("'", dest_->name, "' left its result in dest; the next sub-op has to read it"));
    dest_ = nullptr;
  }

  void check_dest_operand(const SubOp& s, std::size_t i) {
    if (dest_ == nullptr) {
      input_error("NL523", s, i, "dest is read, but the sub-op before did not write it");
      return;
    }
    if (ends_schedule(s) || !ops::uses_register(ops::device_op(s.type)))
      input_error("NL524", s, i, cat(op_type_name(s.type), " cannot read dest"), "write an intermediate");
    if (i == 1 && !ctx_.device.features.dest_as_operand_1)
      input_error("NL525", s, i, cat(ctx_.device.arch, " cannot read dest as second operand"),
                  "swap the operands, or write an intermediate");
    check_tms(s, i, dest_);
  }

  void check_tile_broadcast(const SubOp& s, std::size_t i) {
    if (!ops::combines_two(s.type) || ops::device_op(s.type).vector_unit || i != 1)
      error("NL516", s, Field::tms, "tile_broadcast is for the second operand of add, subtract and multiply", "", static_cast<int>(i));
  }

  // Manipulations of operand i, and its block. `writer` made it; null for external inputs, whose shape the edges' check looks at.
  void check_tms(const SubOp& s, std::size_t i, const SubOp* writer) {
    Block wanted = needed_block(s, i);
    Block given = writer != nullptr ? block_of(*writer) : wanted;
    auto along = [&](Dim dim) {
      const auto& tms = s.inputs[i].tms;
      return std::any_of(tms.begin(), tms.end(), [&](const Tm& tm) { return tm.kind == TmKind::broadcast && tm.dim == dim; });
    };
    if (along(Dim::r) && along(Dim::c)) {
      error("NL513", s, Field::tms, cat("operand ", i, " is broadcast along r and along c; a sub-op can do one of them"),
            "broadcast along the other in a sub-op before", static_cast<int>(i));
      return;
    }
    for (const Tm& tm : s.inputs[i].tms) {
      if (tm.kind == TmKind::tile_broadcast) {
        check_tile_broadcast(s, i);
        continue;
      }
      bool is_r = tm.kind == TmKind::broadcast && tm.dim == Dim::r, is_c = tm.kind == TmKind::broadcast && tm.dim == Dim::c;
      if (!is_r && !is_c) {
        error("NL514", s, Field::tms, cat("'", tm.text(), "' is illegal in a fused op; broadcast of r or c and tile_broadcast are legal"),
              "", static_cast<int>(i));
        return;
      }
      if (writer == nullptr || s.inputs[i].operand.kind != Kind::intermed) {
        error("NL512", s, Field::tms,
              cat("'", tm.text(), "' of ", netlist::text(s.inputs[i].operand), "; only intermediates can be broadcast inside a fused op"),
              writer == nullptr ? "broadcast the input of the op that uses it" : "", static_cast<int>(i));
        return;
      }
      if (s.type == OpType::matmul && (!is_c || i != 0)) {
        error("NL515", s, Field::tms, cat("'", tm.text(), "' of operand ", i, "; a matmul takes a broadcast of c on operand 0 only"), "",
              static_cast<int>(i));
        return;
      }
      if (s.type == OpType::matmul) {
        if (given.n != 1 && given.n != s.attributes.m_k)
          error("NL548", s, Field::tms,
                cat("'", tm.text(), "' of an intermediate with mblock_n ", given.n, "; a matmul with m_k ", s.attributes.m_k,
                    " takes 1 or its m_k"),
                "", static_cast<int>(i));
        // Its inner dimension is what counts: the broadcast repeats the columns that there are.
        if (given.n * given.ct * tm.factor != wanted.n * wanted.ct)
          error("NL517", s, Field::tms,
                cat("'", tm.text(), "' makes ", given.n * given.ct * tm.factor, " tiles, ", wanted.n * wanted.ct, " are needed"), "",
                static_cast<int>(i));
        given.n = wanted.n;
        given.ct = wanted.ct;
        continue;
      }
      std::int64_t& outer = is_r ? given.m : given.n;
      std::int64_t& inner = is_r ? given.rt : given.ct;
      std::int64_t total = is_r ? wanted.m * wanted.rt : wanted.n * wanted.ct;
      if (outer != 1 || inner != 1) {
        error("NL508", s, Field::tms,
              cat("'", tm.text(), "' needs an intermediate of one tile along ", is_r ? "r" : "c", "; it is ", text(given)), "",
              static_cast<int>(i));
        return;
      }
      if (total != 0 && tm.factor != total) {
        error("NL517", s, Field::tms, cat("'", tm.text(), "' makes ", tm.factor, " tiles, ", total, " are needed"), "",
              static_cast<int>(i));
        return;
      }
      if (is_r && given.n != 1 && wanted.m > 1) {
        error("NL529", s, Field::tms, cat("'", tm.text(), "' over ", wanted.m, " ublock rows needs mblock_n 1; it is ", given.n), "",
              static_cast<int>(i));
        return;
      }
      outer = is_r ? wanted.m : wanted.n;
      inner = is_r ? wanted.rt : wanted.ct;
    }
    auto differs = [](std::int64_t w, std::int64_t g) { return w != 0 && w != g; };
    if (differs(wanted.m, given.m) || differs(wanted.n, given.n) || differs(wanted.rt, given.rt) || differs(wanted.ct, given.ct))
      input_error(
          "NL507", s, i,
          cat("operand ", i, " (", netlist::text(s.inputs[i].operand), ") has ", text(given), ", but ", text(wanted), " is needed"));
  }

  // matmul and reduce.
  void check_reduction(const SubOp& s) {
    if (!ends_schedule(s)) return;
    const OpAttributes& a = s.attributes;
    if (s.type == OpType::matmul && (a.m_k < 1 || a.u_kt < 1))
      error("NL306", s, Field::attributes, cat("m_k is ", a.m_k, " and u_kt ", a.u_kt, "; both have to be at least 1"));
    if (s.type == OpType::reduce) {
      if (a.reduce_dim == Dim::z) attribute_error("NL550", s, "dim", "in a fused op a reduction goes along r or c, not along z");
      bool is_r = a.reduce_dim == Dim::r;
      std::int32_t blocks = is_r ? s.block.mblock_m : s.block.mblock_n, tiles = is_r ? s.block.ublock_rt : s.block.ublock_ct;
      if (blocks != 1 || tiles != 1)
        error("NL547", s, blocks != 1 ? Field::mblock : Field::ublock,
              cat("a reduction along ", is_r ? "r" : "c", " leaves one tile there; the sub-op has ", text(block_of(s))));
    }
    if (a.m_k <= 1) return;
    if (s.output.kind != Kind::intermed)
      error("NL521", s, Field::output,
            cat("with m_k ", a.m_k, ", ", op_type_name(s.type), " has to write an intermediate, where it accumulates"));
    if (s.type == OpType::matmul && s.inputs.size() > 1 && s.inputs[1].operand.kind != Kind::input)
      input_error("NL522", s, 1, cat("with m_k ", a.m_k, ", operand 1 of matmul has to be an input of the fused op"));
  }

  // The FIFO is empty for what follows, whether the kernel pops it after the sub-op or after the schedule.
  void pop(const SubOp& s) {
    for (std::size_t i = 0; i < s.pop.size(); ++i) {
      const SubOperand& o = s.pop[i];
      int index = static_cast<int>(i);
      bool listed = std::any_of(s.inputs.begin(), s.inputs.end(), [&](const SubOpInput& in) { return in.operand == o; });
      if (!listed) error("NL531", s, Field::pop, cat("it pops ", netlist::text(o), ", which it does not read"), "", index);
      if (contains(s.pop_last, o)) error("NL533", s, Field::pop, cat(netlist::text(o), " is in both pop and pop_last"), "", index);
      if (!popped_before(s, s.pop, i, Field::pop)) release(s, o, Field::pop, index);
    }
    for (std::size_t i = 0; i < s.pop_last.size(); ++i) {
      const SubOperand& o = s.pop_last[i];
      int index = static_cast<int>(i);
      if (o.kind != Kind::intermed)
        error("NL532", s, Field::pop_last, cat("pop_last takes intermediates, not ", netlist::text(o)), "", index);
      if (!popped_before(s, s.pop_last, i, Field::pop_last) && !contains(s.pop, o)) release(s, o, Field::pop_last, index);
    }
  }
  // Whether the list names its i-th operand earlier, too.
  bool popped_before(const SubOp& s, const std::vector<SubOperand>& list, std::size_t i, Field field) {
    auto end = list.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(list.begin(), end, list[i]) == end) return false;
    error("NL533", s, field, cat(netlist::text(list[i]), " is popped twice"), "", static_cast<int>(i));
    return true;
  }
  void release(const SubOp& s, const SubOperand& o, Field field, int index) {
    if (o.kind != Kind::intermed) return;
    Buffer* b = buffer(s, o, field, index);
    if (b == nullptr) return;
    if (b->writer == nullptr) error("NL534", s, field, cat("it pops ", netlist::text(o), ", which has no value here"), "", index);
    *b = {};
  }

  void write(const SubOp& s) {
    switch (s.output.kind) {
      case Kind::dest:
        dest_ = &s;
        break;
      case Kind::intermed: {
        Buffer* b = buffer(s, s.output, Field::output);
        if (b == nullptr) break;
        if (b->writer != nullptr) error("NL530", s, Field::output, cat(netlist::text(s.output), " is written again before it is popped"));
        *b = {&s, schedule_};
        break;
      }
      case Kind::input:
        error("NL526", s, Field::output, "an input cannot be written");
        break;
      case Kind::output:
        break;
    }
  }

  // What a schedule leaves to later ones. A schedule with a matmul or reduce at its end runs that for all ublocks of an mblock before it
  // goes on, and the FIFOs of its other results are one ublock long.
  void check_crossing(const SubOp& s, std::size_t i, const Buffer& b) {
    const SubOp& writer = *b.writer;
    const SubOp& last = fused_.schedules[b.schedule].back();
    if (b.schedule == schedule_ || !ends_schedule(last) || ends_schedule(writer)) return;
    if (writer.block.mblock_m == 1 && writer.block.mblock_n == 1) return;
    input_error(
        "NL510", s, i,
        cat(netlist::text(s.inputs[i].operand), " lives on after a schedule that ends in ", op_type_name(last.type), "; '", writer.name,
            "', which writes it, has to have mblock [1, 1] for that, not [", writer.block.mblock_m, ", ", writer.block.mblock_n, "]"));
  }

  void finish() {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (const SubOp* w = buffers_[i].writer)
        error("NL509", *w, Field::output, cat("intermed", i, " is never popped"), "its last reader pops it: pop: [intermed" + cat(i) + "]");
  }

  std::vector<Buffer> buffers_;
  std::size_t schedule_ = 0;
  const SubOp* dest_ = nullptr;  // the sub-op whose result is in dest
};

}  // namespace

void check_fused_op(CheckContext& ctx, const FusedOp& fused) { FusedChecker(ctx, fused).run(); }

}  // namespace buda::netlist
