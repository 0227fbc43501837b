// SPDX-License-Identifier: Apache-2.0
// Operators that move or rename elements: reshapes, transposes, slices, concatenation, padding.
#include "moving_slices.hpp"
#include "node_import.hpp"
#include "shared_importers.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/axes.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;

Result<void> import_flatten(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  auto rank = static_cast<std::int64_t>(shape.rank());
  std::int64_t axis = n.integer("axis", 1);
  if (axis < -rank || axis > rank) return n.refuse(cat("axis ", axis, " is outside [", -rank, ", ", rank, "] for shape ", shape.text()));
  if (axis < 0) axis += rank;
  BUDA_ASSIGN(Shape matrix, n.as_matrix(shape, axis));
  n.output(n.result().reshape(n.input(0), std::move(matrix)));
  return success();
}

Result<void> import_reshape(NodeImport& n) {
  BUDA_ASSIGN(Shape from, n.shape(0));
  Dims wanted = n.integers("shape");  // an attribute before opset 5
  if (!n.has("shape")) {
    BUDA_ASSIGN(wanted, n.known_integers(1, "shape"));
  }
  // allowzero, from opset 14 on, makes 0 a size.
  BUDA_ASSIGN(Shape to, frontend::reshape_target(n, from, wanted, n.integer("allowzero", 0) == 0));
  n.output(n.result().reshape(n.input(0), std::move(to)));
  return success();
}

Result<void> import_transpose(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  Dims permutation = n.integers("perm");
  if (!n.has("perm"))
    for (std::size_t i = shape.rank(); i-- > 0;) permutation.push_back(static_cast<std::int64_t>(i));
  Dims sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool complete = sorted.size() == shape.rank();
  for (std::size_t i = 0; complete && i < sorted.size(); ++i) complete = sorted[i] == static_cast<std::int64_t>(i);
  if (!complete) return n.refuse(cat("perm ", list_text(permutation), " is not a permutation of the axes of shape ", shape.text()));
  n.output(n.result().transpose(n.input(0), std::move(permutation)));
  return success();
}

Result<void> import_squeeze(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto given, n.axes_argument(1));
  Dims axes;
  if (given) {
    BUDA_ASSIGN(axes, n.axes(*given, shape.rank()));
  } else {
    for (std::size_t i = 0; i < shape.rank(); ++i)
      if (shape[i] == 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  for (auto axis : axes)
    if (shape[static_cast<std::size_t>(axis)] != 1) return n.refuse(cat("axis ", axis, " of shape ", shape.text(), " is not of size 1"));
  if (axes.empty())
    n.output_input(0);
  else
    n.output(n.result().squeeze(n.input(0), std::move(axes)));
  return success();
}

Result<void> import_unsqueeze(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto given, n.axes_argument(1));
  if (!given) return n.refuse("its axes are missing");
  // Axes are those of the result.
  BUDA_ASSIGN(Dims axes, n.axes(*given, shape.rank() + given->size()));
  if (axes.empty())
    n.output_input(0);
  else
    n.output(n.result().unsqueeze(n.input(0), std::move(axes)));
  return success();
}

Result<void> import_concat(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 1), shape.rank()));
  std::vector<graph::Edge> parts;
  for (std::size_t i = 0; i < n.input_count(); ++i) parts.emplace_back(n.input(i));
  n.output(n.result().concatenate(std::move(parts), axis));
  return success();
}

// Where the start is computed at run time and the end is a known distance from it, along one axis.
Result<bool> import_moving_slice(NodeImport& n) {
  if (n.opset() < 10 || (n.is_known(1) && n.is_known(2))) return false;
  for (std::size_t i : {3u, 4u})
    if (n.has_input(i) && !n.is_known(i)) return false;
  BUDA_ASSIGN(Shape starts, n.shape(1));
  BUDA_ASSIGN(Shape x, n.shape(0));
  if (starts.volume() != 1) return false;
  Dims axes{0}, steps{1};
  if (n.has_input(3)) {
    BUDA_ASSIGN(axes, n.known_integers(3, "axes"));
  }
  if (n.has_input(4)) {
    BUDA_ASSIGN(steps, n.known_integers(4, "steps"));
  }
  const auto size = known_difference(n.store(), n.input(2), n.input(1));
  if (!size || axes.size() != 1 || steps != Dims{1}) return false;
  BUDA_ASSIGN(auto axis, n.axis(axes[0], x.rank()));
  auto value = n.input(0);
  BUDA_ASSIGN(auto y, moving_slice(n, n.store(), value, axis, n.input(1), *size));
  n.output(y);
  return true;
}

