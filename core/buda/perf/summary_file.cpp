// SPDX-License-Identifier: Apache-2.0
// The fields of summary.json.
#include <buda/perf/summary_file.hpp>

#include <buda/io/json.hpp>
#include <buda/perf/writers.hpp>

namespace buda::perf {

using Cause = EpochSummary::Cause;
using Pipe = EpochSummary::Pipe;
using Op = EpochSummary::Op;
using Load = EpochSummary::Load;

const schema::EnumNames<Cause::Kind>& describe_enum(const Cause::Kind*) {
  static const schema::EnumNames<Cause::Kind> names = {
      {Cause::Kind::kernel, "kernel"}, {Cause::Kind::send, "send"}, {Cause::Kind::read, "read"},      {Cause::Kind::write, "write"},
      {Cause::Kind::host, "host"},     {Cause::Kind::load, "load"}, {Cause::Kind::latency, "latency"}};
  return names;
}

const schema::Record<Cause>& describe(const Cause*) {
  static const auto record =
      schema::Record<Cause>("a part of the critical path of an epoch")
          .required("what", &Cause::what, "a phrase for people")
          .required("kind", &Cause::kind,
                    "kernel, send (between cores), read or write (of a queue), host, load (of kernels and stream programs), latency")
          .optional("op", &Cause::op, "whose kernel, input or output it is")
          .optional("operand", &Cause::operand, "number of the input, -1 where it is none")
          .required("cycles", &Cause::time, "that it adds to the chain")
          .required("share", &Cause::share, "of the chain, 0 to 1");
  return record;
}

const schema::Record<EpochSummary::Limit>& describe(const EpochSummary::Limit*) {
  using Limit = EpochSummary::Limit;
  static const auto record = schema::Record<Limit>("a part of the chip, and what an epoch would gain if it were twice as fast")
                                 .required("what", &Limit::what, "networks, DRAM, a kernel, ...")
                                 .optional("op", &Limit::op, "whose kernel it is")
                                 .required("gain", &Limit::gain, "part of the epoch's time that would be saved");
  return record;
}

const schema::Record<Pipe>& describe(const Pipe*) {
  static const auto record =
      schema::Record<Pipe>("what a core of an op takes or gives")
          .optional("name", &Pipe::name, "of the op or queue that it comes from")
          .optional("memory", &Pipe::memory, "whether it comes from a queue, or goes to one")
          .required("bytes", &Pipe::bytes, "for one input; 0 for what is read before the epoch")
          .required("waits", &Pipe::waits, "part of the time that kernels wait for it, mean of the cores")
          .required("moving", &Pipe::moving, "the part of that fraction in which tiles were being transferred")
          .optional("dram", &Pipe::dram, "of that the part that DRAM decided, not the networks")
          .optional("delay", &Pipe::delay, "cycles of an input in a full pipeline in which its tiles were being transferred")
          .optional("z", &Pipe::z, "of the tensor, for one input")
          .optional("y", &Pipe::y, "rows")
          .optional("x", &Pipe::x, "columns");
  return record;
}

const schema::Record<Op>& describe(const Op*) {
  static const auto record = schema::Record<Op>("an op")
                                 .required("name", &Op::name, "name in the netlist")
                                 .optional("type", &Op::type, "op type")
                                 .required("cores", &Op::cores, "how many")
                                 .optional("grid", &Op::grid, "rows and columns of them")
                                 .optional("t", &Op::t, "block of the output")
                                 .optional("mblock_m", &Op::mblock_m, "rows of ublocks")
                                 .optional("mblock_n", &Op::mblock_n, "columns of ublocks")
                                 .optional("ublock_r", &Op::ublock_r, "rows of tiles in a ublock")
                                 .optional("ublock_c", &Op::ublock_c, "columns of tiles in a ublock")
                                 .optional("m_k", &Op::m_k, "blocks of the inner dimension")
                                 .optional("u_kt", &Op::u_kt, "tiles of the inner dimension in a block")
                                 .optional("fidelity", &Op::fidelity, "math fidelity")
                                 .optional("formats", &Op::formats, "of the inputs, then of the output")
                                 .required("kernel", &Op::kernel, "cycles of a core for one input, without waiting")
                                 .optional("estimate", &Op::estimate, "the same as the balancer takes it")
                                 .optional("limiter", &Op::limiter, "the balancer's estimate with the transfers of inputs and output")
                                 .optional("math", &Op::math, "cycles of these that the math unit works")
                                 .required("busy", &Op::busy, "part of the time that kernels work, mean of the cores")
                                 .required("inputs", &Op::inputs, "by number")
                                 .required("output", &Op::output, "waits are for space");
  return record;
}

const schema::Record<Load>& describe(const Load*) {
  static const auto record = schema::Record<Load>("a link, a network interface, a half of a DRAM channel, a cable")
                                 .required("resource", &Load::resource, "its name")
                                 .required("utilisation", &Load::utilisation, "part of the time that its bytes take at its full rate")
                                 .required("bytes", &Load::bytes, "in one execution");
  return record;
}

const schema::Record<EpochSummary>& describe(const EpochSummary*) {
  static const auto record =
      schema::Record<EpochSummary>("an epoch")
          .required("graph", &EpochSummary::graph, "graphs of several chips with a comma between them")
          .required("executions", &EpochSummary::executions, "how many")
          .required("inputs", &EpochSummary::inputs, "of one execution")
          .required("total", &EpochSummary::total, "cycles of all executions")
          .optional("switching", &EpochSummary::switching, "part of `total` that passes before the last core has its program")
          .required("cycles", &EpochSummary::time, "of the last execution")
          .required("period", &EpochSummary::period, "cycles from input to input in a full pipeline")
          .required("first_input", &EpochSummary::first_input, "cycles until all ops have done with the first input")
          .required("span", &EpochSummary::span, "cycles that the causes add up to")
          .required("causes", &EpochSummary::causes, "largest first")
          .optional("limits", &EpochSummary::limits, "what limits the epoch, largest gain first")
          .optional("advice", &EpochSummary::advice, "options to set, and what they come to")
          .optional("math_utilisation", &EpochSummary::math_utilisation, "part of the time that math units work, mean of all workers")
          .required("ops", &EpochSummary::ops, "in the order of cores")
          .required("loads", &EpochSummary::loads, "most used first")
          .required("tiles", &EpochSummary::tiles, "moved in one execution")
          .required("events", &EpochSummary::events, "simulated in one execution");
  return record;
}

const schema::Record<SummaryFile>& describe(const SummaryFile*) {
  static const auto record =
      schema::Record<SummaryFile>("a report on a run in simulated time", {"buda.perf", 1})
          .optional("netlist", &SummaryFile::netlist, "name of the netlist's file, where it is known")
          .optional("netlist_digest", &SummaryFile::netlist_digest, "SHA-256 of the netlist's text, where it is known")
          .required("arch", &SummaryFile::arch, "architecture of the device")
          .required("clock_hz", &SummaryFile::clock_hz, "cycles per second")
          .required("cycles", &SummaryFile::cycles, "of all programs")
          .required("inputs", &SummaryFile::inputs, "processed; rows where the model runs in batches")
          .required("executed_inputs", &SummaryFile::executed_inputs, "inputs of graphs: batches where there are some")
          .required("inputs_per_second", &SummaryFile::inputs_per_second, "inputs over the time of all programs")
          .required("latency", &SummaryFile::latency, "cycles until the first input has left the last epoch")
          .required("epochs", &SummaryFile::epochs, "in the order of their first execution");
  return record;
}

SummaryFile summary_file(const Summary& summary) {
  return {summary.arch,
          summary.clock.hz,
          summary.time,
          summary.latency(),
          summary.samples(),
          summary.inputs,
          summary.inputs_per_second(),
          summary.epochs,
          {},
          {}};
}

std::string summary_json(const Summary& summary, const std::string& netlist_digest) {
  SummaryFile file = summary_file(summary);
  file.netlist_digest = netlist_digest;
  return io::json_pretty(schema::write(file));
}

}  // namespace buda::perf
