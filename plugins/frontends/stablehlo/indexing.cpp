// SPDX-License-Identifier: Apache-2.0
// gather and scatter: slices whose places are computed.
//
// Both are done on the flat tensor: the place of each element is the start of its slice, counted in strides, plus its place inside the
// slice. A gather of whole slices along one axis, which is what an embedding is, stays one.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <set>

namespace buda::stablehlo {
namespace {

bool is_among(const Dims& list, std::int64_t v) { return std::find(list.begin(), list.end(), v) != list.end(); }

bool are_axes(const Dims& axes, std::size_t rank) {
  std::set<std::int64_t> seen;
  return std::all_of(axes.begin(), axes.end(),
                     [&](auto a) { return a >= 0 && static_cast<std::size_t>(a) < rank && seen.insert(a).second; });
}

// How a gather's or scatter's dimension numbers relate the axes of the data, of the indices, and of the slices together.
struct Placing {
  Dims window_axes;  // of the slices: those that are along the data's axes
  Dims dropped;      // axes of the data that slices have no axis for
  Dims data_batch, index_batch;
  Dims index_map;                // axes of the data that indices are along
  std::int64_t vector_axis = 0;  // of the indices: the axis of their components
  Dims slice_sizes;              // of the data's axes
  Shape slices;                  // shape of all slices together
};

// The data's axes that slices have axes for, in order.
Dims kept_axes(const Placing& p, std::size_t rank) {
  Dims out;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (!is_among(p.dropped, axis) && !is_among(p.data_batch, axis)) out.push_back(axis);
  }
  return out;
}

Result<void> check(OpCall& n, const Placing& p, const Shape& data, const Shape& indices) {
  const bool implicit = p.vector_axis == static_cast<std::int64_t>(indices.rank());
  bool fits = are_axes(p.dropped, data.rank()) && are_axes(p.data_batch, data.rank()) && are_axes(p.index_map, data.rank()) &&
              are_axes(p.index_batch, indices.rank()) && are_axes(p.window_axes, p.slices.rank()) && p.vector_axis >= 0 &&
              p.vector_axis <= static_cast<std::int64_t>(indices.rank()) && p.data_batch.size() == p.index_batch.size() &&
              p.slice_sizes.size() == data.rank();
  fits = fits && (implicit ? 1 : indices[static_cast<std::size_t>(p.vector_axis)]) == static_cast<std::int64_t>(p.index_map.size());
  fits = fits && p.slices.rank() == indices.rank() - (implicit ? 0 : 1) + p.window_axes.size() &&
         kept_axes(p, data.rank()).size() == p.window_axes.size();
  for (std::size_t i = 0; fits && i < data.rank(); ++i) fits = p.slice_sizes[i] >= 0 && p.slice_sizes[i] <= data[i];
  for (auto axis : p.dropped) fits = fits && p.slice_sizes[static_cast<std::size_t>(axis)] <= 1;
  for (auto axis : p.index_batch) fits = fits && axis != p.vector_axis;
  if (fits) return success();
  return n.refuse(cat("its dimension numbers do not fit data of shape ", data.text(), " and indices of shape ", indices.text()));
}

Ref counted(OpCall& n, std::int64_t size, std::int64_t step) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) * step;
  return n.constant(Tensor(Shape{size}, std::move(numbers)));
}

// A value along one axis of the slices, so that it broadcasts to them.
Ref along(OpCall& n, Ref value, std::size_t rank, std::int64_t axis) {
  Dims aligned(rank, 1);
  aligned[static_cast<std::size_t>(axis)] = n.shape_of(value).volume().value_or(0);
  return n.step("along").reshape(value, Shape(std::move(aligned)));
}

struct Places {
  Ref flat;   // I64: which element of the flat data; broadcasts to the slices
  Ref valid;  // BOOL: does it lie inside? Invalid where all do
};

