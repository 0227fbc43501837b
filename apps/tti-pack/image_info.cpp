// SPDX-License-Identifier: Apache-2.0
// Collection and layout of an image's description.
#include "apps/tti-pack/image_info.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/ports.hpp>

#include <algorithm>
#include <utility>

namespace buda::tti_pack {

const schema::Record<InfoTensor>& describe(const InfoTensor*) {
  static const auto record =
      schema::Record<InfoTensor>("an input or output of the model")
          .required("name", &InfoTensor::name, "name in the model")
          .required("dtype", &InfoTensor::dtype, "element type in the model, as safetensors spells it")
          .required("shape", &InfoTensor::shape, "shape in the model")
          .required("queue", &InfoTensor::queue, "queue of the netlist; empty: only graphs of the host use or give it");
  return record;
}

const schema::Record<InfoGraph>& describe(const InfoGraph*) {
  static const auto record = schema::Record<InfoGraph>("a graph of the netlist")
                                 .required("name", &InfoGraph::name, "name in the netlist")
                                 .required("chip", &InfoGraph::chip, "chip that it runs on")
                                 .required("inputs_per_epoch", &InfoGraph::inputs_per_epoch, "inputs of one execution")
                                 .required("ops", &InfoGraph::ops, "number of its ops")
                                 .required("cores", &InfoGraph::cores, "workers that have an op");
  return record;
}

const schema::Record<InfoQueue>& describe(const InfoQueue*) {
  static const auto record = schema::Record<InfoQueue>("a queue of the netlist")
                                 .required("name", &InfoQueue::name, "name in the netlist")
                                 .required("kind", &InfoQueue::kind, "queue or ram")
                                 .required("input", &InfoQueue::input, "who fills it: HOST or an op")
                                 .required("entries", &InfoQueue::entries, "slots")
                                 .required("shape", &InfoQueue::shape, "of an entry: t, rows, columns")
                                 .required("format", &InfoQueue::format, "data format")
                                 .required("location", &InfoQueue::location, "dram or host")
                                 .required("bytes", &InfoQueue::bytes, "of all its buffers");
  return record;
}

const schema::Record<InfoMember>& describe(const InfoMember*) {
  static const auto record = schema::Record<InfoMember>("a file in the image")
                                 .required("name", &InfoMember::name, "name below the image's top folder")
                                 .required("bytes", &InfoMember::bytes, "size");
  return record;
}

const schema::Record<InfoModel>& describe(const InfoModel*) {
  static const auto record = schema::Record<InfoModel>("a model of an image that holds several")
                                 .required("name", &InfoModel::name, "name by which it is chosen")
                                 .required("prefix", &InfoModel::prefix, "beginning of the names of its parts in the netlist")
                                 .required("programs", &InfoModel::programs, "its programs, in order");
  return record;
}

const schema::Record<InfoSegment>& describe(const InfoSegment*) {
  static const auto record = schema::Record<InfoSegment>("a stretch of a model's execution")
                                 .required("kind", &InfoSegment::kind, "where it runs: device or host")
                                 .required("file", &InfoSegment::file, "the netlist, or the graph of the host, in the image")
                                 .optional("programs", &InfoSegment::programs, "of the device: its programs, in order");
  return record;
}

const schema::Record<ImageInfo>& describe(const ImageInfo*) {
  static const auto record = schema::Record<ImageInfo>("the description of an image", {"buda.image-info", 1})
                                 .required("versions", &ImageInfo::versions, "versions of the programs that made the image, by name")
                                 .required("model", &ImageInfo::model, "name of the model")
                                 .required("device", &ImageInfo::device, "device that it was compiled for")
                                 .required("arch", &ImageInfo::arch, "architecture of that device")
                                 .required("chip_ids", &ImageInfo::chip_ids, "chips of the device")
                                 .required("backend", &ImageInfo::backend, "kind of device: Golden, Silicon")
                                 .required("grid", &ImageInfo::grid, "its workers, rows by columns")
                                 .required("harvested_rows", &ImageInfo::harvested_rows, "for each chip a mask of NoC rows without workers")
                                 .required("training", &ImageInfo::training, "whether the model was compiled for training")
                                 .required("input_shapes", &ImageInfo::input_shapes, "shapes of the inputs, in order")
                                 .required("target_shapes", &ImageInfo::target_shapes, "shapes of the targets of training, in order")
                                 .required("settings", &ImageInfo::settings, "settings of the compiler that were in effect, by name")
                                 .required("models", &ImageInfo::models, "of a merged image, its models; else empty")
                                 .optional("segments", &ImageInfo::segments, "what runs, in order; of a merged image nothing")
                                 .required("bytes", &ImageInfo::bytes, "size of the image")
                                 .required("inputs", &ImageInfo::inputs, "what is pushed for each batch")
                                 .required("outputs", &ImageInfo::outputs, "what is popped after each batch")
                                 .required("programs", &ImageInfo::programs, "programs of the netlist that run, in order")
                                 .required("epochs", &ImageInfo::epochs, "different executions of graphs")
                                 .required("graphs", &ImageInfo::graphs, "graphs of the netlist")
                                 .required("queues", &ImageInfo::queues, "queues of the netlist")
                                 .required("parameters", &ImageInfo::parameters, "number of weights and constants")
                                 .required("parameter_bytes", &ImageInfo::parameter_bytes, "their size")
                                 .required("members", &ImageInfo::members, "files in the image");
  return record;
}

namespace {

std::vector<InfoTensor> tensors(const std::vector<host_plan::PlanTensor>& from) {
  std::vector<InfoTensor> out;
  for (const auto& t : from) out.push_back({t.name, t.dtype, t.shape, t.queue});
  return out;
}

InfoQueue queue(const netlist::Queue& q) {
  InfoQueue out;
  out.name = q.name;
  out.kind = netlist::name_of(q.kind);
  out.input = q.input;
  out.entries = q.entries;
  out.shape = runtime::entry_shape(q).dims();
  out.format = format_name(q.format);
  out.location = netlist::name_of(q.location);
  out.bytes = netlist::buffer_bytes(q) * static_cast<std::uint64_t>(q.grid.volume());
  return out;
}

InfoGraph graph(const netlist::Graph& g) {
  InfoGraph out{g.name, g.target_device, g.input_count, g.ops.size(), 0};
  for (const auto& op : g.ops) out.cores += op.grid.volume();
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

// Columns of text, padded to their widest cell; the last one as it is.
std::string table(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (widths.size() <= c) widths.push_back(0);
      widths[c] = std::max(widths[c], row[c].size());
    }
  std::string out;
  for (const auto& row : rows) {
    out += "  ";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c + 1 == row.size() ? row[c] : row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    out += '\n';
  }
  return out;
}

template <class T>
std::string list(const T& value) {
  return io::json_line(schema::write(value));
}

std::string tensor_table(const std::vector<InfoTensor>& tensors) {
  Rows rows;
  for (const auto& t : tensors)
    rows.push_back({t.name, t.dtype, list(t.shape), t.queue.empty() ? std::string("on the host") : cat("queue ", t.queue)});
  return table(rows);
}

}  // namespace

Result<ImageInfo> image_info(const image::DeviceJson& d, const image::Members& members, const netlist::Netlist& netlist,
                             std::map<std::string, std::string> settings, std::size_t file_bytes) {
  ImageInfo out;
  out.versions = d.versions;
  out.model = d.name;
  out.device = d.plan.device;
  out.arch = d.plan.arch;
  out.chip_ids = d.chip_ids;
  out.backend = d.backend;
  out.grid = d.grid;
  out.harvested_rows = d.harvested_rows;
  out.training = d.training;
  for (const auto& t : d.plan.inputs) out.input_shapes.push_back(t.shape);
  out.target_shapes = d.target_shapes;
  out.settings = std::move(settings);
  out.bytes = file_bytes;
  out.inputs = tensors(d.plan.inputs);
  out.outputs = tensors(d.plan.outputs);
  auto add_programs = [](const host_plan::HostPlan& plan, std::vector<std::string>& to) {
    for (const auto& segment : plan.segments) to.insert(to.end(), segment.programs.begin(), segment.programs.end());
  };
  add_programs(d.plan, out.programs);
  for (const auto& s : d.plan.segments)
    out.segments.push_back({s.kind == host_plan::SegmentKind::host ? "host" : "device", s.file, s.programs});
  for (const auto& part : d.models) {
    add_programs(part.plan, out.programs);
    out.models.push_back({part.name, part.prefix, {}});
    add_programs(part.plan, out.models.back().programs);
  }
  BUDA_ASSIGN(auto epochs, netlist::static_epochs(netlist));
  out.epochs = epochs.size();
  for (const auto& g : netlist.graphs) out.graphs.push_back(graph(g));
  for (const auto& q : netlist.queues) out.queues.push_back(queue(q));
  for (const auto& [name, bytes] : members) {
    out.members.push_back({name, bytes.size()});
    if (!name.starts_with("tensors/")) continue;
    ++out.parameters;
    out.parameter_bytes += bytes.size();
  }
  return out;
}

namespace {

// The names of TT-Buda's enumerations: "Wormhole_B0".
std::string enum_name(const std::string& arch) {
  std::string out = arch;
  bool first = true;
  for (char& c : out) {
    if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    first = c == '_';
  }
  return out;
}

// "[0]" for whole chips, the mask of a single chip alone, else one for each.
std::string harvested_text(const std::vector<std::int64_t>& masks) {
  if (std::all_of(masks.begin(), masks.end(), [](auto mask) { return mask == 0; })) return "[0]";
  return masks.size() == 1 ? cat(masks.front()) : list(masks);
}

std::string guide_sections(const ImageInfo& info) {
  std::string out = "Image Info...\n- Version Info:\n";
  for (const auto& [name, version] : info.versions) out += cat("      - ", name, ": ", version, '\n');
  out += cat("- Device Name: ", info.device.empty() ? info.model : info.device, "\n\nDevice Info...\n");
  out += cat("- arch: BackendDevice.", enum_name(info.arch), "\n- chip_ids: ", list(info.chip_ids), '\n');
  out += cat("- backend device type: BackendType.", info.backend, "\n- grid size: ", list(info.grid), '\n');
  out += cat("- harvested rows: ", harvested_text(info.harvested_rows), "\n\nCompilation Graph State...\n");
  out += cat("- training: ", info.training ? "True" : "False", "\n- ordered input shapes: ", list(info.input_shapes), '\n');
  return out + cat("- ordered targets shapes: ", list(info.target_shapes), '\n');
}

}  // namespace

std::string image_info_text(const ImageInfo& info) {
  std::string out = cat(guide_sections(info), "\nmodel ", info.model, ", ", bytes_text(info.bytes), '\n');
  if (!info.models.empty()) {
    Rows rows = {{"name", "prefix", "programs"}};
    for (const auto& m : info.models) rows.push_back({m.name, m.prefix, list(m.programs)});
    out += cat("\nmodels\n", table(rows));
  }
  if (info.segments.size() > 1) {
    Rows rows = {{"runs on", "programs", "file"}};
    for (const auto& s : info.segments) rows.push_back({s.kind, s.programs.empty() ? "" : join(s.programs, ", "), s.file});
    out += cat("\nsegments, in order\n", table(rows));
  }
  out += cat("\ninputs\n", tensor_table(info.inputs), "\noutputs\n", tensor_table(info.outputs));
  Rows rows = {{"name", "chip", "ops", "cores", "inputs per epoch"}};
  for (const auto& g : info.graphs) rows.push_back({g.name, cat(g.chip), cat(g.ops), cat(g.cores), cat(g.inputs_per_epoch)});
  out += cat("\ngraphs (", info.epochs, info.epochs == 1 ? " epoch" : " epochs", "; programs ", list(info.programs), ")\n", table(rows));
  rows = {{"name", "kind", "entries", "entry", "format", "in", "size", "from"}};
  for (const auto& q : info.queues)
    rows.push_back({q.name, q.kind, cat(q.entries), list(q.shape), q.format, q.location, bytes_text(q.bytes), q.input});
  out += cat("\nqueues\n", table(rows));
  rows.clear();
  for (const auto& [name, value] : info.settings) rows.push_back({name, value});
  if (!rows.empty()) out += cat("\nsettings\n", table(rows));
  rows.clear();
  for (const auto& m : info.members) rows.push_back({bytes_text(m.bytes), m.name});
  return out + cat("\nmembers\n", table(rows));
}

}  // namespace buda::tti_pack
