// SPDX-License-Identifier: Apache-2.0
// profile_log_device.csv and the report of ops, with the markers and columns of TT-Metal's profiler.
//
// The markers of a RISC are 1: firmware starts, 2: its kernel starts, 3: its kernel ends, 4: firmware ends. Firmware is at work from the
// beginning of the execution of an epoch to its end. NCRISC is what brings tiles to the core, BRISC what takes them away, TRISC0 to 2 are
// unpack, math and pack, which begin and end together here. What their kernels mark by themselves is between 2 and 3 (profile_zones.cpp).
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace buda::perf {
namespace {

struct Span {
  SimTime begin, end;
  void add(Span other) {
    begin = empty ? other.begin : std::min(begin, other.begin);
    end = empty ? other.end : std::max(end, other.end);
    empty = false;
  }
  bool empty = false;
};

constexpr std::array kRiscs = {"NCRISC", "BRISC", "TRISC0", "TRISC1", "TRISC2"};
constexpr std::size_t kFirstThread = 2;  // of the kernel

std::array<Span, 5> spans_of(const CoreRun& core) {
  const Span kernel{core.begin(), core.end()};
  return {Span{core.in_begin, core.in_end}, Span{core.out_begin, core.out_end}, kernel, kernel, kernel};
}

// "3-2" as column and row.
std::array<std::string, 2> place_of(const Entity& core) {
  const std::size_t dash = core.name.find('-');
  if (dash == std::string::npos) return {cat(core.col), cat(core.row)};
  return {core.name.substr(0, dash), core.name.substr(dash + 1)};
}

std::string nanoseconds(const Summary& summary, SimTime begin, SimTime end) {
  return summary.clock.hz == 0 ? "" : rounded(1e9 * summary.clock.seconds({end.ticks - begin.ticks}), 0);
}

// An op in one execution, all of its cores.
struct OpRun {
  const EpochSummary::Op* op = nullptr;
  std::int32_t chip = 0;
  std::int64_t cores = 0;
  std::array<Span, 5> riscs;
  Span kernel;
};

std::vector<OpRun> ops_of(const EpochSummary& epoch, const Execution& execution) {
  std::vector<OpRun> out;
  std::map<std::string, std::size_t> index;
  for (const CoreRun& core : execution.cores) {
    auto [it, fresh] = index.try_emplace(core.op->name, out.size());
    if (fresh) {
      out.push_back({find_op(epoch, core.op->name), core.op->chip, 0, {}, {}});
      for (Span& risc : out.back().riscs) risc.empty = true;
      out.back().kernel.empty = true;
    }
    OpRun& op = out[it->second];
    ++op.cores;
    const auto spans = spans_of(core);
    for (std::size_t r = 0; r < spans.size(); ++r) {
      op.riscs[r].add(spans[r]);
      op.kernel.add(spans[r]);
    }
  }
  out.erase(std::remove_if(out.begin(), out.end(), [](const OpRun& run) { return run.op == nullptr; }), out.end());
  return out;
}

constexpr std::array kTensorFields = {"W", "Z", "Y", "X", "LAYOUT", "DATA TYPE", "MEMORY"};
constexpr std::array kCalls = {"CompileProgram", "ConfigureDeviceWithProgram", "LaunchProgram", "ReadFromDevice",
                               "WriteToDevice",  "DumpDeviceProfileResults"};

// TT-Metal's name of a format, where it has one.
std::string tensor_type(const std::string& format) {
  static const std::map<std::string, std::string> names = {
      {"Float16_b", "BFLOAT16"}, {"Float32", "FLOAT32"}, {"RawUInt32", "UINT32"}, {"Bfp8_b", "BFLOAT8_B"}};
  const auto found = names.find(format);
  return found == names.end() ? format : found->second;
}

void add_tensor(std::vector<std::string>& fields, const EpochSummary::Pipe* pipe, const std::string& format, std::int64_t inputs,
                std::int32_t chip) {
  if (pipe == nullptr) {
    fields.insert(fields.end(), kTensorFields.size(), "");
    return;
  }
  fields.insert(fields.end(), {cat(inputs), cat(pipe->z), cat(pipe->y), cat(pipe->x), "TILE", tensor_type(format),
                               cat("dev_", chip, pipe->memory ? "_dram" : "_l1")});
}

std::vector<std::string> report_header(std::size_t inputs) {
  std::vector<std::string> out = {"OP CODE",
                                  "OP TYPE",
                                  "GLOBAL CALL COUNT",
                                  "ATTRIBUTES",
                                  "MATH FIDELITY",
                                  "CORE COUNT",
                                  "PARALLELIZATION STRATEGY",
                                  "HOST START TS",
                                  "HOST END TS",
                                  "HOST DURATION [ns]",
                                  "DEVICE FW START CYCLE",
                                  "DEVICE FW END CYCLE",
                                  "DEVICE FW DURATION [ns]",
                                  "DEVICE KERNEL DURATION [ns]",
                                  "DEVICE BRISC KERNEL DURATION [ns]",
                                  "DEVICE NCRISC KERNEL DURATION [ns]",
                                  "DEVICE TRISC0 KERNEL DURATION [ns]",
                                  "DEVICE TRISC1 KERNEL DURATION [ns]",
                                  "DEVICE TRISC2 KERNEL DURATION [ns]"};
  for (std::size_t i = 0; i < inputs; ++i)
    for (const char* field : kTensorFields) out.push_back(cat("INPUT_", i, '_', field));
  for (const char* field : kTensorFields) out.push_back(cat("OUTPUT_0_", field));
  out.push_back("CALL DEPTH");
  for (const char* call : kCalls) out.push_back(call);
  return out;
}

std::vector<std::string> report_row(const Summary& summary, const EpochSummary& epoch, const Execution& execution, const OpRun& run,
                                    std::size_t number, std::size_t inputs) {
  const EpochSummary::Op& op = *run.op;
  auto time = [&](std::size_t risc) { return nanoseconds(summary, run.riscs[risc].begin, run.riscs[risc].end); };
  std::vector<std::string> out = {op.type,
                                  "tt_dnn_device",
                                  cat(number),
                                  cat("name=", op.name, " graph=", epoch.graph, " t=", op.t, " mblock=[", op.mblock_m, ' ', op.mblock_n,
                                      "] ublock=[", op.ublock_r, ' ', op.ublock_c, ']'),
                                  op.fidelity,
                                  cat(run.cores),
                                  cat("grid ", op.grid.rows, 'x', op.grid.cols),
                                  "",
                                  "",
                                  "",
                                  cycles_text(execution.begin),
                                  cycles_text(execution.end),
                                  nanoseconds(summary, execution.begin, execution.end),
                                  nanoseconds(summary, run.kernel.begin, run.kernel.end),
                                  time(1),
                                  time(0),
                                  time(2),
                                  time(3),
                                  time(4)};
  for (std::size_t i = 0; i < inputs; ++i)
    add_tensor(out, i < op.inputs.size() ? &op.inputs[i] : nullptr, i + 1 < op.formats.size() ? op.formats[i] : "", epoch.inputs, run.chip);
  add_tensor(out, &op.output, op.formats.empty() ? "" : op.formats.back(), epoch.inputs, run.chip);
  out.push_back("1");
  out.insert(out.end(), kCalls.size(), "");
  return out;
}

}  // namespace

std::string profile_log_csv(const Summary& summary, const Executions& executions) {
  std::string out = cat("Chip clock is at ", rounded(summary.clock.hz / 1e9), " GHz\n",
                        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n");
  const ZoneMarkers zones = zone_markers(summary);
  for (const Execution& execution : executions) {
    const EpochSummary* epoch = zones.empty() ? nullptr : find_epoch(summary, execution.graph);
    for (const CoreRun& core : execution.cores) {
      const auto [x, y] = place_of(*core.core);
      const auto spans = spans_of(core);
      const EpochSummary::Op* op = epoch == nullptr ? nullptr : find_op(*epoch, core.op->name);
      for (std::size_t risc = 0; risc < spans.size(); ++risc) {
        const std::string start = cat(core.op->chip, ", ", x, ", ", y, ", ", kRiscs[risc], ", ");
        const auto add = [&](std::uint32_t marker, SimTime time) { out += cat(start, marker, ", ", cycles_text(time), '\n'); };
        add(1, execution.begin);
        add(2, spans[risc].begin);
        if (op != nullptr && risc >= kFirstThread)
          for (const ZoneStamp& stamp : zone_stamps(*op, core, risc - kFirstThread, zones)) add(stamp.marker, stamp.time);
        add(3, spans[risc].end);
        add(4, execution.end);
      }
    }
  }
  return out;
}

std::string op_report_csv(const Summary& summary, const Executions& executions) {
  std::size_t inputs = 1, number = 0;
  for (const EpochSummary& epoch : summary.epochs)
    for (const auto& op : epoch.ops) inputs = std::max(inputs, op.inputs.size());
  std::string out = csv_line(report_header(inputs));
  for (const Execution& execution : executions) {
    const EpochSummary* epoch = find_epoch(summary, execution.graph);
    if (epoch == nullptr) continue;
    for (const OpRun& run : ops_of(*epoch, execution)) out += csv_line(report_row(summary, *epoch, execution, run, ++number, inputs));
  }
  return out;
}

}  // namespace buda::perf
