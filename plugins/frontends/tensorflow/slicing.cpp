// SPDX-License-Identifier: Apache-2.0
// Parts of values, and borders around them.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/slices.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> import_slice(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims begin, n.known_integers(1, "begin"));
  BUDA_ASSIGN(Dims size, n.known_integers(2, "size"));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::sized_slice(n, value, x, begin, size));
  n.output(y);
  return success();
}

Result<void> import_strided_slice(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  frontend::StridedSlice slice;
  BUDA_ASSIGN(slice.begin, n.known_integers(1, "begin"));
  BUDA_ASSIGN(slice.end, n.known_integers(2, "end"));
  BUDA_ASSIGN(slice.steps, n.known_integers(3, "strides"));
  auto mask = [&](const char* name) { return static_cast<std::uint32_t>(n.integer(name, 0)); };
  slice.open_begin = mask("begin_mask");
  slice.open_end = mask("end_mask");
  slice.ellipsis = mask("ellipsis_mask");
  slice.new_axis = mask("new_axis_mask");
  slice.only_index = mask("shrink_axis_mask");
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::strided_slice(n, value, x, slice));
  n.output(y);
  return success();
}

Result<void> import_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims pairs, n.known_integers(1, "paddings"));
  BUDA_ASSIGN(auto borders, frontend::borders_of(n, pairs, x.rank()));
  double value = 0;
  if (n.input_count() > 2) {
    BUDA_ASSIGN(value, n.known_number(2, "value of the border"));
  }
  Ref in = n.input(0);
  n.output(frontend::padded(n, n.layouts(), in, borders, value));
  return success();
}

Result<void> import_mirror_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims pairs, n.known_integers(1, "paddings"));
  BUDA_ASSIGN(auto borders, frontend::borders_of(n, pairs, x.rank()));
  std::string mode = n.text("mode", "REFLECT");
  if (mode != "REFLECT" && mode != "SYMMETRIC") return n.refuse(cat("its mode is '", mode, "'; REFLECT and SYMMETRIC are read"));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::mirrored(n, value, x, borders, mode == "SYMMETRIC"));
  n.output(y);
  return success();
}

Result<void> import_reverse(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  BUDA_ASSIGN(Dims axes, frontend::axes_of(n, given, x.rank()));
  Ref value = n.input(0);
  n.output(frontend::reversed(n, value, axes));
  return success();
}

// What leaves at the end of an axis comes in again at its beginning.
Result<void> import_roll(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims shifts, n.known_integers(1, "shifts"));
  BUDA_ASSIGN(Dims axes, n.known_integers(2, "axes"));
  if (shifts.size() != axes.size()) return n.refuse(cat("its shifts ", list_text(shifts), " do not fit its axes ", list_text(axes)));
  Ref value = n.input(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    BUDA_ASSIGN(auto axis, frontend::axis_of(n, axes[i], x.rank()));
    std::int64_t size = x[static_cast<std::size_t>(axis)], shift = size == 0 ? 0 : (shifts[i] % size + size) % size;
    if (shift == 0) continue;
    Ref front = n.step(cat("front", i)).slice(value, axis, size - shift, size);
    Ref rest = n.step(cat("rest", i)).slice(value, axis, 0, size - shift);
    value = n.step(cat("rolled", i)).concatenate({front, rest}, axis);
  }
  n.output(n.result().identity(value));
  return success();
}

constexpr OpImporter kSlicingOps[] = {
    {"MirrorPad", import_mirror_pad, {}, "paddings known"},
    {"Pad", import_pad, {}, "paddings known"},
    {"PadV2", import_pad, {}, "paddings and value known"},
    {"ReverseV2", import_reverse, {}, "axes known"},
    {"Roll", import_roll, {}, "shifts and axes known"},
    {"Slice", import_slice, {}, "begin and size known"},
    {"StridedSlice", import_strided_slice, {}, "begin, end and strides known"},
};

}  // namespace

std::span<const OpImporter> slicing_ops() { return kSlicingOps; }

}  // namespace buda::tensorflow_frontend
