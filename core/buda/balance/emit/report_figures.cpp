// SPDX-License-Identifier: Apache-2.0
// Figures from a placement report, and what they are called.
#include <buda/balance/emit/report_figures.hpp>

#include <buda/balance/emit/report_summary.hpp>

namespace buda::balance {

const schema::Record<CoreFigures>& describe(const CoreFigures*) {
  static const auto record = schema::Record<CoreFigures>("cores")
                                 .required("used", &CoreFigures::used, "workers in use in the fullest epoch")
                                 .required("available", &CoreFigures::available, "workers of the chip");
  return record;
}

const schema::Record<EstimateFigures>& describe(const EstimateFigures*) {
  static const auto record =
      schema::Record<EstimateFigures>("the estimate")
          .required("cycles", &EstimateFigures::cycles, "of one iteration of the program's loop; on several chips of the slowest")
          .required("inputs_per_second", &EstimateFigures::inputs_per_second, "what follows from the cycles and the clock")
          .optional("latency_cycles", &EstimateFigures::latency_cycles,
                    "until the first input has left the last epoch, each epoch being executed once; of one chip");
  return record;
}

const schema::Record<BoundFigures>& describe(const BoundFigures*) {
  static const auto record =
      schema::Record<BoundFigures>("lower bounds of the cycles of an iteration")
          .optional("schedule", &BoundFigures::schedule, "for plans with this order of ops")
          .optional("schedule_gap_percent", &BoundFigures::schedule_gap_percent, "by how many percent the estimate is above it")
          .required("any_plan", &BoundFigures::any_plan, "for any plan")
          .required("because_of", &BoundFigures::because_of, "what that follows from: cores, slowest op or DRAM");
  return record;
}

const schema::Record<MemoryFigures>& describe(const MemoryFigures*) {
  static const auto record = schema::Record<MemoryFigures>("bytes of memory")
                                 .required("parameters", &MemoryFigures::parameters, "of the queues of parameters and constants")
                                 .required("dram_used", &MemoryFigures::dram_used, "of all queues")
                                 .required("dram_available", &MemoryFigures::dram_available, "that queues may have")
                                 .required("l1_used", &MemoryFigures::l1_used, "of the core that is fullest")
                                 .required("l1_available", &MemoryFigures::l1_available, "that a core has");
  return record;
}

const schema::Record<ReportFigures>& describe(const ReportFigures*) {
  static const auto record =
      schema::Record<ReportFigures>("the summary of a compilation", {"buda.summary", 1})
          .required("model", &ReportFigures::model, "name of the graph")
          .required("device", &ReportFigures::device, "device that it was placed for")
          .required("policy", &ReportFigures::policy, "policy that placed it")
          .required("microbatch", &ReportFigures::microbatch, "batches that one iteration of the program's loop processes")
          .required("batch", &ReportFigures::batch, "inputs that these are")
          .required("ops", &ReportFigures::ops, "ops on the chip")
          .required("epochs", &ReportFigures::epochs, "epochs")
          .required("cores", &ReportFigures::cores, "cores in use")
          .required("estimate", &ReportFigures::estimate, "what the plan is expected to take")
          .required("limited_by", &ReportFigures::limited_by, "what that is the time of, in words; empty without an op on the chip")
          .optional("bound", &ReportFigures::bound, "what no plan can beat")
          .optional("gap_percent", &ReportFigures::gap_percent, "by how many percent the estimate is above the bound of any plan")
          .required("memory", &ReportFigures::memory, "bytes of memory")
          .optional("chips", &ReportFigures::chips, "where there are several: the chips that have epochs, by number")
          .optional("phases", &ReportFigures::phases, "of a training step: its epochs by the phases to which their ops belong")
          .optional("step_memory", &ReportFigures::step_memory, "of a training step: bytes of its queues")
          .required("layers", &ReportFigures::layers, "the ops by what of the model they compute");
  return record;
}

namespace {

MemoryFigures memory_of(const PlacementReport& report) {
  MemoryFigures out;
  out.parameters = report.totals.parameter_bytes;
  for (const ReportChannel& channel : report.totals.dram) {
    out.dram_used += channel.used;
    out.dram_available += channel.capacity;
  }
  for (const ReportEpoch& epoch : report.epochs)
    for (const ReportOp& op : epoch.ops)
      for (const ReportUsage& usage : op.resources)
        if (usage.resource == "l1" && usage.used >= out.l1_used) {
          out.l1_used = usage.used;
          out.l1_available = usage.available;
        }
  return out;
}

}  // namespace

ReportFigures figures_of(const PlacementReport& report) {
  const ReportTotals& t = report.totals;
  ReportFigures out;
  out.model = report.model;
  out.device = report.device;
  out.policy = report.policy;
  out.microbatch = report.microbatch;
  out.batch = report.batch;
  out.ops = t.ops;
  out.epochs = t.epochs;
  out.cores = {t.most_cores, t.chip_cores};
  out.estimate = {t.cycles, t.inputs_per_second, latency_cycles(report)};
  if (t.ops > 0) out.limited_by = limiter_text(report);
  if (t.universal_bound) {
    out.bound = BoundFigures{std::nullopt, std::nullopt, t.universal_bound->cycles, t.universal_bound->limiter};
    if (t.schedule_bound) {
      out.bound->schedule = t.schedule_bound->cycles;
      out.bound->schedule_gap_percent = t.schedule_bound->gap;
    }
    out.gap_percent = t.universal_bound->gap;
  }
  out.memory = memory_of(report);
  out.chips = t.chips;
  out.phases = t.phases;
  out.step_memory = t.step_memory;
  out.layers = layers_of(report);
  return out;
}

}  // namespace buda::balance
