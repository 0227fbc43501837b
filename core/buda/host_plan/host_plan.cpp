// SPDX-License-Identifier: Apache-2.0
// Reading and writing of host plans.
#include <buda/host_plan/host_plan.hpp>

#include <buda/io/json.hpp>

#include <algorithm>

namespace buda::host_plan {

HostPlan::HostPlan() = default;
HostPlan::HostPlan(const HostPlan&) = default;
HostPlan::HostPlan(HostPlan&&) noexcept = default;
HostPlan& HostPlan::operator=(const HostPlan&) = default;
HostPlan& HostPlan::operator=(HostPlan&&) noexcept = default;
HostPlan::~HostPlan() = default;

const schema::EnumNames<SegmentKind>& describe_enum(const SegmentKind*) {
  static const schema::EnumNames<SegmentKind> names = {{SegmentKind::device, "device"}, {SegmentKind::host, "host"}};
  return names;
}

const schema::EnumNames<SegmentPhase>& describe_enum(const SegmentPhase*) {
  static const schema::EnumNames<SegmentPhase> names = {{SegmentPhase::none, "none"},
                                                        {SegmentPhase::forward, "forward"},
                                                        {SegmentPhase::backward, "backward"},
                                                        {SegmentPhase::optimizer, "optimizer"}};
  return names;
}

const schema::Record<PlanTensor>& describe(const PlanTensor*) {
  static const auto record =
      schema::Record<PlanTensor>("an input or output of the model")
          .required("name", &PlanTensor::name, "name in the model")
          .required("dtype", &PlanTensor::dtype, "element type in the model, as safetensors spells it")
          .required("shape", &PlanTensor::shape, "shape in the model")
          .optional("queue", &PlanTensor::queue, "queue of the netlist; absent: only segments of the host use or give it")
          .optional("transforms", &PlanTensor::transforms,
                    "steps from the model's tensor to the queue's (inputs), or from the queue's to the model's (outputs)")
          .optional("loopback", &PlanTensor::loopback, "of an input: the output whose value it has from the second step on")
          .optional("fixed_value", &PlanTensor::fixed_value,
                    "of an input: the value that was fixed when the model was imported, which another one given at run time contradicts")
          .optional("value_range", &PlanTensor::value_range,
                    "of an input of numbers: LEAST:MOST, the range that all elements given at run time have to be in")
          .optional("index_of", &PlanTensor::index_of, "of an input of indices with a value_range: the op that refuses all others")
          .optional("training", &PlanTensor::training, "of a training step: what it is for, such as target, parameter or loss")
          .optional("rows_mixed_by", &PlanTensor::rows_mixed_by,
                    "of an output whose rows depend on each other: the op of the model that mixes them; only as many as compiled run");
  return record;
}

const schema::Record<PlanParameter>& describe(const PlanParameter*) {
  static const auto record =
      schema::Record<PlanParameter>("a weight or constant of the model, or the first value of a state")
          .required("name", &PlanParameter::name, "name in the graph")
          .required("queue", &PlanParameter::queue, "queue of the netlist")
          .required("file", &PlanParameter::file, "safetensors file, or with 'offset' any file; relative to the plan's folder")
          .optional("tensor", &PlanParameter::tensor, "name in that file")
          .optional("offset", &PlanParameter::offset, "instead of 'tensor': where in the file the bare elements begin, in bytes")
          .optional("file_size", &PlanParameter::file_size, "with 'offset': bytes of the file, which show whether it was replaced")
          .optional("hex", &PlanParameter::hex, "with 'offset': the elements' bytes are text there, two hexadecimal digits each")
          .optional("dtype", &PlanParameter::dtype, "with 'offset': element type, as safetensors spells it")
          .required("shape", &PlanParameter::shape, "shape in the model; the file's tensor has as many elements")
          .optional("transforms", &PlanParameter::transforms, "steps from the tensor to the queue");
  return record;
}

const schema::Record<Segment>& describe(const Segment*) {
  static const auto record =
      schema::Record<Segment>("a stretch of the execution")
          .required("kind", &Segment::kind, "where it runs")
          .required("file", &Segment::file, "netlist (device) or graph (host), relative to the plan's folder")
          .optional("programs", &Segment::programs, "programs of the netlist, in the order in which they run")
          .optional("batches", &Segment::batches, "batches of the model that one iteration of the programs' loop processes")
          .optional("inputs", &Segment::inputs, "of the device: values of earlier host segments")
          .optional("outputs", &Segment::outputs, "of the device: values for later host segments")
          .optional("phase", &Segment::phase,
                    "of a training step in programs: forward and backward run for all batches of a step, the optimizer once");
  return record;
}

const schema::Record<HostPlan>& describe(const HostPlan*) {
  static const auto record = schema::Record<HostPlan>("a host plan", {"buda.host-plan", 1})
                                 .required("model", &HostPlan::model, "name of the model")
                                 .required("device", &HostPlan::device, "name of the device it was placed for")
                                 .required("arch", &HostPlan::arch, "architecture of that device")
                                 .required("inputs", &HostPlan::inputs, "what is pushed for each batch, in the model's order")
                                 .required("outputs", &HostPlan::outputs, "what is popped after each batch, in the model's order")
                                 .required("parameters", &HostPlan::parameters, "what is pushed once")
                                 .required("segments", &HostPlan::segments, "what runs, in order");
  return record;
}

bool has_phases(const HostPlan& plan) {
  return std::any_of(plan.segments.begin(), plan.segments.end(), [](const Segment& s) { return s.phase != SegmentPhase::none; });
}

std::string plan_file_for(const std::string& netlist_path) {
  std::string stem = netlist_path;
  auto dot = stem.rfind('.');
  auto slash = stem.rfind('/');
  if (dot != std::string::npos && (slash == std::string::npos || dot > slash + 1)) stem.resize(dot);
  return stem + ".plan.json";
}

Result<HostPlan> read_host_plan(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(auto bytes, fs.read(path));
  BUDA_ASSIGN(auto node, io::parse_json(bytes.view(), path));
  return schema::read<HostPlan>(node);
}

namespace {

std::vector<const PlanTensor*> queued(const std::vector<PlanTensor>& model, const std::vector<Segment>& segments,
                                      std::vector<PlanTensor> Segment::*passing) {
  std::vector<const PlanTensor*> out;
  for (const PlanTensor& t : model)
    if (!t.queue.empty()) out.push_back(&t);
  for (const Segment& s : segments)
    for (const PlanTensor& t : s.*passing) out.push_back(&t);
  return out;
}

}  // namespace

std::vector<const PlanTensor*> queued_inputs(const HostPlan& plan) { return queued(plan.inputs, plan.segments, &Segment::inputs); }
std::vector<const PlanTensor*> queued_outputs(const HostPlan& plan) { return queued(plan.outputs, plan.segments, &Segment::outputs); }

std::string host_plan_text(const HostPlan& plan) { return io::json_pretty(schema::write(plan)); }

}  // namespace buda::host_plan
