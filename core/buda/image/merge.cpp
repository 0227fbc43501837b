// SPDX-License-Identifier: Apache-2.0
// Checking, renaming, placing, joining.
#include <buda/image/merge.hpp>

#include "buda/image/helpful_option.hpp"
#include "buda/image/merge_netlist.hpp"

#include <buda/base/text.hpp>
#include <buda/image/device_match.hpp>
#include <buda/image/embedded_cluster.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace buda::image {
namespace {

constexpr const char* kMergedNetlist = "merged_netlist.yaml";

std::string prefix_of(std::size_t model) { return cat("model_", model, '_'); }
std::string folder_of_model(std::size_t model) { return cat("model_", model, '/'); }

// One image on its way: its netlist and plan under their new names.
struct Part {
  ModelPart model;
  netlist::Netlist netlist;
};

std::set<std::string> queues_of_host(const host_plan::HostPlan& plan) {
  std::set<std::string> out;
  for (const auto* t : host_plan::queued_inputs(plan)) out.insert(t->queue);
  for (const auto* t : host_plan::queued_outputs(plan)) out.insert(t->queue);
  return out;
}

class Merger {
 public:
  Merger(std::vector<NamedImage> images, const MergeOptions& options) : images_(std::move(images)), options_(options) {}

  Result<Merged> run() {
    BUDA_TRY(check_names());
    BUDA_TRY(check_devices());
    BUDA_TRY(check_clusters());
    std::size_t fused = 0;
    Failure failure;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      auto part = make_part(i, fused);
      if (!part) {
        failure.add(std::move(part).failure());
        continue;
      }
      fused += part->netlist.fused_ops.size();
      parts_.push_back(std::move(*part));
    }
    if (!failure.empty()) return failure;
    if (auto placed = place(parts_, options_.memory); !placed) {
      for (Diagnostic& d : placed.failure().diagnostics())
        d.hint = helpful_option(options_.memory, [&](const MemoryOptions& others) { return fits(others); });
      return std::move(placed).failure();
    }
    return join();
  }

 private:
  Result<void> check_names() const {
    if (images_.empty()) return input_error("IM031", {}, "there are no images to merge");
    std::set<std::string> names;
    for (const auto& [name, image] : images_) {
      if (!names.insert(name).second)
        return input_error("IM031", {}, cat("model '", name, "' is named twice: models of one image need different names"));
      if (!image.device.models.empty())
        return input_error("IM031", {name}, cat("the image holds several models already; merge the images of the single models"));
    }
    return success();
  }

  Result<void> check_devices() {
    Failure failure;
    const bool agree = std::all_of(images_.begin(), images_.end(),
                                   [&](const NamedImage& i) { return i.image.device.arch == images_.front().image.device.arch; });
    for (const auto& [name, image] : images_) {
      if (image.device.arch != options_.arch) {
        Diagnostic d =
            input_error("IM031", {name}, cat("the image is for architecture ", image.device.arch, ", to be merged for ", options_.arch));
        d.hint = agree ? cat("tti-merge --arch ", image.device.arch) : "compile all models for one device";
        failure.add(std::move(d));
        continue;
      }
      auto device = embedded_device(image, name);
      if (!device) {
        failure.add(std::move(device).failure());
      } else if (!device_) {
        device_ = std::move(*device);
      } else if (auto same = check_same_device(*device_, *device, name); !same) {
        for (Diagnostic& d : same.failure().diagnostics()) {
          d.message = cat(images_.front().name, " and ", name, " are for different devices: ", d.message);
          d.hint = "compile all models for one device";
        }
        failure.add(std::move(same).failure());
      }
    }
    if (!failure.empty()) return failure;
    return success();
  }

  // The merged image keeps one cluster. An image without any was made by an earlier version, and is for that of the device.
  Result<void> check_clusters() const {
    std::optional<device::Cluster> first;
    std::string first_name;
    for (const auto& [name, image] : images_) {
      BUDA_ASSIGN(auto cluster, embedded_cluster(image, *device_, name));
      if (!cluster) continue;
      if (!first) {
        first = std::move(cluster);
        first_name = name;
      } else if (*first != *cluster) {
        Diagnostic d =
            input_error("IM031", {name}, cat(first_name, " and ", name, " are for different clusters: the links between chips differ"));
        d.hint = "compile all models with the same --cluster";
        return d;
      }
    }
    return success();
  }

