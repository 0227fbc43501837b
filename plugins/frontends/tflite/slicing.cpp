// Parts of values, and borders around them.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

constexpr std::int64_t kLargestBorder = std::int64_t{1} << 30;

Result<void> import_slice(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims begin, n.known_integers(1, "begin"));
  BUDA_ASSIGN(Dims size, n.known_integers(2, "size"));
  if (begin.size() != x.rank() || size.size() != x.rank())
    return n.refuse(cat("its begin ", list_text(begin), " and size ", list_text(size), " do not fit its input ", x.text()));
  Dims axes, stops;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (begin[i] < 0 || begin[i] > x[i] || size[i] < -1 || size[i] > x[i] - begin[i])
      return n.refuse(cat("its begin ", list_text(begin), " and size ", list_text(size), " lead out of its input ", x.text()));
    axes.push_back(static_cast<std::int64_t>(i));
    stops.push_back(size[i] == -1 ? x[i] : begin[i] + size[i]);
  }
  Ref value = n.moved(0);
  n.output(n.result().op("slice", {value}, {{"dims", axes}, {"starts", begin}, {"stops", stops}}));
  return success();
}

// What a strided slice does along the axes of its input; with what becomes of axes afterwards.
struct StridedSlice {
  Dims axes, starts, stops, steps;
  Dims result;  // the shape, with new axes and without those that are only an index
};

// Python's slice along one axis, with borders that may be open.
void add_slice(StridedSlice& out, std::size_t axis, std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step,
               bool open_begin, bool open_end) {
  std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
  auto place = [&](std::int64_t at) { return std::clamp(at < 0 ? at + size : at, least, most); };
  std::int64_t first = open_begin ? (step > 0 ? 0 : size - 1) : place(begin);
  std::int64_t last = open_end ? (step > 0 ? size : -1) : place(end);
  std::int64_t count = std::max<std::int64_t>(0, step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step);
  if (count == 0) last = first;
  out.axes.push_back(static_cast<std::int64_t>(axis));
  out.starts.push_back(first);
  // Counted from the end, "before the first" is one more than the size.
  out.stops.push_back(last < 0 ? -size - 1 : last);
  out.steps.push_back(step);
  out.result.push_back(count);
}

Result<StridedSlice> strided_slice(const NodeImport& n, const Shape& x, const Dims& begin, const Dims& end, const Dims& steps) {
  const auto& o = n.options<format::StridedSliceOptions>();
  if (begin.size() > 32 || end.size() != begin.size() || steps.size() != begin.size())
    return n.refuse(
        cat("its begin ", list_text(begin), ", end ", list_text(end), " and strides ", list_text(steps), " do not go together"));
  auto bit = [](std::int32_t mask, std::size_t i) { return (static_cast<std::uint32_t>(mask) >> i & 1u) != 0; };
  std::size_t named = 0;
  bool ellipsis = false;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    ellipsis = ellipsis || bit(o.ellipsis_mask(), i);
    if (!bit(o.ellipsis_mask(), i) && !bit(o.new_axis_mask(), i)) ++named;
  }
  if (named > x.rank()) return n.refuse(cat("it slices ", named, " axes of its input ", x.text()));
  StridedSlice out;
  std::size_t axis = 0;
  auto whole = [&](std::size_t count) {
    for (std::size_t k = 0; k < count; ++k, ++axis) out.result.push_back(x[axis]);
  };
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (bit(o.ellipsis_mask(), i)) {
      whole(x.rank() - named);
      named = x.rank();  // a second ellipsis stands for nothing
      continue;
    }
    if (bit(o.new_axis_mask(), i)) {
      out.result.push_back(1);
      continue;
    }
    if (steps[i] == 0 || steps[i] < -kLargestBorder || steps[i] > kLargestBorder)
      return n.refuse(cat("its strides ", list_text(steps), " have ", steps[i]));
    std::int64_t size = x[axis], stop = o.offset() ? begin[i] + end[i] : end[i];
    if (bit(o.shrink_axis_mask(), i)) {
      std::int64_t at = begin[i] < 0 ? begin[i] + size : begin[i];
      if (at < 0 || at >= size) return n.refuse(cat("its index ", begin[i], " lies outside axis ", axis, " of its input ", x.text()));
      add_slice(out, axis, size, at, at + 1, 1, false, false);
      out.result.pop_back();
    } else {
      add_slice(out, axis, size, begin[i], stop, steps[i], bit(o.begin_mask(), i), bit(o.end_mask(), i));
    }
    ++axis;
  }
  whole(x.rank() - axis);
  return out;
}