// Attributes before opset 10, inputs from then on. Starts and ends that count from the end or lie outside mean the same in ONNX, in NumPy
// and in ours.
Result<void> import_slice(NodeImport& n) {
  BUDA_ASSIGN(bool moving, import_moving_slice(n));
  if (moving) return success();
  Dims starts = n.integers("starts"), ends = n.integers("ends"), axes = n.integers("axes"), steps;
  if (n.opset() >= 10) {
    BUDA_ASSIGN(starts, n.known_integers(1, "starts"));
    BUDA_ASSIGN(ends, n.known_integers(2, "ends"));
  }
  if (n.has_input(3)) {
    BUDA_ASSIGN(axes, n.known_integers(3, "axes"));
  } else if (axes.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (n.has_input(4)) {
    BUDA_ASSIGN(steps, n.known_integers(4, "steps"));
  }
  n.output(
      n.result().op("slice", {n.input(0)},
                    {{"dims", std::move(axes)}, {"starts", std::move(starts)}, {"stops", std::move(ends)}, {"steps", std::move(steps)}}));
  return success();
}

// Pads that cut off are a slice, which comes first.
Result<graph::ValueRef> cut_off(NodeImport& n, graph::ValueRef x, const Shape& shape, Dims& before, Dims& after) {
  Dims axes, starts, stops;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] >= 0 && after[i] >= 0) continue;
    std::int64_t start = std::max<std::int64_t>(0, -before[i]), stop = shape[i] - std::max<std::int64_t>(0, -after[i]);
    if (start > stop) return n.refuse(cat("its negative pads remove more from axis ", i, " than its ", shape[i], " elements"));
    axes.push_back(static_cast<std::int64_t>(i));
    starts.push_back(start);
    stops.push_back(stop);
    before[i] = std::max<std::int64_t>(before[i], 0);
    after[i] = std::max<std::int64_t>(after[i], 0);
  }
  if (axes.empty()) return x;
  return n.step("cut").op("slice", {x}, {{"dims", std::move(axes)}, {"starts", std::move(starts)}, {"stops", std::move(stops)}});
}

// The pads of all axes, where from opset 18 on the input `axes` may say which ones they are for.
Result<Dims> pads_of_all_axes(NodeImport& n, Dims pads, std::size_t rank) {
  if (!n.has_input(3)) return pads;
  BUDA_ASSIGN(Dims given, n.known_integers(3, "axes"));
  BUDA_TRY(n.axes(given, rank));
  if (pads.size() != 2 * given.size()) return n.refuse(cat("has ", pads.size(), " pads for ", given.size(), " axes"));
  Dims all(2 * rank, 0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    BUDA_ASSIGN(auto axis, n.axis(given[i], rank));
    all[static_cast<std::size_t>(axis)] = pads[i];
    all[rank + static_cast<std::size_t>(axis)] = pads[given.size() + i];
  }
  return all;
}

Result<void> import_pad(NodeImport& n) {
  constexpr std::int64_t kMaxPadding = std::int64_t{1} << 40;
  std::string mode = n.text("mode", "constant");
  BUDA_ASSIGN(Shape shape, n.shape(0));
  // Attributes before opset 11 ("paddings" before 2), inputs from then on; libonnx cannot convert a Pad whose value is left to its default.
  Dims pads = n.integers(n.opset() < 2 ? "paddings" : "pads");
  double value = n.real("value", 0);
  if (n.opset() >= 11 && !n.has("pads")) {
    BUDA_ASSIGN(pads, n.known_integers(1, "pads"));
  }
  if (n.has_input(2)) {
    BUDA_ASSIGN(value, n.known_number(2, "padding value"));
  }
  BUDA_ASSIGN(pads, pads_of_all_axes(n, std::move(pads), shape.rank()));
  if (pads.size() != 2 * shape.rank()) return n.refuse(cat("has ", pads.size(), " pads for a tensor of shape ", shape.text()));
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p < -kMaxPadding || p > kMaxPadding; }))
    return n.refuse(cat("its pads ", list_text(pads), " are too large"));
  auto middle = pads.begin() + static_cast<std::ptrdiff_t>(shape.rank());
  Dims before(pads.begin(), middle), after(middle, pads.end());
  BUDA_ASSIGN(auto x, cut_off(n, n.input(0), shape, before, after));
  if (mode == "constant")
    n.output(n.result().pad(x, std::move(before), std::move(after), value));
  else
    n.output(n.result().op("pad_continued", {x}, {{"before", std::move(before)}, {"after", std::move(after)}, {"mode", mode}}));
  return success();
}

