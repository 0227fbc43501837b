// Joining, then compiling the streams again.
#include <buda/compiler/merge_models.hpp>

#include <buda/compiler/epoch_products.hpp>
#include <buda/netlist/check/check.hpp>

#include <utility>

namespace buda::compiler {

Result<image::Merged> merge_models(std::vector<image::NamedImage> images, const image::MergeOptions& options, Host& host) {
  BUDA_ASSIGN(auto merged, image::merge_images(std::move(images), options));
  Failure failure;
  for (Diagnostic& d : netlist::check_netlist(merged.netlist, merged.device))
    if (d.severity == Severity::error) failure.add(std::move(d));
  if (!failure.empty()) return failure;
  if (merged.had_streams) {
    BUDA_ASSIGN(merged.image.build, epoch_products(merged.netlist, merged.device, "", merged.device.name, host, [] { return success(); }));
  }
  return merged;
}

}  // namespace buda::compiler