// `clamped`: starts are moved so that their slices lie inside; else each element is checked.
Places places_of(OpCall& n, const Placing& p, Ref index_value, const Shape& data, bool clamped) {
  const std::size_t rank = p.slices.rank();
  const auto strides = data.strides();
  const Dims kept = kept_axes(p, data.rank());
  Ref indices = n.cast(index_value, DType::i64);
  if (p.vector_axis == static_cast<std::int64_t>(n.shape_of(indices).rank())) {
    Dims wider = n.shape_of(indices).dims();
    wider.push_back(1);
    indices = n.step("indices").reshape(indices, Shape(std::move(wider)));
  }
  Dims batch_axes;  // of the slices, in order
  for (std::size_t i = 0; i < rank; ++i)
    if (!is_among(p.window_axes, static_cast<std::int64_t>(i))) batch_axes.push_back(static_cast<std::int64_t>(i));
  Dims start_shape(rank, 1);
  for (auto axis : batch_axes) start_shape[static_cast<std::size_t>(axis)] = p.slices[static_cast<std::size_t>(axis)];
  Places out;
  auto add = [&](Ref term) { out.flat = out.flat.valid() ? n.step("places").add(out.flat, term) : term; };
  auto require = [&](Number condition) { out.valid = out.valid.valid() ? n.op("logical_and", {out.valid, condition.ref}) : condition.ref; };
  for (std::size_t axis = 0; axis < data.rank(); ++axis) {
    const auto data_axis = static_cast<std::int64_t>(axis);
    Ref place;  // along this axis of the data
    const auto mapped = std::find(p.index_map.begin(), p.index_map.end(), data_axis);
    if (mapped != p.index_map.end()) {
      const std::int64_t component = mapped - p.index_map.begin();
      const Ref one = n.step("component").slice(indices, p.vector_axis, component, component + 1);
      Number start{&n, n.step("start").reshape(one, Shape(Dims(start_shape)))};
      if (clamped) {
        start = apply("maximum", start, start.constant(0));
        start = apply("minimum", start, start.constant(static_cast<double>(data[axis] - p.slice_sizes[axis])));
      }
      place = start.ref;
    }
    if (const auto batch = std::find(p.data_batch.begin(), p.data_batch.end(), data_axis); batch != p.data_batch.end()) {
      const std::int64_t index_axis = p.index_batch[static_cast<std::size_t>(batch - p.data_batch.begin())];
      const std::int64_t without_vector = index_axis > p.vector_axis ? index_axis - 1 : index_axis;
      place = along(n, counted(n, data[axis], 1), rank, batch_axes[static_cast<std::size_t>(without_vector)]);
    }
    if (const auto window = std::find(kept.begin(), kept.end(), data_axis); window != kept.end() && p.slice_sizes[axis] != 1) {
      const Ref offset = along(n, counted(n, p.slice_sizes[axis], 1), rank, p.window_axes[static_cast<std::size_t>(window - kept.begin())]);
      place = place.valid() ? n.step("place").add(place, offset) : offset;
    }
    if (!place.valid()) continue;
    const Number number{&n, place};
    if (!clamped && mapped != p.index_map.end()) {
      require(number >= 0.0);
      require(number < static_cast<double>(data[axis]));
    }
    add((number * static_cast<double>(strides[axis])).ref);
  }
  if (!out.flat.valid()) out.flat = n.scalar(0, DType::i64);
  return out;
}

// ---- gather

// Whole slices along one axis: the gather of ours.
bool gathers_slices(const Placing& p, const Shape& data) {
  if (p.index_map.size() != 1 || p.dropped != p.index_map || !p.data_batch.empty()) return false;
  for (std::size_t i = 0; i < data.rank(); ++i)
    if (!is_among(p.dropped, static_cast<std::int64_t>(i)) && p.slice_sizes[i] != data[i]) return false;
  return p.slice_sizes[static_cast<std::size_t>(p.index_map[0])] == 1;
}

