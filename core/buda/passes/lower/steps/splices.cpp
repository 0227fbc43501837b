// SPDX-License-Identifier: Apache-2.0
// Concatenation of whole axes, and of slices where an axis is too long for a core.
#include <buda/passes/lower/steps/splices.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

namespace buda::passes {
namespace {

using graph::Tm;

constexpr std::size_t kRows = 2, kColumns = 3;
constexpr std::array<const char*, 4> kDims = {"", "z", "r", "c"};
// Every chip's cores have room for so many tiles of a result, in 16 bits.
constexpr std::int64_t kMaxTilesOfCore = 320;
// Tiles of a slice: few enough that a core holds two, and many enough that cores can share them.
constexpr std::int64_t kMaxTilesOfSlice = 128;
// Cores that every chip has in a row, and in a column.
constexpr std::int64_t kMaxCores = 8;

std::int64_t largest_divisor(std::int64_t n, std::int64_t most) {
  std::int64_t divisor = std::min(n, most);
  while (n % divisor != 0) --divisor;
  return divisor;
}

std::int64_t length_of(const std::vector<SplicedPart>& parts, std::size_t axis) {
  std::int64_t length = 0;
  for (const SplicedPart& part : parts) length += part.shape[axis];
  return length;
}

// Tiles of the axis in a slice; 0 where the parts are not cut. `most_slices`: of a part; 0: any number.
std::int64_t slice_length(const std::vector<SplicedPart>& parts, std::size_t axis, std::int64_t most_slices) {
  if (axis != kRows && axis != kColumns) return 0;
  const std::int64_t width = parts[0].shape[axis == kRows ? kColumns : kRows];
  const std::int64_t width_in_core = width / largest_divisor(width, kMaxCores);
  const std::int64_t length = length_of(parts, axis);
  if (length <= kMaxTilesOfCore / std::min(width_in_core, kMaxTilesOfCore)) return 0;
  std::int64_t common = 0;
  for (const SplicedPart& part : parts) {
    if (part.shape[1] != 1) return 0;  // slices of a part would not follow each other
    common = std::gcd(common, part.shape[axis]);
  }
  const std::int64_t slice = largest_divisor(common, kMaxTilesOfSlice);
  const auto can_be_read = [&](const SplicedPart& part) { return most_slices == 0 || part.shape[axis] / slice <= most_slices; };
  return std::all_of(parts.begin(), parts.end(), can_be_read) ? slice : 0;
}

}  // namespace

Result<graph::Edge> spliced_parts(OpBuilder& out, std::string_view suffix, std::vector<SplicedPart> parts, std::size_t axis) {
  // An input's slices lie apart in memory.
  const std::int64_t slice = slice_length(parts, axis, out.device().streams.max_dram_reads_per_input);
  std::vector<graph::Edge> edges;
  for (SplicedPart& part : parts) {
    const std::int64_t slices = slice == 0 ? 1 : part.shape[axis] / slice;
    if (slices > 1) part.edge.tms.push_back(axis == kRows ? Tm::vslice(slices) : Tm::hslice(slices));
    edges.push_back(std::move(part.edge));
  }
  graph::Edge all;
  BUDA_ASSIGN(all.source, out.op(suffix, "splice", std::move(edges), {{"dim", std::string(kDims[slice == 0 ? axis : 1])}}));
  if (slice != 0) {
    const std::int64_t slices = length_of(parts, axis) / slice;
    all.tms.push_back(axis == kRows ? Tm::vstack(slices) : Tm::hstack(slices));
  }
  return all;
}

}  // namespace buda::passes
