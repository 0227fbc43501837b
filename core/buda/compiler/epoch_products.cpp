// Epoch by epoch, as many at a time as there are threads.
#include <buda/compiler/epoch_products.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/overlay/blob_file.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/pipes/format/pipes_file.hpp>
#include <buda/pipes/reports/reports.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::compiler {
namespace {

Result<void> check_rules(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host) {
  Failure failure;
  for (Diagnostic& d : netlist::check_netlist(netlist, device)) {
    if (d.severity == Severity::error) {
      failure.add(std::move(d));
    } else {
      host.report(d);
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

struct EpochTexts {
  std::string pipes, streams;
};

Result<EpochTexts> texts_of(const overlay::EpochCompiler& compiler, const pipes::Epoch& epoch, const std::string& device_label) {
  BUDA_ASSIGN(auto pipes, compiler.pipes(epoch));
  pipes.device = device_label;
  BUDA_ASSIGN(auto blob, compiler.streams(pipes));
  return EpochTexts{pipes::pipes_text(pipes), overlay::blob_text(blob)};
}

}  // namespace

Result<image::Members> epoch_products(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                      const std::string& device_label, Host& host, const std::function<Result<void>()>& proceed) {
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make(netlist, device, "", host));
  // The netlist of a model that the host runs as a whole has nothing in it.
  if (!netlist.graphs.empty()) BUDA_TRY(check_rules(netlist, compiler.device(), host));
  image::Members out;
  out.emplace("netlist_queues.yaml", io::Bytes(pipes::netlist_queues_text(compiler.index(), compiler.device())));
  out.emplace("padding_table.yaml", io::Bytes(pipes::padding_table_text(compiler.padding())));
  const auto& epochs = compiler.epochs();
  const std::size_t step = std::max(host.threads, 1u);
  Failure failure;
  for (std::size_t first = 0; first < epochs.size(); first += step) {
    BUDA_TRY(proceed());
    host.progress("making stream programs", first, epochs.size());
    std::vector<Result<EpochTexts>> made(std::min(step, epochs.size() - first), EpochTexts{});
    parallel_for(host.threads, made.size(), [&](std::size_t i) { made[i] = texts_of(compiler, epochs[first + i], device_label); });
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) {
        failure.add(std::move(made[i]).failure());
        continue;
      }
      const std::string folder = cat("temporal_epoch_", epochs[first + i].number, "/overlay/");
      out.emplace(folder + "pipes.json", io::Bytes(std::move(made[i]->pipes)));
      out.emplace(folder + "blob.json", io::Bytes(std::move(made[i]->streams)));
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::compiler