Ref gather_slices(OpCall& n, const Placing& p, Ref data, Ref indices) {
  const std::int64_t axis = p.index_map[0];
  const auto size = n.shape_of(data)[static_cast<std::size_t>(axis)];
  Dims batch;
  Dims order(p.slices.rank());
  // The result has the data's axes before `axis`, those of the indices, and the others.
  std::int64_t before = 0, next_window = 0, next_batch = axis;
  const auto batch_rank = static_cast<std::int64_t>(p.slices.rank() - p.window_axes.size());
  for (std::size_t i = 0; i < p.slices.rank(); ++i) {
    if (is_among(p.window_axes, static_cast<std::int64_t>(i))) {
      before = next_window++;
      order[i] = before < axis ? before : before + batch_rank;
    } else {
      order[i] = next_batch++;
      batch.push_back(p.slices[i]);
    }
  }
  Number index{&n, n.cast(indices, DType::i64)};
  index = apply("maximum", index, index.constant(0));
  index = apply("minimum", index, index.constant(static_cast<double>(size - 1)));
  const Ref shaped =
      n.shape_of(index.ref) == Shape(Dims(batch)) ? index.ref : n.step("indices").reshape(index.ref, Shape(std::move(batch)));
  const Ref out = n.op("gather", {data, shaped}, {{"dim", axis}});
  return std::is_sorted(order.begin(), order.end()) ? out : n.step("transpose").transpose(out, order);
}

Result<Placing> gather_placing(OpCall& n, Dims slice_sizes) {
  Placing p;
  BUDA_ASSIGN(Attributes numbers, n.group("dimension_numbers"));
  BUDA_ASSIGN(p.window_axes, n.integers_in(numbers, "offset_dims"));
  BUDA_ASSIGN(p.dropped, n.integers_in(numbers, "collapsed_slice_dims"));
  BUDA_ASSIGN(p.data_batch, n.integers_in(numbers, "operand_batching_dims"));
  BUDA_ASSIGN(p.index_batch, n.integers_in(numbers, "start_indices_batching_dims"));
  BUDA_ASSIGN(p.index_map, n.integers_in(numbers, "start_index_map"));
  BUDA_ASSIGN(p.vector_axis, n.integer_in(numbers, "index_vector_dim", 0));
  p.slice_sizes = std::move(slice_sizes);
  const Shape data = n.shape(0), indices = n.shape(1);
  Dims batch;
  for (std::size_t i = 0; i < indices.rank(); ++i)
    if (static_cast<std::int64_t>(i) != p.vector_axis) batch.push_back(indices[i]);
  if (p.slice_sizes.size() != data.rank()) return n.refuse(cat("its slice_sizes do not fit the shape ", data.text()));
  std::size_t next_batch = 0, next_window = 0;
  const Dims kept = kept_axes(p, data.rank());
  for (std::size_t i = 0; i < batch.size() + p.window_axes.size(); ++i) {
    const bool window = is_among(p.window_axes, static_cast<std::int64_t>(i));
    if (window ? next_window >= kept.size() : next_batch >= batch.size()) return n.refuse("its dimension numbers do not fit its operands");
    p.slices.push_back(window ? p.slice_sizes[static_cast<std::size_t>(kept[next_window++])] : batch[next_batch++]);
  }
  BUDA_TRY(check(n, p, data, indices));
  return p;
}

Result<void> gather(OpCall& n) {
  const bool dynamic = n.importer().name == "stablehlo.dynamic_gather";
  BUDA_TRY(n.expect_inputs(dynamic ? 3 : 2, dynamic ? 3 : 2));
  Dims sizes;
  if (dynamic) {
    BUDA_ASSIGN(sizes, n.known_integers(2, "slice_sizes"));
  } else {
    BUDA_ASSIGN(sizes, n.integers("slice_sizes"));
  }
  BUDA_ASSIGN(Placing p, gather_placing(n, std::move(sizes)));
  const Ref data = n.input(0), indices = n.real(1);
  const Shape shape = n.shape_of(data);
  if (gathers_slices(p, shape)) {
    n.output(gather_slices(n, p, data, indices));
    return success();
  }
  const Places places = places_of(n, p, indices, shape, true);
  const Ref flat = n.step("flat").reshape(data, Shape{shape.volume().value_or(0)}), all = n.broadcast_to(places.flat, p.slices);
  n.output(n.op("gather", {flat, all}, {{"dim", std::int64_t{0}}}));
  return success();
}

