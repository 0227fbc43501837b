// Reading of what a compiled model consists of.
#include <buda/runtime/model.hpp>

#include <buda/base/text.hpp>
#include <buda/device/format.hpp>
#include <buda/device/load.hpp>
#include <buda/image/image.hpp>
#include <buda/io/yaml.hpp>
#include <buda/netlist/parse.hpp>

#include <map>

namespace buda::runtime {
namespace {

// The one device segment; what else there may be is for later.
Result<const netlist::Segment*> device_segment(const netlist::HostPlan& plan, const std::string& where) {
  const netlist::Segment* device = nullptr;
  for (const auto& segment : plan.segments) {
    if (segment.kind == netlist::SegmentKind::host)
      return input_error("RT001", {where},
                         cat("the plan runs graph '", segment.file,
                             "' on the host's processor, which is not supported yet; only models that run on the device as a whole are"));
    if (device != nullptr)
      return input_error(
          "RT001", {where},
          cat("the plan has several device segments ('", device->file, "', '", segment.file, "'), which is not supported yet"));
    device = &segment;
  }
  if (device == nullptr) return input_error("RT001", {where}, "the plan has no segments: nothing runs");
  return device;
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
  BUDA_TRY(device_segment(image.device.plan, path));
  Model model;
  model.path = path;
  netlist::ParseOptions options;
  options.arch = image.device.plan.arch;
  BUDA_ASSIGN(model.program.netlist, netlist::parse_netlist(image.netlist.view(), cat(path, ":", image.netlist_name), options));
  if (auto member = image.extras.find(kDeviceMember); member != image.extras.end()) {
    BUDA_ASSIGN(model.device, embedded_device(member->second.view(), cat(path, ":", kDeviceMember)));
  }
  model.text = image.netlist;
  model.plan = std::move(image.device.plan);
  model.program.files = std::move(image.build);
  model.parameters = std::move(image.parameters);
  return model;
}

Result<Model> load_planned(Host& host, const std::string& netlist_path, const std::string& plan_path) {
  Model model;
  model.path = netlist_path;
  BUDA_ASSIGN(model.plan, netlist::read_host_plan(host.fs(), plan_path));
  BUDA_TRY(device_segment(model.plan, plan_path));
  BUDA_ASSIGN(model.text, host.fs().read(netlist_path));
  netlist::ParseOptions options;
  options.arch = model.plan.arch;
  BUDA_ASSIGN(model.program.netlist, netlist::parse_netlist(model.text.view(), netlist_path, options));
  BUDA_ASSIGN(model.parameters, load_parameters(host, model.plan, folder_of(plan_path)));
  return model;
}

Result<NamedTensors> load_parameters(Host& host, const netlist::HostPlan& plan, const std::string& folder) {
  std::map<std::string, NamedTensors> files;  // each is read once
  NamedTensors out;
  Failure failure;
  for (const auto& p : plan.parameters) {
    auto file = files.find(p.file);
    if (file == files.end()) {
      BUDA_ASSIGN(auto tensors, read_tensors(host.fs(), folder + p.file));
      file = files.emplace(p.file, std::move(tensors)).first;
    }
    auto tensor = file->second.find(p.tensor);
    if (tensor == file->second.end()) {
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
    auto queued = netlist::apply_transforms(*shaped, p.transforms);
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
