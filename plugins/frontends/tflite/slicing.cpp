// SPDX-License-Identifier: Apache-2.0
// Parts of values, and borders around them.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/slices.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> import_slice(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims begin, n.known_integers(1, "begin"));
  BUDA_ASSIGN(Dims size, n.known_integers(2, "size"));
  Ref value = n.moved(0);
  BUDA_ASSIGN(Ref y, frontend::sized_slice(n, value, x, begin, size));
  n.output(y);
  return success();
}

Result<void> import_strided_slice(NodeImport& n) {
  const auto& o = n.options<format::StridedSliceOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  frontend::StridedSlice slice;
  BUDA_ASSIGN(slice.begin, n.known_integers(1, "begin"));
  BUDA_ASSIGN(slice.end, n.known_integers(2, "end"));
  BUDA_ASSIGN(slice.steps, n.known_integers(3, "strides"));
  auto mask = [](std::int32_t bits) { return static_cast<std::uint32_t>(bits); };
  slice.open_begin = mask(o.begin_mask());
  slice.open_end = mask(o.end_mask());
  slice.ellipsis = mask(o.ellipsis_mask());
  slice.new_axis = mask(o.new_axis_mask());
  slice.only_index = mask(o.shrink_axis_mask());
  // Ends that count from the beginnings.
  if (o.offset())
    for (std::size_t i = 0; i < std::min(slice.begin.size(), slice.end.size()); ++i) slice.end[i] += slice.begin[i];
  Ref value = n.moved(0);
  BUDA_ASSIGN(Ref y, frontend::strided_slice(n, value, x, slice));
  n.output(y);
  return success();
}

Result<frontend::Borders> borders_of(NodeImport& n, std::size_t rank) {
  BUDA_ASSIGN(Dims pairs, n.known_integers(1, "paddings"));
  return frontend::borders_of(n, pairs, rank);
}

// The border is 0, or (PADV2) input 2: as it is stored, the zero point.
Result<void> import_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(frontend::Borders borders, borders_of(n, x.rank()));
  bool stored = n.is_exact() && n.input_info(0).is_quantized();
  double value = stored ? static_cast<double>(n.input_info(0).quantization->zero_points[0]) : 0;
  if (n.has_input(2)) {
    BUDA_ASSIGN(value, n.known_number(2, "value of the border"));
    if (!stored && n.input_info(2).is_quantized()) {
      const auto& q = *n.input_info(2).quantization;
      value = (value - static_cast<double>(q.zero_points[0])) * static_cast<double>(q.scales[0]);
    }
  }
  Ref in = n.moved(0);
  n.output(frontend::padded(n, n.layouts(), in, borders, value));
  return success();
}

Result<void> import_mirror_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(frontend::Borders borders, borders_of(n, x.rank()));
  Ref value = n.moved(0);
  bool repeats = n.options<format::MirrorPadOptions>().mode() != format::MirrorPadMode::REFLECT;
  BUDA_ASSIGN(Ref y, frontend::mirrored(n, value, x, borders, repeats));
  n.output(y);
  return success();
}

Result<void> import_reverse(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  BUDA_ASSIGN(Dims axes, frontend::axes_of(n, given, x.rank()));
  Ref value = n.moved(0);
  n.output(frontend::reversed(n, value, axes));
  return success();
}

constexpr OpImporter kSlicingOps[] = {
    {Code::MIRROR_PAD, import_mirror_pad, {}, Exactness::exact, "paddings known"},
    {Code::PAD, import_pad, {}, Exactness::exact, "paddings known"},
    {Code::PADV2, import_pad, {}, Exactness::exact, "paddings and value known"},
    {Code::REVERSE_V2, import_reverse, {}, Exactness::exact, "axes known"},
    {Code::SLICE, import_slice, {}, Exactness::exact, "begin and size known"},
    {Code::STRIDED_SLICE, import_strided_slice, {}, Exactness::exact, "begin, end and strides known"},
};

}  // namespace

std::span<const OpImporter> slicing_ops() { return kSlicingOps; }

}  // namespace buda::tflite_frontend
