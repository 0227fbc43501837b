// SPDX-License-Identifier: Apache-2.0
// Members, and the names under which the plan finds them.
#include <buda/runtime/model/model_image.hpp>

#include <buda/base/text.hpp>
#include <buda/device/format.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/image/device_match.hpp>
#include <buda/io/json.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/runtime/ports.hpp>

#include <utility>

namespace buda::runtime {
namespace {

image::DeviceJson describe_model(const host_plan::HostPlan& plan, const device::DeviceDescriptor& device, std::int64_t microbatch) {
  image::DeviceJson out;
  out.versions["openbuda_version"] = image::toolchain_version();
  out.name = plan.model;
  out.arch = plan.arch;
  out.chip_ids.clear();
  for (std::int32_t chip = 0; chip < device.chips; ++chip) out.chip_ids.push_back(chip);
  out.grid = device.grid();
  out.harvested_rows.assign(out.chip_ids.size(), image::harvest_mask(device));
  out.microbatch = microbatch;
  for (const host_plan::PlanTensor& t : plan.inputs) {
    out.training = out.training || t.training == graph::kTrainingParameter;
    if (t.training == graph::kTrainingTarget) out.target_shapes.push_back(t.shape);
  }
  out.plan = plan;
  return out;
}

// A graph of the host with all its tensors, as members of the image; gives the name of its file there.
Result<std::string> add_graph(graph::Graph graph, const std::string& name, image::Members& members) {
  io::MemoryFileSystem files;
  graph::forget_files(graph);
  const std::string member = cat("host_graphs/", name);
  if (!image::is_safe_name(member)) return input_error("TP002", {name}, "this file name is not allowed in an archive");
  BUDA_TRY(graph::write_graph(files, graph, member));
  for (const std::string& path : {member, graph::tensor_file_for(member)}) {
    if (!files.exists(path)) continue;
    BUDA_ASSIGN(auto bytes, files.read(path));
    if (!members.emplace(path, std::move(bytes)).second)
      return input_error("TP002", {name}, "two graphs of the plan have the same file name");
  }
  return member;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<image::Image> make_image(Model model, const device::DeviceDescriptor& board, const device::Cluster& cluster,
                                const std::string& netlist_name) {
  const device::DeviceDescriptor device = device::in_cluster(board, cluster);
  BUDA_ASSIGN(auto ports, bind_ports(model.plan, model.program.netlist, model.parameters));
  image::Image image;
  image.netlist_name = netlist_name;
  if (!image::is_safe_name(netlist_name)) return input_error("TP002", {netlist_name}, "this file name is not allowed in an archive");
  image.device = describe_model(model.plan, device, ports.microbatch);
  // Inside the image files are where the image puts them.
  for (auto& segment : image.device.plan.segments) {
    if (segment.kind == host_plan::SegmentKind::device) {
      segment.file = netlist_name;
    } else {
      BUDA_ASSIGN(segment.file, add_graph(*model.host_graphs.at(segment.file), file_name(segment.file), image.extras));
    }
  }
  image.device.plan.parameters.clear();
  image.netlist = std::move(model.text);
  image.parameters = std::move(model.parameters);
  image.extras[image::kDeviceMember] = io::Bytes(io::json_pretty(schema::write(device)));
  image.extras[image::kClusterMember] = io::Bytes(device::cluster_text(cluster));
  image.build = std::move(model.products.files);
  return image;
}

}  // namespace buda::runtime
