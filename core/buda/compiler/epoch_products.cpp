// SPDX-License-Identifier: Apache-2.0
// Epoch by epoch, as many at a time as there are threads.
#include <buda/compiler/epoch_products.hpp>

#include <buda/base/text.hpp>
#include <buda/diag/parallel_results.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/pipes/format/pipes_file.hpp>
#include <buda/pipes/reports/reports.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::compiler {
namespace {

struct EpochTexts {
  std::string pipes, streams;
};

Result<EpochTexts> texts_of(const overlay::EpochCompiler& compiler, const pipes::Epoch& epoch) {
  BUDA_ASSIGN(auto pipes, compiler.pipes(epoch));
  BUDA_ASSIGN(auto blob, compiler.streams(pipes));
  return EpochTexts{pipes::pipes_text(pipes), overlay::blob_text(blob)};
}

}  // namespace

Result<image::Members> epoch_products(const overlay::EpochCompiler& compiler, Host& host, const std::function<Result<void>()>& proceed) {
  image::Members out;
  out.emplace("netlist_queues.yaml", io::Bytes(pipes::netlist_queues_text(compiler.index(), compiler.device())));
  out.emplace("padding_table.yaml", io::Bytes(pipes::padding_table_text(compiler.padding())));
  const auto& epochs = compiler.epochs();
  const std::size_t step = std::max(host.threads, 1u);
  Failure failure;
  for (std::size_t first = 0; first < epochs.size(); first += step) {
    BUDA_TRY(proceed());
    host.progress("making stream programs", first, epochs.size());
    auto made = parallel_results(host.threads, std::min(step, epochs.size() - first),
                                 [&](std::size_t i) { return texts_of(compiler, epochs[first + i]); });
    if (!made) {
      failure.add(std::move(made).failure());
      continue;
    }
    for (std::size_t i = 0; i < made->size(); ++i) {
      const std::string folder = cat("temporal_epoch_", epochs[first + i].number, "/overlay/");
      out.emplace(folder + "pipes.json", io::Bytes(std::move((*made)[i].pipes)));
      out.emplace(folder + "blob.json", io::Bytes(std::move((*made)[i].streams)));
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::compiler
