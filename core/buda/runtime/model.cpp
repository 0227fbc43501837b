// SPDX-License-Identifier: Apache-2.0
// Reading of what a compiled model consists of.
#include <buda/runtime/model.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/device_match.hpp>
#include <buda/image/image.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/tensor/files/raw_file.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace buda::runtime {
namespace {

// All segments of the device are programs of one netlist.
Result<void> check_segments(const host_plan::HostPlan& plan, const std::string& where) {
  const host_plan::Segment* device = nullptr;
  for (const auto& segment : plan.segments) {
    if (segment.kind == host_plan::SegmentKind::host) continue;
    if (device != nullptr && device->file != segment.file)
      return input_error("RT001", {where},
                         cat("the plan has device segments of several netlists ('", device->file, "', '", segment.file,
                             "'); they have to be programs of the same one"));
    device = &segment;
  }
  if (plan.segments.empty()) return input_error("RT001", {where}, "the plan has no segments: nothing runs");
  return success();
}

bool runs_host_graphs(const host_plan::HostPlan& plan) {
  return std::any_of(plan.segments.begin(), plan.segments.end(), [](const auto& s) { return s.kind == host_plan::SegmentKind::host; });
}

Result<netlist::Netlist> netlist_of(const image::Image& image, const std::string& path) {
  netlist::ParseOptions options;
  options.arch = image.device.plan.arch;
  return netlist::parse_netlist(image.netlist.view(), cat(path, ":", image.netlist_name), options);
}

// The graphs lie in the image with their tensors, as in a folder; messages name the image, too.
Result<HostGraphs> host_graphs_of(const image::Image& image, const host_plan::HostPlan& plan, const std::string& path) {
  if (!runs_host_graphs(plan)) return HostGraphs();
  io::MemoryFileSystem files;
  const std::string folder = path + ':';
  for (const auto& [name, data] : image.extras) files.put(folder + name, data);
  return load_host_graphs(files, plan, folder);
}

// With what the chips are connected by, which stream programs are made for where there are none.
Products products_of(image::Image image, const std::string& path) {
  Products out{path, std::move(image.build)};
  if (auto cluster = image.extras.find(image::kClusterMember); cluster != image.extras.end())
    out.files.insert_or_assign(kClusterProduct, std::move(cluster->second));
  return out;
}

// What of a netlist has names that begin with the prefix.
netlist::Netlist part_of(const netlist::Netlist& whole, const std::string& prefix) {
  netlist::Netlist out;
  out.file = whole.file;
  out.archs = whole.archs;
  out.arch = whole.arch;
  auto take = [&](const auto& from, auto& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](const auto& item) { return item.name.starts_with(prefix); });
  };
  take(whole.queues, out.queues);
  take(whole.graphs, out.graphs);
  take(whole.programs, out.programs);
  std::set<std::string> fused;
  for (const auto& g : out.graphs)
    for (const auto& op : g.ops) fused.insert(op.attributes.fused_op_id);
  std::copy_if(whole.fused_ops.begin(), whole.fused_ops.end(), std::back_inserter(out.fused_ops),
               [&](const auto& f) { return fused.contains(f.id); });
  return out;
}

}  // namespace

Model::Model() = default;
Model::Model(const Model&) = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(const Model&) = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

std::string folder_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Result<Model> load_image(const std::string& path, const io::Bytes& bytes) {
  BUDA_ASSIGN(auto image, image::read_image(bytes, path));
  return load_image(path, std::move(image));
}