Result<void> import_strided_slice(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims begin, n.known_integers(1, "begin"));
  BUDA_ASSIGN(Dims end, n.known_integers(2, "end"));
  BUDA_ASSIGN(Dims steps, n.known_integers(3, "strides"));
  BUDA_ASSIGN(StridedSlice slice, strided_slice(n, x, begin, end, steps));
  Shape sliced = x;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < slice.axes.size(); ++i) {
    std::int64_t first = slice.starts[i], last = slice.stops[i], step = slice.steps[i], size = x[static_cast<std::size_t>(slice.axes[i])];
    if (last == -size - 1) last = -1;
    sliced[static_cast<std::size_t>(slice.axes[i])] =
        std::max<std::int64_t>(0, step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step);
    kept += first == 0 && last == size && step == 1 ? 1 : 0;
  }
  Ref value = n.moved(0);
  Shape result(slice.result);
  if (kept != slice.axes.size())
    value = (result == sliced ? n.result() : n.step("sliced"))
                .op("slice", {value}, {{"dims", slice.axes}, {"starts", slice.starts}, {"stops", slice.stops}, {"steps", slice.steps}});
  if (result != sliced) value = n.result().reshape(value, result);
  n.output(value);
  return success();
}

struct Borders {
  Dims before, after;
};

Result<Borders> borders_of(NodeImport& n, std::size_t rank) {
  BUDA_ASSIGN(Dims pairs, n.known_integers(1, "paddings"));
  if (pairs.size() != 2 * rank) return n.refuse(cat("its paddings have ", pairs.size(), " numbers; ", 2 * rank, " are needed"));
  Borders out;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] < 0 || pairs[i] > kLargestBorder) return n.refuse(cat("its paddings ", list_text(pairs), " have ", pairs[i]));
    (i % 2 == 0 ? out.before : out.after).push_back(pairs[i]);
  }
  return out;
}

// Axes in the order that a value with channels first has.
Dims first_order(const Dims& d) { return {d[0], d[3], d[1], d[2]}; }

// The border is 0, or (PADV2) input 2: as it is stored, the zero point.
Result<void> import_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Borders borders, borders_of(n, x.rank()));
  bool stored = n.is_exact() && n.input_info(0).is_quantized();
  double value = stored ? static_cast<double>(n.input_info(0).quantization->zero_points[0]) : 0;
  if (n.has_input(2)) {
    BUDA_ASSIGN(Tensor given, n.known(2, "value of the border"));
    if (given.size() != 1) return n.refuse(cat("its value of the border is ", given.describe(), ", not a single number"));
    value = given.cast(DType::f64).as<double>()[0];
    if (!stored && n.input_info(2).is_quantized()) {
      const auto& q = *n.input_info(2).quantization;
      value = (value - static_cast<double>(q.zero_points[0])) * static_cast<double>(q.scales[0]);
    }
  }
  Ref in = n.moved(0);
  if (auto first = n.layouts().channels_first(in)) {
    Ref padded = n.result().pad(*first, first_order(borders.before), first_order(borders.after), value);
    n.output(n.channels_last(padded));
    return success();
  }
  n.output(n.result().pad(in, borders.before, borders.after, value));
  return success();
}

// What lies outside is mirrored: at the border's element (reflect) or at its edge, which repeats it (symmetric).
Result<void> import_mirror_pad(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Borders borders, borders_of(n, x.rank()));
  Ref value = n.moved(0);
  if (n.options<format::MirrorPadOptions>().mode() == format::MirrorPadMode::REFLECT) {
    n.output(
        n.result().op("pad_continued", {value}, {{"before", borders.before}, {"after", borders.after}, {"mode", std::string("reflect")}}));
    return success();
  }
  for (std::size_t i = 0; i < x.rank(); ++i) {
    std::int64_t before = borders.before[i], after = borders.after[i], size = x[i];
    if (before > size || after > size) return n.refuse(cat("its paddings are larger than axis ", i, " of its input ", x.text()));
    if (before == 0 && after == 0) continue;
    auto axis = static_cast<std::int64_t>(i);
    auto reversed = [&](std::string_view step, std::int64_t first, std::int64_t last) {
      return n.step(cat(step, axis))
          .op("slice", {value},
              {{"dims", Dims{axis}}, {"starts", Dims{first}}, {"stops", Dims{last < 0 ? -size - 1 : last}}, {"steps", Dims{-1}}});
    };
    std::vector<graph::Edge> parts;
    if (before > 0) parts.emplace_back(reversed("before", before - 1, -1));
    parts.emplace_back(value);
    if (after > 0) parts.emplace_back(reversed("after", size - 1, size - 1 - after));
    value = n.step(cat("axis", axis)).concatenate(std::move(parts), axis);
  }
  n.output(n.result().identity(value));
  return success();
}

Result<void> import_reverse(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  BUDA_ASSIGN(Dims axes, frontend::axes_of(n, given, x.rank()));
  Dims starts, stops, steps(axes.size(), -1);
  for (auto axis : axes) {
    starts.push_back(x[static_cast<std::size_t>(axis)] - 1);
    stops.push_back(-x[static_cast<std::size_t>(axis)] - 1);
  }
  Ref value = n.moved(0);
  n.output(n.result().op("slice", {value}, {{"dims", axes}, {"starts", starts}, {"stops", stops}, {"steps", steps}}));
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