// Cut or filled up with zeros on both sides; of an odd number of elements, one more goes to (or comes from) the end.
Result<void> import_center_crop_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(Dims sizes, n.known_integers(1, "shape"));
  Dims axes = n.integers("axes");
  if (!n.has("axes"))
    for (std::size_t i = 0; i < shape.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  BUDA_TRY(n.axes(axes, shape.rank()));
  if (axes.size() != sizes.size()) return n.refuse(cat("has ", sizes.size(), " sizes for ", axes.size(), " axes"));
  Dims starts, stops, before(shape.rank(), 0), after(shape.rank(), 0);
  bool cuts = false, pads = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    BUDA_ASSIGN(axes[i], n.axis(axes[i], shape.rank()));
    auto axis = static_cast<std::size_t>(axes[i]);
    if (sizes[i] < 0) return n.refuse(cat("its size ", sizes[i], " of axis ", axis, " is negative"));
    std::int64_t more = sizes[i] - shape[axis];
    starts.push_back(std::max<std::int64_t>(0, -more) / 2);
    stops.push_back(starts.back() + std::min(sizes[i], shape[axis]));
    before[axis] = std::max<std::int64_t>(0, more) / 2;
    after[axis] = std::max<std::int64_t>(0, more) - before[axis];
    cuts = cuts || more < 0;
    pads = pads || more > 0;
  }
  if (!cuts && !pads) {
    n.output_input(0);
    return success();
  }
  auto x = n.input(0);
  if (cuts)
    x = (pads ? n.step("cut") : n.result())
            .op("slice", {x}, {{"dims", std::move(axes)}, {"starts", std::move(starts)}, {"stops", std::move(stops)}});
  if (pads) x = n.result().pad(x, std::move(before), std::move(after));
  n.output(x);
  return success();
}

// The sizes of the parts: an attribute or an input; or equal ones, of which from opset 18 on the last may be smaller.
Result<void> import_split(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 0), shape.rank()));
  std::int64_t size = shape[static_cast<std::size_t>(axis)];
  auto count = static_cast<std::int64_t>(n.output_count());
  Dims sizes = n.integers("split");
  if (n.has_input(1)) {
    BUDA_ASSIGN(sizes, n.known_integers(1, "sizes of the parts"));
  }
  if (sizes.empty()) {
    if (n.integer("num_outputs", count) != count)
      return n.refuse(cat("its num_outputs is ", n.integer("num_outputs", count), ", and it has ", count, " results"));
    std::int64_t part = count == 0 ? 0 : (size + count - 1) / count, last = size - part * (count - 1);
    if (count == 0 || last < 0 || (last != part && n.opset() < 18))
      return n.refuse(cat("axis ", axis, " of size ", size, " does not divide into ", count, " equal parts"));
    sizes.assign(static_cast<std::size_t>(count), part);
    sizes.back() = last;
  }
  std::int64_t sum = 0;
  for (auto part : sizes) {
    if (part < 0 || part > size - sum)
      return n.refuse(cat("parts of sizes ", list_text(sizes), " do not add up to axis ", axis, " of size ", size));
    sum += part;
  }
  if (sum != size || static_cast<std::int64_t>(sizes.size()) != count)
    return n.refuse(
        cat("parts of sizes ", list_text(sizes), " do not add up to axis ", axis, " of size ", size, " in ", count, " results"));
  auto x = n.input(0);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    n.output((i == 0 ? n.result() : n.step(cat(i))).slice(x, axis, start, start + sizes[i]), i);
    start += sizes[i];
  }
  return success();
}