Result<Model> load_image(const std::string& path, image::Image image) {
  if (!image.device.models.empty()) {
    std::vector<std::string> names;
    for (const auto& part : image.device.models) names.push_back(part.name);
    Diagnostic d = input_error("RT003", {path}, cat("the image holds several models: ", join(names, ", ")));
    d.hint = cat("choose one of them, as with --model ", names.front());
    return d;
  }
  BUDA_TRY(check_segments(image.device.plan, path));
  Model model;
  model.path = path;
  BUDA_ASSIGN(model.program.netlist, netlist_of(image, path));
  if (image.extras.contains(image::kDeviceMember)) {
    BUDA_ASSIGN(model.device, image::embedded_device(image, path));
  }
  BUDA_ASSIGN(model.host_graphs, host_graphs_of(image, image.device.plan, path));
  model.text = image.netlist;
  model.plan = std::move(image.device.plan);
  model.parameters = std::move(image.parameters);
  model.products = products_of(std::move(image), path);
  return model;
}

Result<MergedModel> load_models(const std::string& path, image::Image image) {
  MergedModel out;
  if (image.device.models.empty()) {
    BUDA_ASSIGN(out.whole, load_image(path, std::move(image)));
    out.models.push_back(out.whole);
    return out;
  }
  BUDA_ASSIGN(out.whole.program.netlist, netlist_of(image, path));
  BUDA_ASSIGN(out.whole.device, image::embedded_device(image, path));
  for (const image::ModelPart& part : image.device.models) {
    BUDA_TRY(check_segments(part.plan, path));
    Model model;
    model.path = path;
    model.device = out.whole.device;
    model.plan = part.plan;
    model.plan.model = part.name;
    model.program.netlist = part_of(out.whole.program.netlist, part.prefix);
    BUDA_ASSIGN(model.host_graphs, host_graphs_of(image, part.plan, path));
    for (const auto& [queue, tensor] : image.parameters)
      if (queue.starts_with(part.prefix)) model.parameters.emplace(queue, tensor);
    out.models.push_back(std::move(model));
  }
  out.whole.path = path;
  out.whole.text = image.netlist;
  out.whole.plan = std::move(image.device.plan);
  out.whole.products = products_of(std::move(image), path);
  return out;
}

Result<MergedModel> load_models(Host& host, const std::string& path) {
  BUDA_ASSIGN(auto bytes, host.fs().read(path));
  BUDA_ASSIGN(auto image, image::read_image(bytes, path));
  return load_models(path, std::move(image));
}

Result<Model> load_planned(Host& host, const std::string& netlist_path, const std::string& plan_path) {
  Model model;
  model.path = netlist_path;
  BUDA_ASSIGN(model.plan, host_plan::read_host_plan(host.fs(), plan_path));
  BUDA_TRY(check_segments(model.plan, plan_path));
  BUDA_ASSIGN(model.text, host.fs().read(netlist_path));
  netlist::ParseOptions options;
  options.arch = model.plan.arch;
  BUDA_ASSIGN(model.program.netlist, netlist::parse_netlist(model.text.view(), netlist_path, options));
  BUDA_ASSIGN(model.parameters, load_parameters(host, model.plan, folder_of(plan_path)));
  BUDA_ASSIGN(model.host_graphs, load_host_graphs(host.fs(), model.plan, folder_of(plan_path)));
  return model;
}

bool Model::uses_device() const {
  return std::any_of(plan.segments.begin(), plan.segments.end(),
                     [](const host_plan::Segment& s) { return s.kind == host_plan::SegmentKind::device; });
}

Result<HostGraphs> load_host_graphs(io::FileSystem& fs, const host_plan::HostPlan& plan, const std::string& folder) {
  HostGraphs out;
  for (const auto& segment : plan.segments) {
    if (segment.kind != host_plan::SegmentKind::host || out.contains(segment.file)) continue;
    BUDA_ASSIGN(auto graph, graph::read_graph(fs, folder + segment.file));
    BUDA_TRY(ops::infer_types(graph));
    BUDA_TRY(ops::check(graph));
    if (graph.level != graph::Level::tensor)
      return input_error("RT001", {folder + segment.file}, "the host executes graphs at tensor level, and this graph is at device level");
    out.emplace(segment.file, std::make_shared<const graph::Graph>(std::move(graph)));
  }
  return out;
}

