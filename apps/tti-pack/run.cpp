// Packing.
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/device/format.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph_file.hpp>
#include <buda/graph/refer.hpp>
#include <buda/image/image.hpp>
#include <buda/io/json.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/ports.hpp>

#include <utility>

namespace buda::tti_pack {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Everything below `folder`, by its path from there.
Result<void> collect(io::FileSystem& fs, const std::string& folder, const std::string& prefix, int depth, image::Members& out) {
  constexpr int kDeepest = 40;
  if (depth > kDeepest) return input_error("TP002", {folder}, cat("folders are nested more than ", kDeepest, " deep"));
  BUDA_ASSIGN(auto names, fs.list(folder));
  for (const auto& name : names) {
    const std::string path = cat(folder, '/', name);
    if (fs.is_directory(path)) {
      BUDA_TRY(collect(fs, path, cat(prefix, name, '/'), depth + 1, out));
    } else if (!name.ends_with(".d") && !name.ends_with(".log")) {
      BUDA_ASSIGN(auto bytes, fs.read(path));
      if (!image::is_safe_name(cat(prefix, name))) return input_error("TP002", {path}, "the name of this file cannot stand in an archive");
      out.emplace(cat(prefix, name), std::move(bytes));
    }
  }
  return success();
}

Result<image::DeviceJson> describe_model(const netlist::HostPlan& plan, const device::DeviceDescriptor& device, std::int64_t microbatch) {
  image::DeviceJson out;
  out.name = plan.model;
  out.arch = plan.arch;
  out.chip_ids.clear();
  for (std::int32_t chip = 0; chip < device.chips; ++chip) out.chip_ids.push_back(chip);
  out.grid = device.grid();
  std::int64_t mask = 0;
  for (auto y : device.harvested_y)
    if (y >= 0 && y < 62) mask |= std::int64_t{1} << y;
  out.harvested_rows.assign(out.chip_ids.size(), mask);
  out.microbatch = microbatch;
  out.plan = plan;
  return out;
}

Result<device::DeviceDescriptor> descriptor(const Options& o, const netlist::HostPlan& plan, Host& host) {
  auto device = device::load_device(host, o.device.empty() ? plan.device : o.device);
  if (!device && o.device.empty())
    for (auto& d : device.failure().diagnostics()) d.hint = "name the descriptor with --device FILE";
  if (!device) return device;
  if (device->arch != plan.arch)
    return input_error("TP003", {},
                       cat("the plan is for architecture '", plan.arch, "', device '", device->name, "' is a '", device->arch, "'"));
  if (device->name != plan.device)
    host.report(warning("TP004", {}, cat("the plan was made for device '", plan.device, "'; the image is for '", device->name, "'")));
  return device;
}

// A graph of the host with all its tensors, as members of the image; gives the name of its file there.
Result<std::string> add_graph(graph::Graph graph, const std::string& name, image::Members& members) {
  io::MemoryFileSystem files;
  graph::forget_files(graph);
  const std::string member = cat("host_graphs/", name);
  if (!image::is_safe_name(member)) return input_error("TP002", {name}, "the name of this file cannot stand in an archive");
  BUDA_TRY(graph::write_graph(files, graph, member));
  for (const std::string& path : {member, graph::tensor_file_for(member)}) {
    if (!files.exists(path)) continue;
    BUDA_ASSIGN(auto bytes, files.read(path));
    if (!members.emplace(path, std::move(bytes)).second)
      return input_error("TP002", {name}, "two graphs of the plan have the same file name");
  }
  return member;
}

}  // namespace

Result<void> pack(const Options& o, Host& host) {
  if (o.netlist.empty()) return usage_error("TP001", "option --netlist: the netlist to pack is missing");
  if (o.output.empty()) return usage_error("TP001", "option -o: the image to write is missing");
  const std::string plan_path = o.plan.empty() ? netlist::plan_file_for(o.netlist) : o.plan;
  BUDA_ASSIGN(auto model, runtime::load_planned(host, o.netlist, plan_path));
  BUDA_ASSIGN(auto ports, runtime::bind_ports(model.plan, model.program.netlist, model.parameters));
  BUDA_ASSIGN(auto device, descriptor(o, model.plan, host));

  image::Image image;
  image.netlist_name = o.netlist == io::kStdStream ? "netlist.yaml" : file_name(o.netlist);
  if (!image::is_safe_name(image.netlist_name))
    return input_error("TP002", {o.netlist}, "the name of this file cannot stand in an archive");
  BUDA_ASSIGN(image.device, describe_model(model.plan, device, ports.microbatch));
  // Inside the image files are where the image puts them.
  for (auto& segment : image.device.plan.segments) {
    if (segment.kind == netlist::SegmentKind::device) {
      segment.file = image.netlist_name;
    } else {
      BUDA_ASSIGN(segment.file, add_graph(model.host_graphs.at(segment.file), file_name(segment.file), image.extras));
    }
  }
  image.device.plan.parameters.clear();
  image.netlist = model.text;
  image.parameters = std::move(model.parameters);
  image.extras[runtime::kDeviceMember] = io::Bytes(io::json_pretty(schema::write(device)));
  if (!o.build.empty()) BUDA_TRY(collect(host.fs(), o.build, "", 0, image.build));

  std::size_t weights = 0;
  for (const auto& [queue, tensor] : image.parameters) weights += tensor.bytes().size();
  host.log(1, cat(image.parameters.size(), " parameters (", bytes_text(weights), "), ", image.build.size(), " compiled files"));
  BUDA_ASSIGN(auto out, host.fs().create(o.output, host.write_mode));
  BUDA_TRY(image::write_image(*out, std::move(image)));
  return out->commit();
}

}  // namespace buda::tti_pack
