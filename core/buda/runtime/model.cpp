// Reading of what a compiled model consists of.
#include <buda/runtime/model.hpp>

#include <buda/base/text.hpp>
#include <buda/device/format.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/graph_file.hpp>
#include <buda/image/image.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/io/yaml.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <algorithm>
#include <map>

namespace buda::runtime {
namespace {

// One segment at most is for the device: there is one netlist.
Result<void> check_segments(const host_plan::HostPlan& plan, const std::string& where) {
  const host_plan::Segment* device = nullptr;
  for (const auto& segment : plan.segments) {
    if (segment.kind == host_plan::SegmentKind::host) continue;
    if (device != nullptr)
      return input_error(
          "RT001", {where},
          cat("the plan has several device segments ('", device->file, "', '", segment.file, "'), which is not supported yet"));
    device = &segment;
  }
  if (plan.segments.empty()) return input_error("RT001", {where}, "the plan has no segments: nothing runs");
  return success();
}

Result<device::DeviceDescriptor> embedded_device(std::string_view text, const std::string& where) {
  BUDA_ASSIGN(auto top, io::parse_yaml(text, where));
  BUDA_ASSIGN(auto device, schema::read<device::DeviceDescriptor>(top));
  if (auto errors = device::check_device(device, {where}); !errors.empty()) return Failure(std::move(errors));
  return device;
}

}  // namespace

std::string folder_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Result<Model> load_image(const std::string& path, const io::Bytes& bytes) {
  BUDA_ASSIGN(auto image, image::read_image(bytes, path));
  return load_image(path, std::move(image));
}

Result<Model> load_image(const std::string& path, image::Image image) {
  BUDA_TRY(check_segments(image.device.plan, path));
  Model model;
  model.path = path;
  netlist::ParseOptions options;
  options.arch = image.device.plan.arch;
  BUDA_ASSIGN(model.program.netlist, netlist::parse_netlist(image.netlist.view(), cat(path, ":", image.netlist_name), options));
  if (auto member = image.extras.find(kDeviceMember); member != image.extras.end()) {
    BUDA_ASSIGN(model.device, embedded_device(member->second.view(), cat(path, ":", kDeviceMember)));
  }
  const auto& segments = image.device.plan.segments;
  if (std::any_of(segments.begin(), segments.end(), [](const auto& s) { return s.kind == host_plan::SegmentKind::host; })) {
    // The graphs lie in the image with their tensors, as in a folder.
    io::MemoryFileSystem files;
    for (const auto& [name, data] : image.extras) BUDA_TRY(files.write(name, data.view()));
    BUDA_ASSIGN(model.host_graphs, load_host_graphs(files, image.device.plan, ""));
  }
  model.text = image.netlist;
  model.plan = std::move(image.device.plan);
  model.products = {path, std::move(image.build)};
  model.parameters = std::move(image.parameters);
  return model;
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

Result<NamedTensors> load_parameters(Host& host, const host_plan::HostPlan& plan, const std::string& folder) {
  std::map<std::string, NamedTensors> files;  // each is read once
  for (const auto& p : plan.parameters) {
    if (files.contains(p.file)) continue;
    BUDA_ASSIGN(auto tensors, read_tensors(host.fs(), folder + p.file));
    files.emplace(p.file, std::move(tensors));
  }
  return parameters_from(plan, files, folder);
}

Result<NamedTensors> parameters_from(const host_plan::HostPlan& plan, const std::map<std::string, NamedTensors>& files,
                                     const std::string& folder) {
  NamedTensors out;
  Failure failure;
  for (const auto& p : plan.parameters) {
    const NamedTensors& file = files.at(p.file);
    auto tensor = file.find(p.tensor);
    if (tensor == file.end()) {
      failure.add(
          input_error("RT002", {folder + p.file}, cat("parameter '", p.name, "': there is no tensor '", p.tensor, "' in the file")));
      continue;
    }
    auto shaped = tensor->second.reshaped(Shape(p.shape));
    if (!shaped) {
      failure.add(input_error(
          "RT002", {folder + p.file},
          cat("parameter '", p.name, "': tensor '", p.tensor, "' is ", tensor->second.describe(), ", the plan says ", list_text(p.shape))));
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

}  // namespace buda::runtime