// ---- scatter

struct Flat {
  Ref places;  // I64 [updates]; the number of elements where an update lies outside
  std::int64_t count = 0;
};

// The data, flat and with one element more, where updates that lie outside go.
Ref flat_data(OpCall& n, Ref data, std::int64_t count) {
  const Ref flat = n.step("flat").reshape(data, Shape{count});
  const Ref rest = n.broadcast_to(n.scalar(0, n.dtype_of(data)), Shape{1});
  return n.step("extended").concatenate({flat, rest}, 0);
}

// Do two updates have one place? Unknown where the places are.
bool places_differ(OpCall& n, const Flat& flat) {
  const Tensor* known = n.find_known(flat.places);
  if (known == nullptr) return false;
  std::set<std::int64_t> seen;
  for (auto place : known->as<std::int64_t>())
    if (place != flat.count && !seen.insert(place).second) return false;
  return true;
}

std::string_view scatter_reduction(const std::string& name, DType dtype) {
  if (name == "second") return "none";
  const std::string_view out = reduction_of(name, dtype == DType::boolean);
  return out == "sum" ? "add" : out == "prod" ? "mul" : out;
}

Ref scattered(OpCall& n, Ref data, const Flat& flat, Ref updates, std::string_view reduction) {
  const Shape shape = n.shape_of(data);
  const DType dtype = n.dtype_of(data);
  const bool as_bytes = dtype == DType::boolean && reduction != "none";
  if (as_bytes) {
    data = n.cast(data, DType::u8);
    updates = n.cast(updates, DType::u8);
  }
  const Ref into = flat_data(n, data, flat.count), list = n.step("updates").reshape(updates, n.shape_of(flat.places));
  Ref out = n.op("scatter_elements", {into, flat.places, list}, {{"dim", std::int64_t{0}}, {"reduction", std::string(reduction)}});
  out = n.step("inside").slice(out, 0, 0, flat.count);
  if (as_bytes) out = n.cast(out, DType::boolean);
  return n.step("shaped").reshape(out, shape);
}

Result<Placing> scatter_placing(OpCall& n, std::size_t count) {
  Placing p;
  BUDA_ASSIGN(Attributes numbers, n.group("scatter_dimension_numbers"));
  BUDA_ASSIGN(p.window_axes, n.integers_in(numbers, "update_window_dims"));
  BUDA_ASSIGN(p.dropped, n.integers_in(numbers, "inserted_window_dims"));
  BUDA_ASSIGN(p.data_batch, n.integers_in(numbers, "input_batching_dims"));
  BUDA_ASSIGN(p.index_batch, n.integers_in(numbers, "scatter_indices_batching_dims"));
  BUDA_ASSIGN(p.index_map, n.integers_in(numbers, "scatter_dims_to_operand_dims"));
  BUDA_ASSIGN(p.vector_axis, n.integer_in(numbers, "index_vector_dim", 0));
  const Shape data = n.shape(0);
  p.slices = n.shape(count + 1);
  p.slice_sizes.assign(data.rank(), 1);
  const Dims kept = kept_axes(p, data.rank());
  if (kept.size() != p.window_axes.size() || !are_axes(p.window_axes, p.slices.rank()))
    return n.refuse("its dimension numbers do not fit its operands");
  for (std::size_t i = 0; i < kept.size(); ++i)
    p.slice_sizes[static_cast<std::size_t>(kept[i])] = p.slices[static_cast<std::size_t>(p.window_axes[i])];
  BUDA_TRY(check(n, p, data, n.shape(count)));
  return p;
}