namespace {

// Of a tensor file.
Result<Tensor> named_tensor(const host_plan::PlanParameter& p, const NamedTensors& file, const std::string& folder) {
  auto tensor = file.find(p.tensor);
  if (tensor == file.end())
    return input_error("RT002", {folder + p.file}, cat("parameter '", p.name, "': there is no tensor '", p.tensor, "' in the file"));
  auto shaped = tensor->second.reshaped(Shape(p.shape));
  if (shaped) return shaped;
  return input_error(
      "RT002", {folder + p.file},
      cat("parameter '", p.name, "': tensor '", p.tensor, "' is ", tensor->second.describe(), ", the plan says ", list_text(p.shape)));
}

// Of a file of any format, of which `bytes` is the content.
Result<Tensor> bare_tensor(const host_plan::PlanParameter& p, const io::Bytes& bytes, const std::string& folder) {
  const auto dtype = dtype_from_name(p.dtype);
  if (!p.tensor.empty() || !p.offset || !p.file_size || !dtype)
    return input_error("RT002", {},
                       cat("parameter '", p.name, "': 'offset', 'file_size' and a 'dtype' belong together, and instead of 'tensor'"));
  auto tensor = raw_tensor(bytes, folder + p.file, {*p.offset, *p.file_size, p.hex}, *dtype, Shape(p.shape));
  if (!tensor) {
    for (auto& d : tensor.failure().diagnostics()) d.message = cat("parameter '", p.name, "': the file ", d.message);
  }
  return tensor;
}

bool is_bare(const host_plan::PlanParameter& p) { return p.tensor.empty() || p.offset || p.file_size; }

// `find(p)`: the parameter's tensor in the model's shape.
Result<NamedTensors> queued_parameters(const host_plan::HostPlan& plan,
                                       const std::function<Result<Tensor>(const host_plan::PlanParameter&)>& find) {
  NamedTensors out;
  Failure failure;
  for (const auto& p : plan.parameters) {
    auto shaped = find(p);
    if (!shaped) {
      failure.add(std::move(shaped).failure());
      continue;
    }
    auto queued = host_plan::apply_transforms(*shaped, p.transforms);
    if (!queued) {
      for (auto& d : queued.failure().diagnostics()) d.message = cat("parameter '", p.name, "': ", d.message);
      failure.add(std::move(queued).failure());
    } else if (!out.emplace(p.queue, std::move(*queued)).second) {
      failure.add(input_error("RT002", {}, cat("parameter '", p.name, "': queue '", p.queue, "' has a parameter already")));
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace

Result<NamedTensors> load_parameters(Host& host, const host_plan::HostPlan& plan, const std::string& folder) {
  // Each file is read once.
  std::map<std::string, NamedTensors> files;
  std::map<std::string, io::Bytes> bare;
  for (const auto& p : plan.parameters) {
    if (is_bare(p) ? bare.contains(p.file) : files.contains(p.file)) continue;
    if (is_bare(p)) {
      BUDA_ASSIGN(auto bytes, host.fs().read(folder + p.file));
      bare.emplace(p.file, std::move(bytes));
    } else {
      BUDA_ASSIGN(auto tensors, read_tensors(host.fs(), folder + p.file));
      files.emplace(p.file, std::move(tensors));
    }
  }
  return queued_parameters(plan, [&](const host_plan::PlanParameter& p) {
    return is_bare(p) ? bare_tensor(p, bare.at(p.file), folder) : named_tensor(p, files.at(p.file), folder);
  });
}

Result<NamedTensors> parameters_from(const host_plan::HostPlan& plan, const std::map<std::string, NamedTensors>& files,
                                     const std::string& folder) {
  return queued_parameters(plan, [&](const host_plan::PlanParameter& p) { return named_tensor(p, files.at(p.file), folder); });
}

}  // namespace buda::runtime
