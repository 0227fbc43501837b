// SPDX-License-Identifier: Apache-2.0
#include "unit/overlay/laid_out.hpp"

#include <buda/base/text.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/pipes/format/pipes_file.hpp>

#include <algorithm>
#include <set>

namespace buda::overlay {
namespace {

Result<EpochUsage> of_epoch(const EpochCompiler& compiler, const pipes::Epoch& epoch) {
  BUDA_ASSIGN(pipes::PipeGraph graph, compiler.pipes(epoch));
  BUDA_ASSIGN(pipes::PlacedGraph read, pipes::parse_pipe_graph(pipes::pipes_text(graph), "pipes.json"));
  BUDA_ASSIGN(Blob blob, compiler.streams(read.graph));
  BUDA_ASSIGN(Blob back, parse_blob(blob_text(blob), "blob.json"));
  return EpochUsage{epoch.number, usage_of(back, compiler.device(), compiler.cluster().eth_core), traffic_of(back, compiler.device()),
                    flows_of(back, compiler.device())};
}

std::string place_of(const CoreUsage& c) { return cat("chip ", c.chip, " core [", c.core.row, ", ", c.core.col, "] of '", c.op, "'"); }

std::string figures(const CoreUsage& c) { return cat(c.l1_bytes, " B of L1, ", c.streams, " streams, ", c.phases, " phases"); }

std::string difference(const EpochUsage& predicted, const EpochUsage& laid_out) {
  if (predicted.cores.size() != laid_out.cores.size())
    return cat(predicted.cores.size(), " cores are predicted, ", laid_out.cores.size(), " laid out");
  if (predicted.traffic != laid_out.traffic) return cat("epoch ", predicted.epoch, ": the traffic differs");
  if (predicted.flows != laid_out.flows) return cat("epoch ", predicted.epoch, ": the flows differ");
  for (std::size_t i = 0; i < predicted.cores.size(); ++i) {
    const CoreUsage &p = predicted.cores[i], &l = laid_out.cores[i];
    if (p == l) continue;
    return cat("epoch ", predicted.epoch, ", ", place_of(p), ": ", figures(p), " are predicted; ", place_of(l), ": ", figures(l),
               " are laid out");
  }
  return "";
}

std::set<std::string> codes(const Failure& failure) {
  std::set<std::string> out;
  for (const Diagnostic& d : failure.diagnostics()) out.insert(d.code);
  return out;
}

}  // namespace

Result<std::vector<EpochUsage>> laid_out_usage(const EpochCompiler& compiler) {
  std::vector<EpochUsage> out;
  Failure failure;
  for (const pipes::Epoch& epoch : compiler.epochs()) {
    auto usage = of_epoch(compiler, epoch);
    if (usage) {
      out.push_back(std::move(*usage));
    } else {
      failure.add(std::move(usage).failure());
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

std::string difference_of_usage(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host, std::size_t& cores) {
  auto compiler = EpochCompiler::make(netlist, device, "", host);
  if (!compiler) return "";
  auto predicted = predict_usage(*compiler), laid_out = laid_out_usage(*compiler);
  if (predicted.ok() != laid_out.ok()) return predicted ? "it is predicted to fit, and cannot be laid out" : "it is predicted not to fit";
  if (!predicted) return codes(predicted.failure()) == codes(laid_out.failure()) ? "" : "they are refused for other reasons";
  if (predicted->size() != laid_out->size()) return "there are other epochs";
  for (std::size_t i = 0; i < predicted->size(); ++i) {
    if (std::string found = difference((*predicted)[i], (*laid_out)[i]); !found.empty()) return found;
    cores += (*predicted)[i].cores.size();
  }
  return "";
}

}  // namespace buda::overlay
