// SPDX-License-Identifier: Apache-2.0
// The reports of runner --perf, over all steps.
#include "apps/trainer/times.hpp"

#include <buda/base/text.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/perf/products.hpp>
#include <buda/runtime/target.hpp>

#include <optional>

namespace buda::trainer {

void Times::begin(const Opened& opened, const std::string& path, cli::ToolHost& host) {
  runtime::Device* device = opened.session->device();
  if (device != nullptr) device->record(recording_, perf::Level::inputs);
  if (device != nullptr && device->clock()) return;
  Diagnostic d = warning("TR006", {}, cat("the target does not simulate time: nothing is written to the folder '", path, "' of --perf"));
  d.hint = "--target grid";
  host.report(d);
}

Result<void> Times::write(const Opened& opened, std::int64_t rows, const std::string& path, cli::ToolHost& host) const {
  std::optional<perf::Summary> summary;
  if (opened.session->device() != nullptr) summary = opened.session->device()->summary();
  if (!summary) return success();  // it has been said
  summary->set_rows(rows, 0);
  BUDA_ASSIGN(auto folder, io::FolderProduct::begin(host.fs(), path, {.entry = "summary.json", .adds = false, .mode = host.write_mode}));
  const auto sink = [&](const perf::Product& product) { return folder->write(product.path, product.content); };
  BUDA_TRY(perf::write_products(*summary, recording_, sink, opened.netlist_digest));
  return folder->commit();
}

}  // namespace buda::trainer
