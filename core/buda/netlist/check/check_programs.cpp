// SPDX-License-Identifier: Apache-2.0
// Programs: structure, and what they may say of queues.
#include <buda/netlist/check/check_context.hpp>
#include <buda/netlist/program/program_code.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/netlist/program/temporal_epochs.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

bool is_true(const std::optional<Value>& v) { return v && !v->is_variable() && v->immediate != 0; }

// What a graph does with a queue.
struct Use {
  bool reads = false, writes = false;
  bool raw_reader = false;  // an embedding or tilizer reads it
  bool gradient = false;    // a gradient op writes it
};
using Uses = std::map<std::size_t, Use>;  // by queue

Uses uses_of(const CheckContext& ctx, const Graph& graph) {
  Uses out;
  for (const Op& op : graph.ops) {
    bool raw = op.type == OpType::embedding || op.type == OpType::tilizer;
    for (const OpInput& input : op.inputs) {
      if (auto q = ctx.index.queue(input.name)) {
        out[*q].reads = true;
        out[*q].raw_reader = out[*q].raw_reader || raw;
      }
    }
    for (std::size_t q : ctx.queues_fed_by(op.name)) {
      out[q].writes = true;
      out[q].gradient = out[q].gradient || op.gradient_op;
    }
  }
  return out;
}

class ExecuteChecker {
 public:
  ExecuteChecker(CheckContext& ctx, const Program& program, const Graph& graph, const Uses& uses)
      : ctx_(ctx), program_(program), graph_(graph), uses_(uses) {}

  void run(const instruction::Execute& execute, SourceLocation place) {
    std::set<std::size_t> named;
    for (const QueueSetting& s : execute.settings) {
      auto q = ctx_.index.queue(s.queue);
      if (!q) continue;  // reported as NL603
      named.insert(*q);
      auto use = uses_.find(*q);
      if (use == uses_.end()) {
        error("NL624", s, Field::type, cat("graph '", graph_.name, "' neither reads nor writes '", s.queue, "'"));
        continue;
      }
      check_pointers(s, ctx_.netlist.queues[*q]);
      check_flags(s, ctx_.netlist.queues[*q], use->second);
    }
    for (const auto& [q, use] : uses_) {
      if (named.count(q) != 0) continue;
      const Queue& queue = ctx_.netlist.queues[q];
      if (use.reads && queue.input == kHostInput && queue.kind == QueueKind::queue)
        ctx_.error("NL625", "program", program_.name, place,
                   cat("execute of '", graph_.name, "' has no setting for its input queue '", queue.name, "'"));
      if (use.gradient)
        ctx_.error("NL626", "program", program_.name, place,
                   cat("execute of '", graph_.name, "' says nothing of '", queue.name, "', where gradients accumulate"));
    }
  }

 private:
  Diagnostic& error(std::string_view code, const QueueSetting& s, Field field, std::string message) {
    return ctx_.error(code, "program", program_.name, s.places.of(field), std::move(message));
  }

  void check_pointers(const QueueSetting& s, const Queue& q) {
    bool ram = q.kind == QueueKind::ram;
    if (!s.rd_ptr_global) error("NL620", s, Field::rd_ptr_global, cat("rd_ptr_global of '", s.queue, "' is missing; every setting has it"));
    if (!ram && !s.rd_ptr_local)
      error("NL621", s, Field::rd_ptr_local, cat("rd_ptr_local of '", s.queue, "' is missing: it says where the ops read a queue"));
    if (!ram && s.wr_ptr_global)
      error("NL635", s, Field::wr_ptr_global,
            cat("wr_ptr_global is for rams; '", s.queue, "' is a queue, whose write pointer is implicit"));
    if (ram && !s.wr_ptr_global)
      error("NL622", s, Field::wr_ptr_global, cat("wr_ptr_global of '", s.queue, "' is missing: it says where a ram is written"));
    if (ram && s.rd_ptr_local)
      error("NL636", s, Field::rd_ptr_local, cat("rd_ptr_local is for queues; '", s.queue, "' is a ram, which is read at rd_ptr_global"));
    // Compared as they are written, as in the original; what is absent has the default of its kind.
    const Value local = s.rd_ptr_autoinc.value_or(Value::number(ram ? 0 : 1)), global = s.global_rdptr_autoinc.value_or(Value::number(0));
    auto none = [](const Value& v) { return !v.is_variable() && v.immediate == 0; };
    auto text = [](const Value& v) { return v.is_variable() ? v.variable : cat(v.immediate); };
    if (!none(local) && !none(global) && local != global)
      error("NL623", s, Field::global_rdptr_autoinc,
            cat("'", s.queue, "' is read on by ", text(local), " per input (rd_ptr_autoinc) and popped by ", text(global),
                " (global_rdptr_autoinc); if neither is 0 they are equal"));
  }

