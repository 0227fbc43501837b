// SPDX-License-Identifier: Apache-2.0
// The keys of a placement report's file (docs/formats/placement-report.md).
#include <buda/balance/emit/report.hpp>

#include <buda/io/json.hpp>

namespace buda::balance {

const schema::Record<ReportPart>& describe(const ReportPart*) {
  static const auto record = schema::Record<ReportPart>("a part of a sum")
                                 .required("what", &ReportPart::what, "what takes it")
                                 .required("amount", &ReportPart::amount, "how much");
  return record;
}

const schema::Record<ReportUsage>& describe(const ReportUsage*) {
  static const auto record =
      schema::Record<ReportUsage>("a resource of one core")
          .required("resource", &ReportUsage::resource,
                    "l1, l1_pipegen2, dest, streams, multicasts, dram_inputs, dram_outputs, dram_buffers, dram_reads, fan_out, phases")
          .required("used", &ReportUsage::used, "what the op takes of it")
          .required("available", &ReportUsage::available, "what a core has")
          .optional("parts", &ReportUsage::parts, "what `used` is made of");
  return record;
}

const schema::Record<ReportCycles>& describe(const ReportCycles*) {
  static const auto record = schema::Record<ReportCycles>("expected cycles of one input")
                                 .required("kernel", &ReportCycles::kernel, "of the kernel, with its data at hand")
                                 .required("inputs", &ReportCycles::inputs, "to bring each input to a core")
                                 .required("output", &ReportCycles::output, "to take the result away")
                                 .required("limiter", &ReportCycles::limiter, "the largest of all: what the op takes in a full pipeline");
  return record;
}

const schema::Record<ReportOp>& describe(const ReportOp*) {
  static const auto record =
      schema::Record<ReportOp>("an op")
          .required("name", &ReportOp::name, "name in the netlist")
          .required("node", &ReportOp::node, "name in the graph")
          .optional("layers", &ReportOp::layers, "nodes of the model whose work it does")
          .required("type", &ReportOp::type, "op type")
          .required("grid_loc", &ReportOp::grid_loc, "worker at its top left")
          .required("grid", &ReportOp::grid, "cores, rows by columns")
          .optional("transposed", &ReportOp::transposed, "whether its grid is transposed")
          .required("t", &ReportOp::t, "mblocks in sequence")
          .required("mblock", &ReportOp::mblock, "ublocks of an mblock, rows by columns")
          .required("ublock", &ReportOp::ublock, "tiles of a ublock, rows by columns")
          .optional("m_k", &ReportOp::m_k, "steps of the inner dimension")
          .optional("u_kt", &ReportOp::u_kt, "tiles of such a step")
          .required("buf_size_mb", &ReportOp::buf_size_mb, "mblocks of the output buffer")
          .optional("resident_inputs", &ReportOp::resident_inputs, "inputs that are loaded before the epoch and kept in L1")
          .required("candidates", &ReportOp::candidates, "legal implementations that the policy chose from")
          .required("cycles", &ReportOp::cycles, "expected cycles of one input")
          .optional("limiter", &ReportOp::limiter, "what these are the time of: kernel, input N or output")
          .required("resources", &ReportOp::resources, "what one of its cores takes");
  return record;
}

const schema::Record<ReportPath>& describe(const ReportPath*) {
  static const auto record =
      schema::Record<ReportPath>("the busiest path of a kind; bytes and cycles of one input, without what is loaded before the first one")
          .required("kind", &ReportPath::kind, "DRAM, NoC, port, PCIe or Ethernet")
          .required("busiest", &ReportPath::busiest, "which one it is")
          .required("bytes", &ReportPath::bytes, "that pass through it")
          .required("mean", &ReportPath::mean, "bytes that pass through one of the chip's, on average")
          .required("cycles", &ReportPath::cycles, "expected cycles that it needs");
  return record;
}

const schema::Record<ReportLink>& describe(const ReportLink*) {
  static const auto record = schema::Record<ReportLink>("bytes on one link of a network for one input")
                                 .required("link", &ReportLink::link, "from which node to which, of which network")
                                 .required("bytes", &ReportLink::bytes, "that pass over it");
  return record;
}

const schema::Record<ReportBound>& describe(const ReportBound*) {
  static const auto record =
      schema::Record<ReportBound>("a lower bound of the cycles of plans")
          .required("cycles", &ReportBound::cycles, "that no plan can beat, in one iteration of the program's loop")
          .required("gap", &ReportBound::gap, "by how many percent the plan's cycles are above it")
          .optional("limiter", &ReportBound::limiter, "what of the problem it follows from: cores, slowest op or DRAM");
  return record;
}

const schema::Record<ReportTraffic>& describe(const ReportTraffic*) {
  static const auto record = schema::Record<ReportTraffic>("bytes of all inputs of an epoch in a channel of DRAM")
                                 .required("read", &ReportTraffic::read, "while the epoch runs")
                                 .required("written", &ReportTraffic::written, "while the epoch runs")
                                 .required("before", &ReportTraffic::before, "read before it")
                                 .required("after", &ReportTraffic::after, "written after it");
  return record;
}

const schema::Record<ReportEpoch>& describe(const ReportEpoch*) {
  static const auto record =
      schema::Record<ReportEpoch>("an epoch")
          .required("graph", &ReportEpoch::graph, "name in the netlist")
          .optional("phase", &ReportEpoch::phase, "the phases of a training step to which its ops belong: forward, backward, optimizer")
          .optional("chip", &ReportEpoch::chip, "number of its chip; without it, 0")
          .optional("inputs", &ReportEpoch::inputs, "that it takes in one iteration of the program's loop; without it, the microbatch")
          .required("cores", &ReportEpoch::cores, "workers that have an op")
          .required("cycles", &ReportEpoch::cycles, "expected cycles of one iteration of the program's loop, with the change to this epoch")
          .optional("change", &ReportEpoch::change, "of these, the cycles of the change to this epoch")
          .optional("hidden", &ReportEpoch::hidden, "cycles of the change that pass while the epoch before still works")
          .optional("interval", &ReportEpoch::interval, "expected cycles between its inputs")
          .optional("limiter", &ReportEpoch::limiter,
                    "what the interval is the time of: kernel, input N or output of the slowest op, a DRAM "
                    "channel or link, or buffers between ops")
          .optional("bound", &ReportEpoch::bound, "cycles that the same ops take in one epoch at least")
          .optional("gap", &ReportEpoch::gap, "by how many percent the epoch's cycles are above the bound")
          .optional("ended_by", &ReportEpoch::ended_by, "why the next op of the schedule is not in the epoch")
          .optional("between_chips", &ReportEpoch::between_chips,
                    "of an epoch that takes what another chip makes at the same time: `direct`, or why it takes it from queues")
          .optional("paths", &ReportEpoch::paths, "the busiest path of each kind on which anything moves")
          .optional("channels", &ReportEpoch::channels, "what each channel of DRAM moves, in order")
          .optional("links", &ReportEpoch::links, "the busiest links of the networks, the busiest first")
          .required("slowest_op", &ReportEpoch::slowest_op, "the op that limits the epoch")
          .required("ops", &ReportEpoch::ops, "its ops, in execution order");
  return record;
}

const schema::Record<ReportQueue>& describe(const ReportQueue*) {
  static const auto record = schema::Record<ReportQueue>("a queue or ram")
                                 .required("name", &ReportQueue::name, "name in the netlist")
                                 .required("role", &ReportQueue::role, "input, output, parameter, constant, epoch-to-epoch or buffering")
                                 .optional("chip", &ReportQueue::chip, "number of the chip in whose memory it lies; without it, 0")
                                 .required("entries", &ReportQueue::entries, "slots")
                                 .required("grid", &ReportQueue::grid, "buffers, rows by columns")
                                 .required("bytes", &ReportQueue::bytes, "of all buffers, headers included")
                                 .optional("prologue", &ReportQueue::prologue, "whether its readers load it before the epoch")
                                 .optional("writer", &ReportQueue::writer, "the op that writes it; without it, the host does")
                                 .optional("readers", &ReportQueue::readers, "the ops that read it; without them, the host does")
                                 .optional("channels", &ReportQueue::channels,
                                           "the DRAM channel of each of its buffers; without it, they are in the host's memory")
                                 .optional("epochs", &ReportQueue::epochs,
                                           "of a dynamic queue: the first and the last epoch in which it has memory; without it, it has "
                                           "its memory always");
  return record;
}

const schema::Record<ReportChannel>& describe(const ReportChannel*) {
  static const auto record = schema::Record<ReportChannel>("a channel of DRAM")
                                 .optional("chip", &ReportChannel::chip, "number of its chip; without it, 0")
                                 .required("used", &ReportChannel::used, "bytes of queues")
                                 .required("capacity", &ReportChannel::capacity, "bytes that queues may have");
  return record;
}

const schema::Record<ReportChip>& describe(const ReportChip*) {
  static const auto record =
      schema::Record<ReportChip>("a chip")
          .required("chip", &ReportChip::chip, "its number")
          .required("epochs", &ReportChip::epochs, "epochs that it runs")
          .required("cycles", &ReportChip::cycles, "expected cycles that it is busy in one iteration of the program's loop");
  return record;
}

const schema::Record<ReportPhase>& describe(const ReportPhase*) {
  static const auto record = schema::Record<ReportPhase>("epochs of a training step whose ops belong to the same phases")
                                 .required("phase", &ReportPhase::phase, "the phases: forward, backward, optimizer")
                                 .required("ops", &ReportPhase::ops, "ops")
                                 .required("epochs", &ReportPhase::epochs, "epochs")
                                 .required("cycles", &ReportPhase::cycles, "expected cycles in one iteration of the program's loop");
  return record;
}

const schema::Record<ReportStepMemory>& describe(const ReportStepMemory*) {
  static const auto record = schema::Record<ReportStepMemory>("bytes of the queues of a training step")
                                 .required("states", &ReportStepMemory::states, "parameters, moments, and what pairs have lost to rounding")
                                 .required("gradients", &ReportStepMemory::gradients, "sums of gradients")
                                 .required("saved", &ReportStepMemory::saved, "what a phase makes and a later one reads");
  return record;
}

const schema::Record<ReportTotals>& describe(const ReportTotals*) {
  static const auto record =
      schema::Record<ReportTotals>("the sums")
          .required("ops", &ReportTotals::ops, "ops")
          .required("epochs", &ReportTotals::epochs, "epochs")
          .required("chip_cores", &ReportTotals::chip_cores, "workers of the chip")
          .required("most_cores", &ReportTotals::most_cores, "workers in use in the fullest epoch")
          .required("cycles", &ReportTotals::cycles,
                    "expected cycles of one iteration of the program's loop; on several chips those of the slowest chip")
          .optional("chips", &ReportTotals::chips, "where there are several: the chips that have epochs, by number")
          .optional("phases", &ReportTotals::phases, "of a training step: its epochs by the phases to which their ops belong")
          .optional("step_memory", &ReportTotals::step_memory, "of a training step: bytes of its queues")
          .optional("idle_chips", &ReportTotals::idle_chips, "chips of the device that the plan may not use")
          .required("inputs_per_second", &ReportTotals::inputs_per_second, "what follows from the cycles and the clock")
          .required("bottleneck_op", &ReportTotals::bottleneck_op, "the slowest op")
          .optional("limiter", &ReportTotals::limiter,
                    "what limits it: kernel, input N or output, or a path of its epoch: DRAM channel N, a link")
          .optional("schedule_bound", &ReportTotals::schedule_bound, "for plans whose epochs are sections of the schedule")
          .optional("universal_bound", &ReportTotals::universal_bound, "for all plans")
          .optional("parameter_bytes", &ReportTotals::parameter_bytes, "bytes of the queues of parameters and constants")
          .required("dram", &ReportTotals::dram, "channels of the chip, in order, chip after chip");
  return record;
}

const schema::Record<ReportGiven>& describe(const ReportGiven*) {
  static const auto record = schema::Record<ReportGiven>("the plan of a netlist whose ops were placed anew")
                                 .required("epochs", &ReportGiven::epochs, "epochs")
                                 .required("cycles", &ReportGiven::cycles, "expected cycles of one iteration of the program's loop")
                                 .required("gap", &ReportGiven::gap, "by how many percent they are above the universal bound")
                                 .required("speedup", &ReportGiven::speedup, "how many times the cycles of the new plan they are")
                                 .required("limiter", &ReportGiven::limiter, "its longest epoch, and what limits that");
  return record;
}

const schema::Record<PlacementReport>& describe(const PlacementReport*) {
  static const auto record =
      schema::Record<PlacementReport>("a placement report", {"buda.placement-report", 1})
          .required("model", &PlacementReport::model, "name of the graph")
          .required("device", &PlacementReport::device, "device that it was placed for")
          .required("policy", &PlacementReport::policy, "policy that placed it")
          .required("microbatch", &PlacementReport::microbatch, "inputs that one iteration of the program's loop processes")
          .optional("batch", &PlacementReport::batch, "inputs that these are: the model's batch")
          .optional("max_batches", &PlacementReport::max_batches, "batches of the model that one epoch can take at most")
          .optional("given", &PlacementReport::given, "the plan that the ops had before")
          .required("totals", &PlacementReport::totals, "sums over all epochs")
          .required("epochs", &PlacementReport::epochs, "epochs in order")
          .required("queues", &PlacementReport::queues, "queues and rams in the netlist's order");
  return record;
}

std::string report_text(const PlacementReport& report) { return io::json_pretty(schema::write(report)); }

}  // namespace buda::balance
