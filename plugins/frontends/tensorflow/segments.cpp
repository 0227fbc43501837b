// SPDX-License-Identifier: Apache-2.0
// Sums of rows that have the same number.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/scatter.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// [segments, elements of a row…]
Result<Shape> segments_shape(NodeImport& n, std::int64_t count) {
  BUDA_ASSIGN(Shape data, n.shape(0));
  BUDA_ASSIGN(Shape numbers, n.shape(1));
  if (data.rank() < numbers.rank() || !std::equal(numbers.begin(), numbers.end(), data.begin()))
    return n.refuse(cat("its numbers ", numbers.text(), " do not fit the data ", data.text()));
  Dims out{count};
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(numbers.rank()), data.end());
  return Shape(std::move(out));
}

Result<Ref> sums(NodeImport& n, const Shape& result) {
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(Shape numbers, n.shape(1));
  Ref data = n.input(0), given = n.input(1);
  Ref places = n.step("places").unsqueeze(given, {static_cast<std::int64_t>(numbers.rank())});
  return frontend::scattered_onto_zeros(n, places, data, type.dtype, result);
}

// The number of segments is given; what has a negative number counts nowhere, which only numbers that are known can tell.
Result<void> import_unsorted(NodeImport& n) {
  BUDA_ASSIGN(auto count, n.known_integer(2, "number of segments"));
  if (count < 0) return n.refuse(cat("its number of segments is ", count));
  if (n.is_known(1)) {
    BUDA_ASSIGN(Dims numbers, n.known_integers(1, "numbers"));
    for (auto number : numbers)
      if (number < 0 || number >= count) return n.refuse(cat("its number ", number, " is not one of ", count, " segments"));
  }
  BUDA_ASSIGN(Shape result, segments_shape(n, count));
  BUDA_ASSIGN(Ref y, sums(n, result));
  n.output(y);
  return success();
}

// The last number says how many segments there are.
Result<void> import_sorted(NodeImport& n) {
  BUDA_ASSIGN(Dims numbers, n.known_integers(1, "numbers"));
  if (!std::is_sorted(numbers.begin(), numbers.end()) || (!numbers.empty() && numbers.front() < 0))
    return n.refuse(cat("its numbers ", list_text(numbers), " do not ascend from 0"));
  BUDA_ASSIGN(Shape result, segments_shape(n, numbers.empty() ? 0 : numbers.back() + 1));
  if (n.type_of_op() == "SegmentSum") {
    BUDA_ASSIGN(Ref y, sums(n, result));
    n.output(y);
    return success();
  }
  BUDA_ASSIGN(auto type, n.type(0));
  NodeImport total = n.with_inputs(".sum", n.values());
  BUDA_ASSIGN(Ref sum, sums(total, result));
  Dims sizes(result.rank(), 1);
  sizes[0] = result[0];
  std::vector<double> counts(static_cast<std::size_t>(result[0]), 0);
  for (auto number : numbers) ++counts[static_cast<std::size_t>(number)];
  for (double& count : counts) count = std::max(count, 1.0);  // a segment without rows stays 0
  Ref divisor = n.step("counts").constant(Tensor(Shape(std::move(sizes)), std::move(counts)).cast(type.dtype));
  n.output(n.result().divide(sum, divisor));
  return success();
}

constexpr OpImporter kSegmentOps[] = {
    {"SegmentMean", import_sorted, {}, "numbers known"},
    {"SegmentSum", import_sorted, {}, "numbers known"},
    {"UnsortedSegmentSum", import_unsorted, {}, "number of segments known"},
};

}  // namespace

std::span<const OpImporter> segment_ops() { return kSegmentOps; }

}  // namespace buda::tensorflow_frontend