  void check_flags(const QueueSetting& s, const Queue& q, const Use& use) {
    for (const auto& [v, field] : {std::pair(&s.prologue, Field::prologue), {&s.epilogue, Field::epilogue}})
      if (*v && (*v)->is_variable() && is_parameter((*v)->variable))
        error("NL627", s, field,
              cat(field == Field::prologue ? "prologue" : "epilogue", " of '", s.queue, "' is fixed when the netlist is compiled; '",
                  (*v)->variable, "' is a parameter"));
    bool prologue = is_true(s.prologue), epilogue = is_true(s.epilogue);
    if (use.gradient) {
      if (q.kind != QueueKind::ram || !prologue || !epilogue)
        error("NL629", s, !prologue ? Field::prologue : Field::epilogue,
              cat("gradients accumulate in '", s.queue,
                  "': it has to be a ram with prologue and epilogue true, so that they are loaded and stored"));
      return;
    }
    if (use.raw_reader && prologue)
      error("NL630", s, Field::prologue,
            cat("'", s.queue, "' feeds an embedding or tilizer, which reads it during the epoch: prologue must be false"));
    if (q.kind == QueueKind::queue && !q.from_outside() && epilogue) {
      error("NL634", s, Field::epilogue, cat("'", s.queue, "' is a queue that an op feeds; only rams are written in an epilogue"));
      epilogue = false;
    }
    if (use.writes && !use.reads && (prologue || epilogue))
      error("NL631", s, prologue ? Field::prologue : Field::epilogue,
            cat("'", s.queue, "' is an output and does not accumulate gradients; it has prologue and epilogue false"));
    if (use.reads && !use.writes && epilogue)
      error("NL632", s, Field::epilogue, cat("'", s.queue, "' is an input, to which no op writes: epilogue must be false"));
  }

  bool is_parameter(const std::string& name) const {
    for (const auto& inst : program_.instructions)
      if (auto* p = std::get_if<instruction::Param>(&inst.what))
        if (std::find(p->names.begin(), p->names.end(), name) != p->names.end()) return true;
    return false;
  }

  CheckContext& ctx_;
  const Program& program_;
  const Graph& graph_;
  const Uses& uses_;
};

// `$c_...` are constants: they get their value before the loops.
void check_constants(CheckContext& ctx, const Program& program) {
  int depth = 0;
  for (const auto& inst : program.instructions) {
    if (std::holds_alternative<instruction::Loop>(inst.what)) ++depth;
    if (std::holds_alternative<instruction::EndLoop>(inst.what)) --depth;
    auto* v = std::get_if<instruction::VarInst>(&inst.what);
    if (v != nullptr && depth > 0 && v->out.starts_with("$c_"))
      ctx.error("NL628", "program", program.name, inst.part(0),
                cat("'", v->out, "' is a constant by its name and cannot change inside a loop"));
  }
}

// Queues between graphs that run together are buffers between them. If nobody allocates such a queue, it keeps its content from run to run,
// which is seldom meant. What an op reads before a later one writes it, in the same graph, is a state, and keeps it on purpose.
void check_buffers(CheckContext& ctx, const std::vector<TemporalEpoch>& epochs) {
  std::map<std::size_t, std::size_t> epoch_of;  // by graph
  for (std::size_t e = 0; e < epochs.size(); ++e)
    for (std::size_t g : epochs[e].graphs) epoch_of[g] = e;
  std::set<std::size_t> allocated;
  for (const Program& p : ctx.netlist.programs)
    for (const auto& inst : p.instructions)
      if (const auto* a = std::get_if<instruction::Allocate>(&inst.what))
        for (const auto& name : a->queues)
          if (auto q = ctx.index.queue(name)) allocated.insert(*q);
  for (std::size_t q = 0; q < ctx.netlist.queues.size(); ++q) {
    const Queue& queue = ctx.netlist.queues[q];
    auto producer = ctx.index.op(queue.input);
    const auto& readers = ctx.readers_of(queue.name);
    if (!producer || queue.entries <= 1 || readers.size() != 1 || allocated.count(q) != 0) continue;
    if (const auto& reader = readers.front().op; producer->graph == reader.graph && reader.op <= producer->op) continue;
    auto from = epoch_of.find(producer->graph), to = epoch_of.find(readers.front().op.graph);
    if (from == epoch_of.end() || to == epoch_of.end() || from->second != to->second) continue;
    ctx.queue_warning("NL633", queue, Field::input,
                      "it is a buffer between ops that run together, and no program allocates it, so it keeps its content from run to run");
  }
}

// Finds out which epochs the programs execute; programs that do not come to an end are found on the way.
void check_run(CheckContext& ctx) {
  auto epochs = temporal_epochs(ctx.netlist, ctx.device.features.op_to_op_across_graphs);
  if (epochs) return check_buffers(ctx, *epochs);
  for (Diagnostic& d : epochs.failure().diagnostics()) ctx.error(d.code, "", d.node, {d.loc.line, d.loc.column}, d.message);
}

}  // namespace

void check_programs(CheckContext& ctx) {
  std::vector<Diagnostic> errors;
  std::set<std::string_view> names;
  std::vector<std::optional<Uses>> uses(ctx.netlist.graphs.size());
  for (const Program& p : ctx.netlist.programs) {
    if (!names.insert(p.name).second) ctx.error("NL101", "program", p.name, p.places.self, "there is another program of this name");
    compile_program(p, ctx.index, errors);
    check_constants(ctx, p);
    for (const auto& inst : p.instructions) {
      if (ctx.full()) return;
      auto* execute = std::get_if<instruction::Execute>(&inst.what);
      auto graph = execute == nullptr ? std::nullopt : ctx.index.graph(execute->graph);
      if (!graph) continue;
      if (!uses[*graph]) uses[*graph] = uses_of(ctx, ctx.netlist.graphs[*graph]);
      ExecuteChecker(ctx, p, ctx.netlist.graphs[*graph], *uses[*graph]).run(*execute, inst.place);
    }
  }
  for (Diagnostic& d : errors) ctx.error(d.code, "", d.node, {d.loc.line, d.loc.column}, d.message);
  if (errors.empty()) check_run(ctx);
}

}  // namespace buda::netlist