// Before opset 6 along one axis.
Result<void> import_tile(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  Dims repeats;
  if (n.opset() < 6) {
    BUDA_ASSIGN(double tiles, n.known_number(1, "number of tiles"));
    BUDA_ASSIGN(double given, n.known_number(2, "axis"));
    BUDA_ASSIGN(auto axis, n.axis(static_cast<std::int64_t>(given), shape.rank()));
    repeats.assign(shape.rank(), 1);
    repeats[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(tiles);
  } else {
    BUDA_ASSIGN(repeats, n.known_integers(1, "repeats"));
  }
  n.output(n.result().op("tile", {n.input(0)}, {{"repeats", std::move(repeats)}}));
  return success();
}

Result<std::int64_t> block_size(NodeImport& n, const Shape& shape) {
  std::int64_t block = n.integer("blocksize", 0);
  if (shape.rank() != 4) return n.refuse(cat("its input has shape ", shape.text(), "; expected four axes"));
  // Bounds that keep sizes within 64 bits even where a size of 0 lets the others be anything.
  if (block < 1 || block > 1 << 20 || shape[2] > std::int64_t{1} << 40 || shape[3] > std::int64_t{1} << 40)
    return n.refuse(cat("a block size of ", block, " does not suit the shape ", shape.text()));
  return block;
}

// Channels become blocks of pixels; in which order they hold them, the mode says.
Result<void> import_depth_to_space(NodeImport& n) {
  BUDA_ASSIGN(Shape s, n.shape(0));
  BUDA_ASSIGN(std::int64_t b, block_size(n, s));
  if (s[1] % (b * b) != 0) return n.refuse(cat(s[1], " channels do not divide into blocks of ", b, " x ", b));
  std::string mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return n.refuse(cat("its mode is '", mode, "', not DCR or CRD"));
  bool depth_first = mode == "DCR";
  std::int64_t c = s[1] / (b * b);
  auto blocks = n.step("blocks").reshape(n.input(0), depth_first ? Shape{s[0], b, b, c, s[2], s[3]} : Shape{s[0], c, b, b, s[2], s[3]});
  auto moved = n.step("moved").transpose(blocks, depth_first ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3});
  n.output(n.result().reshape(moved, Shape{s[0], c, s[2] * b, s[3] * b}));
  return success();
}

Result<void> import_space_to_depth(NodeImport& n) {
  BUDA_ASSIGN(Shape s, n.shape(0));
  BUDA_ASSIGN(std::int64_t b, block_size(n, s));
  if (s[2] % b != 0 || s[3] % b != 0) return n.refuse(cat(s[2], " x ", s[3], " pixels do not divide into blocks of ", b, " x ", b));
  auto blocks = n.step("blocks").reshape(n.input(0), Shape{s[0], s[1], s[2] / b, b, s[3] / b, b});
  auto moved = n.step("moved").transpose(blocks, {0, 3, 5, 1, 2, 4});
  n.output(n.result().reshape(moved, Shape{s[0], s[1] * b * b, s[2] / b, s[3] / b}));
  return success();
}
}  // namespace

Result<void> import_trilu(NodeImport& n) {
  std::int64_t diagonal = 0;
  if (n.has_input(1)) {
    BUDA_ASSIGN(double given, n.known_number(1, "diagonal"));
    diagonal = static_cast<std::int64_t>(given);
  }
  n.output(n.result().op("triangle", {n.input(0)}, {{"upper", n.integer("upper", 1) != 0}, {"diagonal", diagonal}}));
  return success();
}

namespace {

Result<void> import_expand(NodeImport& n) {
  BUDA_ASSIGN(Shape from, n.shape(0));
  BUDA_ASSIGN(Dims wanted, n.known_integers(1, "shape"));
  auto to = broadcast(from, Shape(wanted));
  if (!to || !to->volume()) return n.refuse(cat("shape ", from.text(), " does not broadcast with ", list_text(wanted)));
  if (*to == from)
    n.output_input(0);
  else
    n.output(n.result().broadcast(n.input(0), std::move(*to)));
  return success();
}

constexpr OpImporter kShapesOps[] = {
    {"CenterCropPad", 18, import_center_crop_pad},
    {"Concat", 1, import_concat},
    {"DepthToSpace", 1, import_depth_to_space},
    {"Expand", 8, import_expand},
    {"Flatten", 1, import_flatten, {}, Narrow::moves},
    {"Pad", 1, import_pad, {}, Narrow::moves},
    {"Reshape", 1, import_reshape, {}, Narrow::moves},
    {"Slice", 1, import_slice},
    {"SpaceToDepth", 1, import_space_to_depth},
    {"Split", 1, import_split},
    {"Squeeze", 1, import_squeeze, {}, Narrow::moves},
    {"Tile", 1, import_tile},
    {"Transpose", 1, import_transpose, {}, Narrow::moves},
    {"Trilu", 14, import_trilu},
    {"Unsqueeze", 1, import_unsqueeze, {}, Narrow::moves},
};

}  // namespace

std::span<const OpImporter> shape_ops() { return kShapesOps; }

}  // namespace buda::onnx_frontend