  Result<void> place(std::vector<Part>& parts, const MemoryOptions& options) const {
    std::vector<MemoryOfModel> memories;
    for (Part& part : parts) memories.push_back({part.model.name, &part.netlist});
    return place_queues(memories, *device_, options);
  }

  // Whether the models would fit with other options; with overlap, more queues are dynamic.
  bool fits(const MemoryOptions& others) const {
    std::vector<Part> parts = parts_;
    if (others.overlap_dynamic && !options_.memory.overlap_dynamic)
      for (Part& part : parts) make_dynamic(part.netlist, queues_of_host(part.model.plan));
    return place(parts, others).ok();
  }

  Result<Part> make_part(std::size_t i, std::size_t first_fused) {
    const auto& [name, image] = images_[i];
    netlist::ParseOptions parse;
    parse.arch = image.device.plan.arch;
    Part part;
    BUDA_ASSIGN(part.netlist, netlist::parse_netlist(image.netlist.view(), cat(name, ":", image.netlist_name), parse));
    for (const auto& g : part.netlist.graphs)
      if (g.target_device != part.netlist.graphs.front().target_device)
        return input_error("IM031", {name},
                           cat("graphs '", part.netlist.graphs.front().name, "' and '", g.name,
                               "' are on different chips; only models of one chip can be merged"));
    if (options_.memory.overlap_dynamic) make_dynamic(part.netlist, queues_of_host(image.device.plan));
    part.model = {name, prefix_of(i), image.device.microbatch, image.device.plan};
    rename_parts(part.netlist, part.model.prefix, first_fused);
    rename_parts(part.model.plan, part.model.prefix);
    for (auto& segment : part.model.plan.segments)
      segment.file = segment.kind == host_plan::SegmentKind::device ? kMergedNetlist : folder_of_model(i) + segment.file;
    return part;
  }

  Result<Merged> join() {
    Merged out;
    std::vector<netlist::Netlist> netlists;
    DeviceJson& device = out.image.device;
    for (Part& part : parts_) {
      netlists.push_back(std::move(part.netlist));
      device.models.push_back(std::move(part.model));
    }
    const netlist::Netlist whole = joined(netlists);
    out.image.netlist_name = kMergedNetlist;
    out.image.netlist = io::Bytes(netlist::write_netlist(whole));
    netlist::ParseOptions parse;
    parse.arch = options_.arch;
    BUDA_ASSIGN(out.netlist, netlist::parse_netlist(out.image.netlist.view(), kMergedNetlist, parse));
    const DeviceJson& first = images_.front().image.device;
    device.versions["openbuda_version"] = toolchain_version();
    device.name = options_.name;
    device.arch = first.arch;
    device.backend = first.backend;
    device.chip_ids = first.chip_ids;
    device.grid = first.grid;
    device.harvested_rows = first.harvested_rows;
    device.plan = joined_plan(options_.name, device.models);
    for (std::size_t i = 0; i < images_.size(); ++i) take_members(i, out);
    out.device = std::move(*device_);
    out.memory = memory_profile(out.netlist, out.device);
    return out;
  }

  void take_members(std::size_t i, Merged& out) {
    Image& image = images_[i].image;
    out.had_streams = out.had_streams || !image.build.empty();
    for (auto& [queue, tensor] : image.parameters) out.image.parameters.emplace(prefix_of(i) + queue, std::move(tensor));
    for (auto& [name, bytes] : image.extras) {
      if (name == kDeviceMember || name == kClusterMember) {
        out.image.extras.emplace(name, std::move(bytes));  // the first one; all devices are of the same kind, and all clusters equal
      } else {
        out.image.extras.emplace(folder_of_model(i) + name, std::move(bytes));
      }
    }
    for (auto& [key, value] : image.settings) out.image.settings.emplace(cat(images_[i].name, '.', key), std::move(value));
  }

  std::vector<NamedImage> images_;
  const MergeOptions& options_;
  std::optional<device::DeviceDescriptor> device_;
  std::vector<Part> parts_;
};

}  // namespace

Result<Merged> merge_images(std::vector<NamedImage> images, const MergeOptions& options) {
  return Merger(std::move(images), options).run();
}

}  // namespace buda::image
