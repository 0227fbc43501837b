// SPDX-License-Identifier: Apache-2.0
// A run of three epochs: the second has an op of each fault, the third two graphs.
#pragma once

#include "apps/perf-analyzer/load.hpp"

#include <string>

namespace buda::perf_analyzer {

inline perf::EpochSummary::Op an_op(const std::string& name, const std::string& type, std::uint64_t kernel) {
  perf::EpochSummary::Op op;
  op.name = name;
  op.type = type;
  op.cores = 2;
  op.grid = {2, 1};
  op.m_k = 4;
  op.u_kt = 2;
  op.kernel = perf::SimTime::from_cycles(kernel);
  op.estimate = static_cast<double>(kernel) - 10;
  op.limiter = static_cast<double>(kernel) + 10;
  op.math = static_cast<double>(kernel) / 2;
  op.inputs.resize(1);
  op.inputs[0].bytes = 1000;
  op.output.bytes = 500;
  return op;
}

inline perf::EpochSummary an_epoch(const std::string& graph) {
  perf::EpochSummary epoch;
  epoch.graph = graph;
  epoch.executions = 3;
  epoch.inputs = 4;
  epoch.total = perf::SimTime::from_cycles(3000);
  epoch.time = perf::SimTime::from_cycles(1000);
  epoch.period = perf::SimTime::from_cycles(220);
  epoch.math_utilisation = 0.25;
  return epoch;
}

inline Run a_run() {
  Run run;
  run.report.arch = "wormhole_b0";
  run.report.clock_hz = 1e9;
  run.report.cycles = perf::SimTime::from_cycles(9000);
  run.report.inputs = 24;  // batches of two
  run.report.executed_inputs = 12;
  run.report.inputs_per_second = 2'666'666;
  auto first = an_epoch("fwd_0");
  first.ops = {an_op("embedding", "embedding", 100)};
  auto second = an_epoch("fwd_1");
  auto slow = an_op("encoder.layer.0.attention.self.query.matmul.with.a.very.long.name", "matmul", 150);
  slow.u_kt = 1;
  slow.math = 9;
  slow.inputs.resize(2);
  slow.inputs[1].bytes = 2000;
  slow.inputs[1].moving = 0.2;  // 50 cycles for an input
  slow.inputs[1].memory = true;
  slow.inputs[1].dram = 0.15;
  second.ops = {an_op("softmax.exp", "exp", 120), slow};
  second.causes = {{"reads of input 1", 0.5, perf::EpochSummary::Cause::Kind::read, slow.name, 1, perf::SimTime::from_cycles(500)}};
  second.advice = {"--set 'op." + slow.name + ".grid=[4,1]' predicts 90 cycles per input", "--microbatch 16 predicts 99 cycles per input"};
  auto third = an_epoch("fwd_2, fwd_3");
  third.ops = {an_op("left", "matmul", 80), an_op("right", "matmul", 40)};
  run.report.epochs = {first, second, third};
  run.epochs = run.report.epochs;
  return run;
}

}  // namespace buda::perf_analyzer
