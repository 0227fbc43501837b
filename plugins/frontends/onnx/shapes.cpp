// Operators that move or rename elements: reshapes, transposes, slices, concatenation, padding.
#include "node_import.hpp"

#include <buda/base/text.hpp>

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

// 0 takes over the input's size (unless allowzero, from opset 14 on, makes it a size), and one -1 is what the others leave.
Result<Shape> reshape_target(NodeImport& n, const Shape& from, const Dims& wanted) {
  bool allow_zero = n.integer("allowzero", 0) != 0;
  Shape out(wanted);
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) return n.refuse(cat("its shape ", list_text(wanted), " has a size below -1"));
    if (wanted[i] == 0 && !allow_zero) {
      if (i >= from.rank())
        return n.refuse(cat("its shape ", list_text(wanted), " copies dimension ", i, " of an input of shape ", from.text()));
      out[i] = from[i];
    }
    if (wanted[i] != -1) continue;
    if (open) return n.refuse(cat("its shape ", list_text(wanted), " has more than one -1"));
    open = i;
  }
  std::int64_t volume = from.volume().value_or(0);
  if (open) {
    out[*open] = 1;
    auto others = out.volume();
    if (!others || *others == 0 || volume % *others != 0)
      return n.refuse(cat("shape ", from.text(), " cannot become ", list_text(wanted), ": ", volume, " elements do not divide evenly"));
    out[*open] = volume / *others;
  }
  if (out.volume() != volume) return n.refuse(cat("shape ", from.text(), " cannot become ", out.text(), ": it has ", volume, " elements"));
  return out;
}

Result<void> import_reshape(NodeImport& n) {
  BUDA_ASSIGN(Shape from, n.shape(0));
  BUDA_ASSIGN(Dims wanted, n.known_integers(1, "shape"));
  BUDA_ASSIGN(Shape to, reshape_target(n, from, wanted));
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
  if (!complete) return n.refuse(cat("perm ", list_text(permutation), " is no permutation of the axes of shape ", shape.text()));
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

// Starts and ends that count from the end or lie outside mean the same in ONNX, in NumPy and in ours.
Result<void> import_slice(NodeImport& n) {
  BUDA_ASSIGN(Dims starts, n.known_integers(1, "starts"));
  BUDA_ASSIGN(Dims ends, n.known_integers(2, "ends"));
  Dims axes, steps;
  if (n.has_input(3)) {
    BUDA_ASSIGN(axes, n.known_integers(3, "axes"));
  } else {
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

Result<void> import_pad(NodeImport& n) {
  std::string mode = n.text("mode", "constant");
  if (mode != "constant") return n.refuse(cat("its mode is '", mode, "'; only 'constant' is read"));
  BUDA_ASSIGN(Shape shape, n.shape(0));
  // Attributes before opset 11, inputs from then on; libonnx cannot convert a Pad whose value is left to its default.
  Dims pads = n.integers("pads");
  double value = n.real("value", 0);
  if (!n.has("pads")) {
    BUDA_ASSIGN(pads, n.known_integers(1, "pads"));
  }
  if (n.has_input(2)) {
    BUDA_ASSIGN(value, n.known_number(2, "padding value"));
  }
  if (pads.size() != 2 * shape.rank()) return n.refuse(cat("has ", pads.size(), " pads for a tensor of shape ", shape.text()));
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p < 0; }))
    return n.refuse(cat("its pads ", list_text(pads), " cut off; only pads that add are read"));
  auto middle = pads.begin() + static_cast<std::ptrdiff_t>(shape.rank());
  n.output(n.result().pad(n.input(0), Dims(pads.begin(), middle), Dims(middle, pads.end()), value));
  return success();
}

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

constexpr OpImporter kOps[] = {
    {"Concat", 4, import_concat},   {"Expand", 8, import_expand},       {"Flatten", 1, import_flatten},
    {"Pad", 2, import_pad},         {"Reshape", 5, import_reshape},     {"Slice", 10, import_slice},
    {"Squeeze", 1, import_squeeze}, {"Transpose", 1, import_transpose}, {"Unsqueeze", 1, import_unsqueeze},
};

}  // namespace

std::span<const OpImporter> shape_ops() { return kOps; }

}  // namespace buda::onnx_frontend
