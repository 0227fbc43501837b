// SPDX-License-Identifier: Apache-2.0
// Packing.
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/load.hpp>
#include <buda/image/image.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/model/model_image.hpp>
#include <buda/runtime/streams.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>

namespace buda::tti_pack {
namespace {

// Make's mark that the folder is done (share/make/buda.mk).
constexpr std::string_view kStamp = "stamp";

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Everything below `folder`, by its path from there.
Result<void> collect(io::FileSystem& fs, const std::string& folder, const std::string& prefix, int depth, image::Members& out) {
  constexpr int kDeepest = 40;
  if (depth > kDeepest) return input_error("TP002", {folder}, cat("folders are nested more than ", kDeepest, " deep"));
  BUDA_TRY(io::require_whole(fs, folder));
  BUDA_ASSIGN(auto names, fs.list(folder));
  for (const auto& name : names) {
    const std::string path = cat(folder, '/', name);
    if (name == io::kFileList) continue;
    if (fs.is_directory(path)) {
      BUDA_TRY(collect(fs, path, cat(prefix, name, '/'), depth + 1, out));
    } else if (!name.ends_with(".d") && !name.ends_with(".log") && name != kStamp) {
      BUDA_ASSIGN(auto bytes, fs.read(path));
      if (!image::is_safe_name(cat(prefix, name))) return input_error("TP002", {path}, "this file name is not allowed in an archive");
      out.emplace(cat(prefix, name), std::move(bytes));
    }
  }
  return success();
}

Result<device::DeviceDescriptor> descriptor(const Options& o, const host_plan::HostPlan& plan, Host& host) {
  auto device = device::load_device(host, o.device.empty() ? plan.device : o.device);
  if (!device && o.device.empty())
    for (auto& d : device.failure().diagnostics()) {
      d.fault = Fault::input;  // of the plan
      d.hint = "name the descriptor with --device FILE";
    }
  if (!device) return device;
  if (device->arch != plan.arch)
    return input_error("TP003", {},
                       cat("the plan is for architecture '", plan.arch, "', device '", device->name, "' is a '", device->arch, "'"));
  if (device->name != plan.device)
    host.report(warning("TP004", {}, cat("the plan was made for device '", plan.device, "'; the image is for '", device->name, "'")));
  return device;
}

// Of another netlist, a target would refuse them when the image runs.
Result<void> check_streams(const runtime::Model& model, const device::DeviceDescriptor& device, Host& host) {
  if (!runtime::has_streams(model.products)) return success();
  runtime::Program program = model.program;
  return runtime::complete_program(program, {.streams = true}, model.products, device, host);
}

image::TensorStore store_of(const Options& o) {
  using image::TensorStore;
  if (o.tilized || o.tensors == "backend_tilized") return TensorStore::tilized;
  return o.tensors == "npy" ? TensorStore::npy : o.tensors == "safetensors" ? TensorStore::safetensors : TensorStore::raw;
}

}  // namespace

Result<void> pack(const Options& o, Host& host) {
  if (o.netlist.empty()) return usage_error("TP001", "option --netlist: the netlist to pack is missing");
  const std::string plan_path = o.plan.empty() ? host_plan::plan_file_for(o.netlist) : o.plan;
  host.progress("reading the netlist", 0, 0);
  BUDA_ASSIGN(auto model, runtime::load_planned(host, o.netlist, plan_path));
  BUDA_ASSIGN(auto device, descriptor(o, model.plan, host));
  if (!o.build.empty()) {
    model.products.where = o.build;
    BUDA_TRY(collect(host.fs(), o.build, "", 0, model.products.files));
    BUDA_TRY(check_streams(model, device, host));
  }
  BUDA_ASSIGN(auto cluster, device::load_cluster(host, device, o.cluster));
  const std::string netlist_name = o.netlist == io::kStdStream ? "netlist.yaml" : file_name(o.netlist);
  BUDA_ASSIGN(image::Image image, runtime::make_image(std::move(model), device, cluster, netlist_name));

  for (const std::string& file : o.settings) {
    BUDA_ASSIGN(auto settings, compiler::read_settings(host.fs(), file));
    image.settings.merge(settings);
  }

  std::size_t weights = 0;
  for (const auto& [queue, tensor] : image.parameters) weights += tensor.bytes().size();
  host.log(1, cat(image.parameters.size(), " parameters (", bytes_text(weights), "), ", image.build.size(), " compiled files"));
  host.progress("writing", 0, 0);
  BUDA_ASSIGN(auto out, host.fs().create(image_path(o), host.write_mode));
  BUDA_TRY(image::write_image(*out, std::move(image), host.threads, store_of(o)));
  return out->commit();
}

}  // namespace buda::tti_pack
