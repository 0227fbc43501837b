// SPDX-License-Identifier: Apache-2.0
// A sparse tensor is a tree: each level goes along one axis, or along one axis of the blocks into which others are cut. A dense level has
// all its indices below every node of the one before, a sparse one those that it lists. The leaves are the stored elements.
#include "sparse.hpp"

#include "vectors.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;

// A few bytes of a file may ask for any size.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 29;
constexpr std::size_t kMaxNodes = std::size_t{1} << 25;  // of a level

Diagnostic wrong(std::string message) { return input_error("TF004", {}, std::move(message)); }

// A level of the tree.
struct Level {
  std::int64_t size = 0;  // indices there may be
  std::int64_t step = 0;  // elements of the tensor from one index to the next
  const format::DimensionMetadata* record = nullptr;
};

template <class Elements>
std::vector<std::int64_t> widened(const Elements& elements) {
  return std::vector<std::int64_t>(elements.begin(), elements.end());
}

std::vector<std::int64_t> numbers(format::SparseIndexVector type, const void* of) {
  if (of == nullptr) return {};
  switch (type) {
    case format::SparseIndexVector::Int32Vector:
      return widened(list(static_cast<const format::Int32Vector*>(of)->values()));
    case format::SparseIndexVector::Uint16Vector:
      return widened(list(static_cast<const format::Uint16Vector*>(of)->values()));
    case format::SparseIndexVector::Uint8Vector:
      return widened(list(static_cast<const format::Uint8Vector*>(of)->values()));
    default:
      return {};
  }
}

// The levels in their order, with sizes and steps that fit the tensor's shape.
Result<std::vector<Level>> levels_of(const format::SparsityParameters& sparsity, const Shape& shape) {
  const auto order = list(sparsity.traversal_order()), block_axes = list(sparsity.block_map());
  const auto* records = sparsity.dim_metadata();
  const std::size_t rank = shape.rank(), count = rank + block_axes.size();
  if (records == nullptr || records->size() != count || order.size() != count)
    return wrong(cat("names ", order.size(), " axes of sparse storage, where its shape and blocks have ", count));
  std::vector<std::int64_t> block(rank, 1), step(rank, 1);
  for (std::size_t d = rank; d-- > 1;) step[d - 1] = step[d] * shape[d];
  std::vector<bool> seen(count, false), is_cut(rank, false);
  const auto axis_of = [&](std::size_t level) { return static_cast<std::size_t>(order[level]); };
  for (std::size_t level = 0; level < count; ++level) {
    if (order[level] < 0 || axis_of(level) >= count || seen[axis_of(level)] || records->Get(static_cast<std::uint32_t>(level)) == nullptr)
      return wrong("names an axis of sparse storage that there is not, or twice");
    seen[axis_of(level)] = true;
    if (axis_of(level) < rank) continue;
    const std::int32_t cut = block_axes[axis_of(level) - rank], size = records->Get(static_cast<std::uint32_t>(level))->dense_size();
    const bool fits = cut >= 0 && static_cast<std::size_t>(cut) < rank && !is_cut[static_cast<std::size_t>(cut)] && size > 0 &&
                      shape[static_cast<std::size_t>(cut)] % size == 0;
    if (!fits) return wrong(cat("is stored in blocks that do not divide its shape ", shape.text()));
    block[static_cast<std::size_t>(cut)] = size;
    is_cut[static_cast<std::size_t>(cut)] = true;
  }
  std::vector<Level> out;
  for (std::size_t level = 0; level < count; ++level) {
    const auto* record = records->Get(static_cast<std::uint32_t>(level));
    const bool in_block = axis_of(level) >= rank;
    const auto axis = in_block ? static_cast<std::size_t>(block_axes[axis_of(level) - rank]) : axis_of(level);
    Level made{in_block ? block[axis] : shape[axis] / block[axis], in_block ? step[axis] : step[axis] * block[axis], record};
    if (record->format() == format::DimensionType::DENSE && record->dense_size() != made.size)
      return wrong(cat("has ", record->dense_size(), " indices along an axis of sparse storage that has ", made.size));
    out.push_back(made);
  }
  return out;
}

// Where the nodes of a level begin in the tensor, from those of the level before.
Result<std::vector<std::int64_t>> below(const std::vector<std::int64_t>& nodes, const Level& level) {
  std::vector<std::int64_t> out;
  if (level.record->format() == format::DimensionType::DENSE) {
    if (level.size > 0 && nodes.size() > kMaxNodes / static_cast<std::size_t>(level.size))
      return wrong("has more elements under one another in sparse storage than are read");
    out.reserve(nodes.size() * static_cast<std::size_t>(level.size));
    for (std::int64_t node : nodes)
      for (std::int64_t i = 0; i < level.size; ++i) out.push_back(node + i * level.step);
    return out;
  }
  const auto segments = numbers(level.record->array_segments_type(), level.record->array_segments());
  const auto indices = numbers(level.record->array_indices_type(), level.record->array_indices());
  if (segments.size() != nodes.size() + 1 || segments.front() != 0 || segments.back() != static_cast<std::int64_t>(indices.size()) ||
      !std::is_sorted(segments.begin(), segments.end()))
    return wrong("has segments of sparse storage that do not share out its indices");
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (auto i = static_cast<std::size_t>(segments[k]); i < static_cast<std::size_t>(segments[k + 1]); ++i) {
      if (indices[i] < 0 || indices[i] >= level.size) return wrong("has an index of sparse storage outside of its axis");
      if (i > static_cast<std::size_t>(segments[k]) && indices[i] <= indices[i - 1])
        return wrong("has indices of sparse storage that do not ascend");
      out.push_back(nodes[k] + indices[i] * level.step);
    }
  return out;
}

}  // namespace

Result<std::string> densified(std::string_view stored, const format::SparsityParameters& sparsity, const Shape& shape,
                              std::size_t element_bytes) {
  const std::int64_t volume = shape.volume().value_or(kMaxBytes);
  if (volume > kMaxBytes / static_cast<std::int64_t>(element_bytes)) return wrong("is stored sparsely, and has more than 512 MB");
  BUDA_ASSIGN(std::vector<Level> levels, levels_of(sparsity, shape));
  std::vector<std::int64_t> places{0};
  for (const Level& level : levels) {
    BUDA_ASSIGN(places, below(places, level));
  }
  if (places.size() * element_bytes != stored.size())
    return wrong(cat("stores ", stored.size() / element_bytes, " elements sparsely, and names places of ", places.size()));
  std::string out(static_cast<std::size_t>(volume) * element_bytes, '\0');
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(out.data() + static_cast<std::size_t>(places[i]) * element_bytes, stored.data() + i * element_bytes, element_bytes);
  return out;
}

}  // namespace buda::tflite_frontend
