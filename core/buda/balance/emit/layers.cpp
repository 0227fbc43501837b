// SPDX-License-Identifier: Apache-2.0
// Collection of ops by their layers, and the table.
#include <buda/balance/emit/layers.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace buda::balance {
namespace {

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

double work_of(const ReportOp& op) { return static_cast<double>(op.cycles.limiter) * static_cast<double>(op.grid.volume()); }

void add(const ReportOp& op, std::int64_t epoch, double all_work, LayerFigures& layer) {
  ++layer.ops;
  layer.last_epoch = epoch;
  layer.cores += op.grid.volume();
  if (all_work > 0) layer.share_percent += 100 * work_of(op) / all_work;
  if (layer.ops > 1 && op.cycles.limiter <= layer.cycles) return;
  layer.cycles = op.cycles.limiter;
  layer.slowest_op = op.name;
  layer.limiter = op.limiter;
}

Row row_of(const LayerFigures& l) {
  const std::string epochs = l.first_epoch == l.last_epoch ? cat(l.first_epoch) : cat(l.first_epoch, '-', l.last_epoch);
  return {l.layer, cat(l.ops), epochs, cat(l.cores), cat(l.cycles), cat(l.share_percent, " %"), cat(l.limiter, " of ", l.slowest_op)};
}

}  // namespace

const schema::Record<LayerFigures>& describe(const LayerFigures*) {
  static const auto record = schema::Record<LayerFigures>("ops that do the work of the same nodes of the model")
                                 .required("layer", &LayerFigures::layer, "names of the nodes, joined by +")
                                 .required("nodes", &LayerFigures::nodes, "the nodes")
                                 .required("ops", &LayerFigures::ops, "ops of the netlist")
                                 .required("first_epoch", &LayerFigures::first_epoch, "number of the first epoch with one of them")
                                 .required("last_epoch", &LayerFigures::last_epoch, "number of the last")
                                 .required("cores", &LayerFigures::cores, "cores of all of them")
                                 .required("cycles", &LayerFigures::cycles, "expected cycles of the slowest of them for one input")
                                 .required("slowest_op", &LayerFigures::slowest_op, "its name in the netlist")
                                 .required("limiter", &LayerFigures::limiter, "what limits it: kernel, input N or output")
                                 .required("share_percent", &LayerFigures::share_percent, "of the sum of cycles times cores of all ops");
  return record;
}

void name_layers(const graph::Graph& graph, PlacementReport& report) {
  for (ReportEpoch& epoch : report.epochs)
    for (ReportOp& op : epoch.ops) {
      op.layers.clear();
      if (const graph::NodeId node = graph.find(op.node); node.valid())
        for (const graph::Origin& origin : graph.node(node).origins) op.layers.push_back(origin.node);
      if (op.layers.empty()) op.layers.push_back(op.node);
    }
}

std::vector<LayerFigures> layers_of(const PlacementReport& report) {
  double all_work = 0;
  for (const ReportEpoch& epoch : report.epochs)
    for (const ReportOp& op : epoch.ops) all_work += work_of(op);
  std::vector<LayerFigures> out;
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t e = 0; e < report.epochs.size(); ++e)
    for (const ReportOp& op : report.epochs[e].ops) {
      const std::vector<std::string> nodes = op.layers.empty() ? std::vector<std::string>{op.node} : op.layers;
      const auto epoch = static_cast<std::int64_t>(e);
      const auto [place, is_new] = places.emplace(nodes, out.size());
      if (is_new) {
        out.emplace_back();
        out.back().layer = join(nodes, " + ");
        out.back().nodes = nodes;
        out.back().first_epoch = epoch;
      }
      add(op, epoch, all_work, out[place->second]);
    }
  for (LayerFigures& layer : out) layer.share_percent = std::round(layer.share_percent * 10) / 10;
  return out;
}

std::vector<std::string> layer_table(const std::vector<LayerFigures>& layers) {
  std::vector<Row> rows = {{"layer", "ops", "epochs", "cores", "cycles", "work", "limited by"}};
  for (const LayerFigures& layer : layers) rows.push_back(row_of(layer));
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows)
    for (std::size_t c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], row[c].size());
  std::vector<std::string> out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < kColumns; ++c) {
      const bool last = c + 1 == kColumns, words = c == 0 || last;
      const std::string blanks(widths[c] - row[c].size(), ' ');
      line += words ? cat(row[c], last ? "" : blanks) : cat(blanks, row[c]);
      if (!last) line += "  ";
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace buda::balance
