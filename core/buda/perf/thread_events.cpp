// SPDX-License-Identifier: Apache-2.0
// What the threads of each core did, input by input: perf_postprocess.json of TT-Buda's backend. Its text is appended piece by piece, for
// a tree of nodes with every input of every core took longer than all other files of a run.
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <initializer_list>

namespace buda::perf {
namespace {

std::string quoted(const std::string& text) { return io::json_line(io::Node::string(text)); }

void add(std::string& out, std::initializer_list<TextPiece> pieces) {
  for (const TextPiece& piece : pieces) append_text(out, piece);
}

std::uint64_t whole_cycles(SimTime time) { return time.ticks / SimTime::kPerCycle; }

std::string cycles_between(SimTime begin, SimTime end) { return rounded(end.cycles() - begin.cycles()); }

// The share of an input's time in which the matrix unit or the SFPU works.
std::string share_of(double math, SimTime begin, SimTime end) {
  constexpr int kDecimals = 6;
  const double cycles = end.cycles() - begin.cycles();
  return rounded(cycles <= 0 ? 0 : math / cycles, kDecimals);
}

void add_event(std::string& out, SimTime begin, SimTime end) {
  add(out, {"{\"start\": ", whole_cycles(begin), ", \"end\": ", whole_cycles(end), ", \"diff\": ", whole_cycles(end) - whole_cycles(begin),
            '}'});
}

// An object of a thread: a line for each of its events.
void begin_thread(std::string& out, std::string_view name) { add(out, {"    \"", name, "\": {\n"}); }
void end_thread(std::string& out) { out += "      \"out-of-memory\": false\n    },\n"; }

void add_unpack(std::string& out, const CoreRun& core) {
  begin_thread(out, "T0");
  for (const InputRun& in : core.inputs) {
    add(out, {"      \"unpack-first-block-input-", in.input, "\": "});
    add_event(out, in.begin, in.begin);
    out += ",\n";
  }
  end_thread(out);
}

void add_math(std::string& out, const CoreRun& core, double math) {
  const std::string activity = rounded(math);
  begin_thread(out, "T1");
  for (const InputRun& in : core.inputs)
    add(out, {"      \"math-counters-input-", in.input, "\": {\"total-period\": ", cycles_between(in.begin, in.end),
              ", \"math-activity\": ", activity, ", \"math-utilization\": ", share_of(math, in.begin, in.end), "},\n"});
  end_thread(out);
}

void add_pack(std::string& out, const CoreRun& core) {
  begin_thread(out, "T2");
  for (const InputRun& in : core.inputs) {
    add(out, {"      \"pack-end-outer-loop-input-", in.input, "\": "});
    add_event(out, in.begin, in.end);
    out += ",\n";
  }
  end_thread(out);
}

// NCRISC moves tiles in and BRISC moves them out.
void add_streams(std::string& out, std::string_view name, SimTime begin, SimTime end) {
  begin_thread(out, name);
  out += "      \"epoch\": ";
  add_event(out, begin, end);
  out += ",\n";
  end_thread(out);
}

void add_inputs(std::string& out, const CoreRun& core, double math) {
  const std::string activity = rounded(math);
  out += "    \"per-thread-events\": {";
  const char* separator = "\n";
  for (const InputRun& in : core.inputs) {
    add(out, {separator, "      \"input-", in.input, "\": {\"first-unpack-to-last-pack\": ", cycles_between(in.begin, in.end),
              ", \"first-unpack\": ", whole_cycles(in.begin), ", \"last-pack\": ", whole_cycles(in.end),
              ", \"kernel-work\": ", rounded(in.work.cycles()), ", \"math-activity\": ", activity,
              ", \"math-utilization\": ", share_of(math, in.begin, in.end), '}'});
    separator = ",\n";
  }
  out += "\n    }\n";
}

}  // namespace

std::string label_of(const CoreRun& core) { return cat(core.core->name, '-', core.op->name); }

std::string thread_events_json(const EpochSummary& epoch, const Execution& execution, const io::Node& of_epoch) {
  std::string out = "{\n";
  for (const CoreRun& core : execution.cores) {
    const EpochSummary::Op* op = find_op(epoch, core.op->name);
    const double math = op == nullptr ? 0 : op->math;
    add(out, {"  ", quoted(label_of(core)), ": {\n"});
    add_unpack(out, core);
    add_math(out, core, math);
    add_pack(out, core);
    add_streams(out, "NCRISC", core.in_begin, core.in_end);
    add_streams(out, "BRISC", core.out_begin, core.out_end);
    add_inputs(out, core, math);
    out += "  },\n";
  }
  add(out, {"  \"per-epoch-events\": ", io::json_line(of_epoch), "\n}\n"});
  return out;
}

}  // namespace buda::perf
