// SPDX-License-Identifier: Apache-2.0
// What --dump and --trace see of a device at work.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/device/trace.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::runner {

class Watch final : public runtime::Observer {
 public:
  // Keeps the outputs of these ops (all: of every op); writes executed graphs and moved pointers into `trace`, which may be null.
  Watch(std::vector<std::string> ops, bool all, runtime::Trace* trace) : ops_(std::move(ops)), all_(all), trace_(trace) {}

  bool wants(const netlist::Op& op) const override;
  void made(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, const Tensor& value) override;
  void executes(const netlist::Graph& graph, const netlist::Execution& execution,
                const std::map<std::string, runtime::QueuePointers>& queues) override;
  void allocated(const netlist::Queue& queue) override;
  void moved(const netlist::Queue& queue, std::int64_t read) override;

  // By op: (w, z, r, c), w counting its inputs over the whole run.
  Result<NamedTensors> dumped() const;

 private:
  std::vector<std::string> ops_;
  bool all_;
  runtime::Trace* trace_;
  std::map<std::string, std::vector<Tensor>> made_;
};

}  // namespace buda::runner
