// SPDX-License-Identifier: Apache-2.0
// Joining, then compiling the streams again.
#include <buda/compiler/merge_models.hpp>

#include <buda/compiler/epoch_products.hpp>
#include <buda/image/embedded_cluster.hpp>
#include <buda/netlist/check/check.hpp>

#include <utility>

namespace buda::compiler {
namespace {

// For the links of the cluster that the images keep, or for the device's own.
Result<image::Members> streams_of(const image::Merged& merged, Host& host) {
  BUDA_ASSIGN(auto cluster, image::embedded_cluster(merged.image, merged.device, merged.image.device.name));
  if (!cluster) {
    BUDA_ASSIGN(cluster, device::load_cluster(host, merged.device));
  }
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make_for(merged.netlist, merged.device, std::move(*cluster), merged.device.name));
  return epoch_products(compiler, host, [] { return success(); });
}

}  // namespace

Result<image::Merged> merge_models(std::vector<image::NamedImage> images, const image::MergeOptions& options, Host& host) {
  BUDA_ASSIGN(auto merged, image::merge_images(std::move(images), options));
  Failure failure;
  for (Diagnostic& d : netlist::check_netlist(merged.netlist, merged.device))
    if (d.severity == Severity::error) failure.add(std::move(d));
  if (!failure.empty()) return failure;
  if (merged.had_streams) {
    BUDA_ASSIGN(merged.image.build, streams_of(merged, host));
  }
  return merged;
}

}  // namespace buda::compiler
