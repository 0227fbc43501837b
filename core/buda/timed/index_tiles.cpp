// SPDX-License-Identifier: Apache-2.0
// From the host's tensors to counts.
#include <buda/timed/index_tiles.hpp>

#include <buda/arith/gather.hpp>
#include <buda/arith/host_tensor.hpp>
#include <buda/arith/op.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace buda::timed {
namespace {

constexpr std::size_t kIndexInput = 2;

bool is_sparse(const netlist::Op& op) { return op.attributes.identity && op.inputs.size() > kIndexInput; }

using Products = std::vector<netlist::SparseProduct>;

// Nothing where the tiles cannot be read.
std::optional<Products> products_of(const netlist::Op& op, const arith::Value& index, std::int64_t core) {
  const GridCoord place{static_cast<std::int32_t>(core / op.grid.cols), static_cast<std::int32_t>(core % op.grid.cols)};
  auto products = arith::sparse_products(op, index, place);
  if (auto* listed = std::get_if<Products>(&products)) return std::move(*listed);
  return std::nullopt;
}

bool lists_any(const netlist::Op& op, const arith::Value& index) {
  for (std::int64_t core = 0; core < op.grid.volume(); ++core)
    if (const auto listed = products_of(op, index, core); listed && !listed->empty()) return true;
  return false;
}

}  // namespace

IndexTiles::IndexTiles(const netlist::Netlist& netlist) {
  std::map<std::string, const netlist::Queue*> all;
  for (const netlist::Queue& queue : netlist.queues) all.emplace(queue.name, &queue);
  for (const netlist::Graph& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops) {
      if (!is_sparse(op)) continue;
      if (auto found = all.find(op.inputs[kIndexInput].name); found != all.end()) queues_.insert(*found);
    }
}

void IndexTiles::keep(const std::string& queue, std::int64_t slot, const Tensor& entries) {
  const auto found = queues_.find(queue);
  if (found == queues_.end() || slot != 0) return;
  auto values = arith::entries_from(entries, *found->second, arith::Mode::exact);
  if (values && !values->empty()) first_[queue] = values->front();
}

arith::ValuePtr IndexTiles::index_of(const netlist::Op& op) const {
  if (!is_sparse(op)) return nullptr;
  const netlist::OpInput& input = op.inputs[kIndexInput];
  const auto found = first_.find(input.name);
  if (found == first_.end()) return nullptr;
  auto gather = arith::Gather::make(found->second->tiles, input.maps);
  if (!std::holds_alternative<arith::Gather>(gather)) return nullptr;
  return std::get<arith::Gather>(gather).apply(found->second, arith::Mode::exact, 1);
}

std::optional<cost::SparseCounts> IndexTiles::counts(const netlist::Op& op, std::int64_t core) const {
  const arith::ValuePtr index = index_of(op);
  if (index == nullptr) return std::nullopt;
  const auto listed = products_of(op, *index, core);
  if (!listed) return std::nullopt;
  // A core may have nothing to do. Where none has, zeros stand in for an index that nobody has given.
  if (listed->empty() && !lists_any(op, *index)) return std::nullopt;
  return cost::count_sparse_products(op, *listed);
}

std::optional<cost::SparseCounts> IndexTiles::most(const netlist::Op& op) const {
  const arith::ValuePtr index = index_of(op);
  if (index == nullptr) return std::nullopt;
  // All cores of a row do the same, but for fractions of its columns.
  const std::int64_t step = op.attributes.sparse.fracture_factor > 1 ? 1 : std::max(op.grid.cols, 1);
  cost::SparseCounts out;
  for (std::int64_t core = 0; core < op.grid.volume(); core += step) {
    const auto listed = products_of(op, *index, core);
    if (!listed) return std::nullopt;
    const cost::SparseCounts counts = cost::count_sparse_products(op, *listed);
    out.strips = std::max(out.strips, counts.strips);
    out.ublocks = std::max(out.ublocks, counts.ublocks);
    out.tiles = std::max(out.tiles, counts.tiles);
  }
  return out.tiles > 0 ? std::optional(out) : std::nullopt;
}

}  // namespace buda::timed
