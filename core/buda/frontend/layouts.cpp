// SPDX-License-Identifier: Apache-2.0
// Which values exist in both orders.
#include <buda/frontend/layouts.hpp>

#include <buda/graph/graph.hpp>

namespace buda::frontend {

std::optional<Layouts::Ref> Layouts::channels_first(Ref value) const {
  if (!value.valid()) return std::nullopt;
  auto it = first_.find(key(value));
  return it == first_.end() ? std::nullopt : std::optional<Ref>(it->second);
}

Layouts::Ref Layouts::channels_first(ops::Builder& b, Ref value) {
  if (auto known = channels_first(value)) return *known;
  Ref out = b.transpose(value, {0, 3, 1, 2});
  if (value.valid() && out.valid()) first_[key(value)] = out;
  return out;
}

Layouts::Ref Layouts::channels_last(ops::Builder& b, Ref value) {
  Ref out = b.transpose(value, {0, 2, 3, 1});
  if (out.valid()) {
    first_[key(out)] = value;
    transposes_.push_back(out.node);
  }
  return out;
}

void Layouts::erase_unused(graph::Graph& graph) const {
  for (std::size_t i = transposes_.size(); i-- > 0;)
    if (graph.contains(transposes_[i]) && graph.use_count(transposes_[i]) == 0) graph.erase(transposes_[i]);
}

}  // namespace buda::frontend