// For any body, where no two updates meet: what is there, the body, and back.
Result<void> scatter_by_body(OpCall& n, const Flat& flat, std::size_t count) {
  if (!n.flag("unique_indices", false) && !places_differ(n, flat))
    return n.refuse("its body is not add, multiply, maximum, minimum or the update alone, and updates may meet in one place");
  std::vector<Value> there, updates;
  for (std::size_t i = 0; i < count; ++i) {
    there.push_back(of_parts(n, n.value(i), [&](Ref x) {
      return n.op("gather", {flat_data(n, x, flat.count), flat.places}, {{"dim", std::int64_t{0}}});
    }));
    updates.push_back(of_parts(n, n.value(count + 1 + i), [&](Ref x) { return n.step("updates").reshape(x, n.shape_of(flat.places)); }));
  }
  BUDA_ASSIGN(std::vector<Value> made, combined(n, 0, there, updates));
  for (std::size_t i = 0; i < count; ++i) {
    Value out;
    out.real =
        frontend::computed_value({}, scattered(n, n.real(i), flat, n.broadcast_to(n.ref(made[i].real), n.shape_of(flat.places)), "none"));
    if (made[i].is_complex() && n.is_complex(i))
      out.imaginary = frontend::computed_value({}, scattered(n, n.imaginary(i), flat, n.ref(made[i].imaginary), "none"));
    n.output(std::move(out), i);
  }
  return success();
}

Result<void> scatter(OpCall& n) {
  const std::size_t count = n.result_count();
  BUDA_TRY(n.expect_inputs(2 * count + 1, 2 * count + 1));
  BUDA_TRY(n.expect_regions(1));
  if (count == 0) return n.refuse("has no results");
  BUDA_ASSIGN(Placing p, scatter_placing(n, count));
  const Shape data = n.shape(0);
  const Places places = places_of(n, p, n.real(count), data, false);
  Flat flat{{}, data.volume().value_or(0)};
  Ref inside = places.flat;
  if (places.valid.valid()) inside = n.op("where", {places.valid, inside, n.scalar(static_cast<double>(flat.count), DType::i64)});
  flat.places = n.step("list").reshape(n.broadcast_to(inside, p.slices), Shape{p.slices.volume().value_or(0)});
  const std::string body = combination(n.operation().regions[0], count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view reduction = scatter_reduction(body, n.dtype(i));
    const bool by_parts = reduction == "none" || reduction == "add";
    if (body.empty() || reduction.empty() || (n.is_complex(i) && !by_parts)) return scatter_by_body(n, flat, count);
    if (n.shape(i) != data || n.shape(count + 1 + i) != p.slices) return n.refuse("its operands have different shapes");
    const Ref re = scattered(n, n.real(i), flat, n.real(count + 1 + i), reduction);
    n.output(re, n.is_complex(i) ? scattered(n, n.imaginary(i), flat, n.imaginary(count + 1 + i), reduction) : Ref(), i);
  }
  return success();
}

// The old form of a gather along one axis.
Result<void> index_select(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  BUDA_ASSIGN(std::int64_t axis, n.integer("dim"));
  BUDA_ASSIGN(std::int64_t batch, n.integer_or("batch_dims", 0));
  if (batch != 0) return n.refuse("has batch_dims, which are not supported");
  n.output(n.op("gather", {n.input(0), n.cast(n.real(1), DType::i64)}, {{"dim", axis}}));
  return success();
}

constexpr OpImporter kIndexingOps[] = {
    {"stablehlo.dynamic_gather", gather, Scope::parts, {}, "the sizes of slices known"},
    {"stablehlo.gather", gather, Scope::parts},
    {"stablehlo.scatter",
     scatter,
     Scope::whole,
     {},
     "any body where no two updates meet; else add, multiply, maximum, minimum, or the update alone"},
    {"stablehlo.torch_index_select", index_select, Scope::parts},
};

}  // namespace

std::span<const OpImporter> indexing_ops() { return kIndexingOps; }

}  // namespace buda::stablehlo
