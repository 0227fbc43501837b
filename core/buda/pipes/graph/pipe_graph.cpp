// SPDX-License-Identifier: Apache-2.0
// Names of buffer types, and the look-up of buffers.
#include <buda/pipes/graph/pipe_graph.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace buda::pipes {
namespace {

constexpr std::array<std::pair<BufferType, std::string_view>, 11> kTypes = {{
    {BufferType::unpacker, "unpacker"},
    {BufferType::packer, "packer"},
    {BufferType::intermediate, "intermediate"},
    {BufferType::gradient_op, "gradient_op"},
    {BufferType::dram_io, "dram_io"},
    {BufferType::dram_prolog, "dram_prolog"},
    {BufferType::dram_epilog, "dram_epilog"},
    {BufferType::relay, "relay"},
    {BufferType::ethernet_relay, "ethernet_relay"},
    {BufferType::prolog_relay, "prolog_relay"},
    {BufferType::unknown, "unknown"},
}};

}  // namespace

std::string_view buffer_type_name(BufferType type) {
  for (const auto& [value, name] : kTypes)
    if (value == type) return name;
  return "unknown";
}

std::optional<BufferType> buffer_type_from_name(std::string_view name) {
  for (const auto& [value, text] : kTypes)
    if (text == name) return value;
  return std::nullopt;
}

BufferIndex::BufferIndex(const std::vector<Buffer>& buffers) {
  by_id_.reserve(buffers.size());
  for (const Buffer& b : buffers) by_id_.push_back(&b);
  std::stable_sort(by_id_.begin(), by_id_.end(), [](const Buffer* a, const Buffer* b) { return a->id < b->id; });
  for (std::size_t i = 1; i < by_id_.size() && duplicate_ == nullptr; ++i)
    if (by_id_[i - 1]->id == by_id_[i]->id) duplicate_ = by_id_[i - 1];
}

// Files of older versions step their ids by 1e5, so the step is not relied upon: a block belongs to the buffer with the nearest id below.
const Buffer* BufferIndex::find(Id block) const {
  auto after = std::upper_bound(by_id_.begin(), by_id_.end(), block, [](Id id, const Buffer* b) { return id < b->id; });
  if (after == by_id_.begin()) return nullptr;
  const Buffer* b = *(after - 1);
  if (block == b->id) return b;
  auto window = b->is_scatter ? b->window_tiles() : 0;
  return window > 0 && block - b->id < static_cast<Id>(window) ? b : nullptr;
}

}  // namespace buda::pipes
