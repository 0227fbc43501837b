// SPDX-License-Identifier: Apache-2.0
// The host plan: what a netlist cannot say. Which tensor feeds which queue and how it is reshaped on the way, which queue gives which
// output, and in which order the programs run. Written by the balancer, carried in the image, followed by the runner, which knows
// nothing else about the model (docs/formats/host-plan.md). It does not depend on netlists: queues are names.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/host_plan/transform.hpp>
#include <buda/io/file_system.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::host_plan {

// A tensor of the model on its way into or out of a queue. `shape` and `dtype` are the model's.
struct PlanTensor {
  std::string name;
  std::string dtype = "F32";
  std::vector<std::int64_t> shape;
  std::string queue;  // empty: only segments of the host use or give it
  std::vector<Transform> transforms;
  // Of an input: the output that it is from the second step on. With a queue it is that output's, too.
  std::string loopback = {};
  // Of an input that nothing reads, because its value was fixed when the model was imported: that value (graph/fixed_value.hpp).
  std::string fixed_value = {};
  // Of an input of numbers: the range that all elements were promised to be in when the model was compiled (graph/input_range.hpp).
  std::string value_range = {};
  // Of an input that is an index: the op that takes it, whose legal indices the range has.
  std::string index_of = {};
  // Of a graph that trains: what the input or output is for (graph/training.hpp).
  std::string training = {};
  // Of an output whose rows, along the first axis, depend on each other: the op of the model that mixes them (graph/mixed_rows.hpp).
  std::string rows_mixed_by = {};
  friend bool operator==(const PlanTensor&, const PlanTensor&) = default;
};

// A weight or constant, or the first value of a state: pushed once, before the first run. `file` is relative to the plan's folder; `tensor`
// is the name in it, or empty where the elements lie bare in a file of any format, such as the model's (tensor/raw_file.hpp): then the
// others say what lies where.
struct PlanParameter {
  std::string name;
  std::string queue;
  std::string file;
  std::string tensor;
  std::vector<std::int64_t> shape;
  std::vector<Transform> transforms;
  std::string dtype = {};
  std::optional<std::int64_t> offset = {}, file_size = {};  // bytes
  bool hex = false;                                         // as text
  friend bool operator==(const PlanParameter&, const PlanParameter&) = default;
};

enum class SegmentKind : std::uint8_t { device, host };

// Of a training step in programs: forward and backward run for all batches of a step, the optimizer once. none: the segment is all there
// is.
enum class SegmentPhase : std::uint8_t { none, forward, backward, optimizer };

// A stretch of the execution: programs of a netlist on a device, or a graph on the host's processor. A graph's inputs are, by name, inputs
// of the model, outputs of graphs before it, and `outputs` of the device; its outputs are outputs of the model, or for segments behind it.
struct Segment {
  SegmentKind kind = SegmentKind::device;
  std::string file;                   // the netlist or the graph, relative to the plan's folder
  std::vector<std::string> programs;  // of a device segment, in order; each runs once for every `batches` batches
  // Of a device segment: what comes from the host's segments before it, and what goes to those behind it.
  std::vector<PlanTensor> inputs = {}, outputs = {};
  std::int64_t batches = 1;                 // of a device segment: batches of the model that one turn of its programs takes
  SegmentPhase phase = SegmentPhase::none;  // of a device segment
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct HostPlan {
  // Compiled in one place (docs/decisions/0021).
  HostPlan();
  HostPlan(const HostPlan&);
  HostPlan(HostPlan&&) noexcept;
  HostPlan& operator=(const HostPlan&);
  HostPlan& operator=(HostPlan&&) noexcept;
  ~HostPlan();

  std::string model;   // name of the graph
  std::string device;  // name of the device descriptor it was placed for
  std::string arch;
  std::vector<PlanTensor> inputs;  // in the model's order
  std::vector<PlanTensor> outputs;
  std::vector<PlanParameter> parameters;
  std::vector<Segment> segments;
  friend bool operator==(const HostPlan&, const HostPlan&) = default;
};

const schema::EnumNames<SegmentKind>& describe_enum(const SegmentKind*);
const schema::EnumNames<SegmentPhase>& describe_enum(const SegmentPhase*);
const schema::Record<PlanTensor>& describe(const PlanTensor*);
const schema::Record<PlanParameter>& describe(const PlanParameter*);
const schema::Record<Segment>& describe(const Segment*);
const schema::Record<HostPlan>& describe(const HostPlan*);

// "digits.yaml" has its plan in "digits.plan.json".
std::string plan_file_for(const std::string& netlist_path);

Result<HostPlan> read_host_plan(io::FileSystem& fs, const std::string& path);
std::string host_plan_text(const HostPlan& plan);

// Is it a training step in programs?
bool has_phases(const HostPlan& plan);

// What a batch of the model passes through queues of the device: inputs (outputs) of the model, then those of device segments.
std::vector<const PlanTensor*> queued_inputs(const HostPlan& plan);
std::vector<const PlanTensor*> queued_outputs(const HostPlan& plan);

}  // namespace buda::host_plan

#pragma GCC visibility pop
