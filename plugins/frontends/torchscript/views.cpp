// SPDX-License-Identifier: Apache-2.0
// Operators whose result shares the elements of their argument: other shapes and orders of axes, and parts.
#include "call.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>

namespace buda::torchscript {
namespace {

using frontend::OpImport;

Value reshaped(Call& n, const Shape& from, const Shape& to) {
  if (from == to) return n[split(n.importer().parameters, ' ')[0]];
  return n.view({[to](OpImport& op, Ref whole) { return op.result().reshape(whole, to); },
                 [from](OpImport& op, Ref, Ref part) { return op.step("back").reshape(part, from); }});
}

Value transposed(Call& n, const Dims& order) {
  if (std::is_sorted(order.begin(), order.end())) return n["self"];
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return n.view({[order](OpImport& op, Ref whole) { return op.result().transpose(whole, order); },
                 [back](OpImport& op, Ref, Ref part) { return op.step("back").transpose(part, back); }});
}

// ---- shapes

Result<Value> view_reshape(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(Dims sizes, n.integers("size"));
  BUDA_ASSIGN(Shape to, frontend::reshape_target(n, from, sizes, false));
  return reshaped(n, from, to);
}

Result<Value> view_as(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(Shape other, n.shape("other"));
  BUDA_ASSIGN(Shape to, frontend::reshape_target(n, from, other.dims(), false));
  return reshaped(n, from, to);
}

Result<Value> view_flatten(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(auto first, n.axis_or("start_dim", 0, from.rank()));
  BUDA_ASSIGN(auto last, n.axis_or("end_dim", -1, from.rank()));
  if (from.rank() == 0) return reshaped(n, from, Shape{1});
  if (first > last) return n.refuse(cat("flattens axes ", first, " to ", last));
  Dims sizes(from.begin(), from.begin() + first);
  auto joined = Shape(Dims(from.begin() + first, from.begin() + last + 1)).volume();
  if (!joined) return n.refuse(cat("its input ", from.text(), " is too large"));
  sizes.push_back(*joined);
  sizes.insert(sizes.end(), from.begin() + last + 1, from.end());
  return reshaped(n, from, Shape(std::move(sizes)));
}

Result<Value> view_unflatten(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  BUDA_ASSIGN(Dims parts, n.integers("sizes"));
  if (from.rank() == 0) return n.refuse("divides an axis of a number");
  BUDA_ASSIGN(Shape inner, frontend::reshape_target(n, Shape{from[static_cast<std::size_t>(axis)]}, parts, false));
  Dims sizes(from.begin(), from.begin() + axis);
  sizes.insert(sizes.end(), inner.begin(), inner.end());
  sizes.insert(sizes.end(), from.begin() + axis + 1, from.end());
  return reshaped(n, from, Shape(std::move(sizes)));
}

Result<Value> view_unsqueeze(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank() + 1));
  Dims sizes(from.begin(), from.end());
  sizes.insert(sizes.begin() + axis, 1);
  return reshaped(n, from, Shape(std::move(sizes)));
}

Result<Value> view_squeeze(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(Dims given, n.integers_or("dim", {}));
  std::vector<bool> wanted(from.rank(), given.empty());
  for (auto axis : given) {
    BUDA_ASSIGN(auto a, frontend::axis_of(n, axis, std::max<std::size_t>(from.rank(), 1)));
    if (from.rank() > 0) wanted[static_cast<std::size_t>(a)] = true;
  }
  Dims sizes;
  for (std::size_t i = 0; i < from.rank(); ++i)
    if (!wanted[i] || from[i] != 1) sizes.push_back(from[i]);
  return reshaped(n, from, Shape(std::move(sizes)));
}

// ---- orders of axes

Result<Value> view_permute(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(Dims order, n.integers("dims"));
  for (auto& axis : order) {
    BUDA_ASSIGN(axis, frontend::axis_of(n, axis, from.rank()));
  }
  Dims sorted = order, all(from.rank());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) return n.refuse(cat("its axes ", list_text(order), " are not those of ", from.text(), " in another order"));
  return transposed(n, order);
}

Result<Value> view_transpose(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (from.rank() == 0) return n["self"];
  BUDA_ASSIGN(auto a, n.axis_or("dim0", 0, from.rank()));
  BUDA_ASSIGN(auto b, n.axis_or("dim1", 1, from.rank()));
  Dims order(from.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  return transposed(n, order);
}

// All axes in the opposite order; of t for matrices only.
Result<Value> view_t(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (n.importer().name == "t" && from.rank() > 2) return n.refuse(cat("its input is ", from.text(), ", not a matrix"));
  Dims order(from.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  if (n.importer().name == "mT") {
    if (from.rank() < 2) return n.refuse(cat("its input is ", from.text()));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[from.rank() - 1], order[from.rank() - 2]);
  }
  return transposed(n, order);
}

Result<Value> view_movedim(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(Dims source, n.integers("source"));
  BUDA_ASSIGN(Dims target, n.integers("destination"));
  if (source.size() != target.size()) return n.refuse("moves axes to another number of places");
  constexpr std::int64_t kOpen = -1;
  Dims order(from.rank(), kOpen);
  std::vector<bool> moved(from.rank(), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    BUDA_ASSIGN(auto s, frontend::axis_of(n, source[i], from.rank()));
    BUDA_ASSIGN(auto t, frontend::axis_of(n, target[i], from.rank()));
    if (moved[static_cast<std::size_t>(s)] || order[static_cast<std::size_t>(t)] != kOpen) return n.refuse("moves an axis twice");
    order[static_cast<std::size_t>(t)] = s;
    moved[static_cast<std::size_t>(s)] = true;
  }
  std::size_t next = 0;
  for (auto& axis : order) {
    if (axis != kOpen) continue;
    while (moved[next]) ++next;
    axis = static_cast<std::int64_t>(next++);
  }
  return transposed(n, order);
}

// ---- parts

struct Part {
  std::int64_t axis = 0, start = 0, stop = 0, step = 1;
  std::int64_t size = 0;  // of the axis
};

Ref put_part(OpImport& op, Ref whole, Ref part, const Part& p) {
  if (p.step == 1) {
    std::vector<graph::Edge> parts;
    if (p.start > 0) parts.emplace_back(op.step("before").slice(whole, p.axis, 0, p.start));
    parts.emplace_back(part);
    if (p.stop < p.size) parts.emplace_back(op.step("after").slice(whole, p.axis, p.stop, p.size));
    return parts.size() == 1 ? part : op.step("whole").concatenate(std::move(parts), p.axis);
  }
  // Every step-th: one after the other.
  std::vector<graph::Edge> parts;
  std::int64_t at = 0, taken = 0;
  for (std::int64_t i = p.start; i < p.stop; i += p.step, ++taken) {
    if (i > at) parts.emplace_back(op.step("between").slice(whole, p.axis, at, i));
    parts.emplace_back(op.step("one").slice(part, p.axis, taken, taken + 1));
    at = i + 1;
  }
  if (at < p.size) parts.emplace_back(op.step("after").slice(whole, p.axis, at, p.size));
  return op.step("whole").concatenate(std::move(parts), p.axis);
}

View slice_view(const Part& p) {
  View view;
  view.take = [p](OpImport& op, Ref whole) { return op.result().slice(whole, p.axis, p.start, p.stop, p.step); };
  constexpr std::int64_t kMaxParts = 1024;  // each is a node or two
  if (p.step == 1 || (p.stop - p.start) / p.step < kMaxParts)
    view.put = [p](OpImport& op, Ref whole, Ref part) { return put_part(op, whole, part, p); };
  return view;
}

// One place along an axis, which is gone then.
View place_view(const Part& p) {
  return {[p](OpImport& op, Ref whole) {
            Ref part = op.step("slice").slice(whole, p.axis, p.start, p.stop);
            return op.result().squeeze(part, {p.axis});
          },
          [p](OpImport& op, Ref whole, Ref part) {
            Ref one = op.step("slice").unsqueeze(part, {p.axis});
            return put_part(op, whole, one, p);
          }};
}

Result<Value> view_slice(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (from.rank() == 0) return n.refuse("takes a part of a number");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  const std::int64_t size = from[static_cast<std::size_t>(axis)];
  BUDA_ASSIGN(auto start, n.integer_or("start", 0));
  BUDA_ASSIGN(auto stop, n.integer_or("end", size));
  BUDA_ASSIGN(auto step, n.integer_or("step", 1));
  if (step < 1) return n.refuse(cat("its step is ", step, "; 1 and more are supported"));
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  stop = std::clamp<std::int64_t>(stop < 0 ? stop + size : stop, start, size);
  if (start == 0 && stop == size && step == 1) return n["self"];
  return n.view(slice_view({axis, start, stop, std::min(step, size + 1), size}));
}

Result<Value> view_narrow(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  BUDA_ASSIGN(auto start, n.integer("start"));
  BUDA_ASSIGN(auto length, n.integer("length"));
  const std::int64_t size = from.rank() == 0 ? 0 : from[static_cast<std::size_t>(axis)];
  if (start < 0) start += size;
  if (start < 0 || length < 0 || length > size || start > size - length)
    return n.refuse(cat("takes ", length, " elements from ", start, " on of ", from.text(), " along axis ", axis));
  return n.view(slice_view({axis, start, start + length, 1, size}));
}

Result<Value> view_select(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (from.rank() == 0) return n.refuse("takes a part of a number");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  BUDA_ASSIGN(auto index, n.integer("index"));
  const std::int64_t size = from[static_cast<std::size_t>(axis)];
  if (index < -size || index >= size) return n.refuse(cat("takes place ", index, " of ", size, " along axis ", axis));
  const std::int64_t place = index < 0 ? index + size : index;
  return n.view(place_view({axis, place, place + 1, 1, size}));
}

// Parts of the given sizes along an axis, as a list.
Result<Value> parts_of(Call& n, std::int64_t axis, std::int64_t size, const Dims& sizes) {
  constexpr std::size_t kMaxParts = 65536;
  if (sizes.size() > kMaxParts) return n.refuse(cat("makes ", sizes.size(), " parts"));
  std::vector<Value> out;
  std::int64_t at = 0;
  for (auto part : sizes) {
    if (part < 0 || part > size - at) return n.refuse(cat("its parts ", list_text(sizes), " do not fit an axis of ", size));
    out.push_back(part == size ? n["self"] : n.view(slice_view({axis, at, at + part, 1, size})));
    at += part;
  }
  return list_of(std::move(out));
}

Result<Value> view_split(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (from.rank() == 0) return n.refuse("divides a number");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  const std::int64_t size = from[static_cast<std::size_t>(axis)];
  const bool chunks = n.importer().op == "chunk";
  if (n["split_size"].is<SequenceRef>()) {
    BUDA_ASSIGN(Dims sizes, n.integers("split_size"));
    return parts_of(n, axis, size, sizes);
  }
  BUDA_ASSIGN(auto given, n.integer("split_size"));
  if (given < 1) return n.refuse(cat("its number of ", chunks ? "parts" : "elements", " is ", given));
  const std::int64_t each = chunks ? std::max<std::int64_t>((size + given - 1) / given, 1) : given;
  Dims sizes;
  constexpr std::int64_t kMaxParts = 65536;
  if (size / each > kMaxParts) return n.refuse(cat("makes ", size / each, " parts"));
  for (std::int64_t at = 0; at < size; at += each) sizes.push_back(std::min(each, size - at));
  return parts_of(n, axis, size, sizes);
}

// Parts whose sizes differ by one at most, or that begin at the given places.
Result<Value> view_tensor_split(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (from.rank() == 0) return n.refuse("divides a number");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  const std::int64_t size = from[static_cast<std::size_t>(axis)];
  Dims sizes;
  if (n["indices_or_sections"].is<SequenceRef>()) {
    BUDA_ASSIGN(Dims places, n.integers("indices_or_sections"));
    std::int64_t at = 0;
    for (auto place : places) {
      const std::int64_t next = std::clamp<std::int64_t>(place < 0 ? place + size : place, at, size);
      sizes.push_back(next - at);
      at = next;
    }
    sizes.push_back(size - at);
    return parts_of(n, axis, size, sizes);
  }
  BUDA_ASSIGN(auto count, n.integer("indices_or_sections"));
  if (count < 1 || count > 65536) return n.refuse(cat("makes ", count, " parts"));
  for (std::int64_t i = 0; i < count; ++i) sizes.push_back(size / count + (i < size % count ? 1 : 0));
  return parts_of(n, axis, size, sizes);
}

Result<Value> view_unbind(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  if (from.rank() == 0) return n.refuse("divides a number");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, from.rank()));
  const std::int64_t size = from[static_cast<std::size_t>(axis)];
  constexpr std::int64_t kMaxParts = 65536;
  if (size > kMaxParts) return n.refuse(cat("makes ", size, " parts"));
  std::vector<Value> out;
  for (std::int64_t i = 0; i < size; ++i) out.push_back(n.view(place_view({axis, i, i + 1, 1, size})));
  return list_of(std::move(out));
}

// ---- repeated elements, which cannot be changed in place

Result<Value> view_expand(Call& n) {
  BUDA_ASSIGN(Shape from, n.shape("self"));
  Dims sizes;
  if (n.importer().name == "expand_as") {
    BUDA_ASSIGN(Shape other, n.shape("size"));
    sizes = other.dims();
  } else {
    BUDA_ASSIGN(sizes, n.integers("size"));
  }
  if (sizes.size() < from.rank()) return n.refuse(cat("its input ", from.text(), " cannot become ", list_text(sizes)));
  const std::size_t added = sizes.size() - from.rank();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && i >= added) sizes[i] = from[i - added];
    if (sizes[i] < 0 || (i >= added && from[i - added] != 1 && from[i - added] != sizes[i]))
      return n.refuse(cat("its input ", from.text(), " cannot become ", list_text(sizes)));
  }
  const Shape to(std::move(sizes));
  if (to == from) return n["self"];
  return n.view({[to](OpImport& op, Ref whole) { return op.result().broadcast(whole, to); }, {}});
}

Result<Value> view_same(Call& n) { return n["self"]; }

constexpr OpImporter kViewOps[] = {
    {"alias", "self", view_same},
    {"broadcast_to", "self size", view_expand},
    {"chunk", "self split_size dim", view_split, "chunk"},
    {"detach", "self", view_same},
    {"expand", "self size implicit", view_expand},
    {"expand_as", "self size", view_expand},
    {"flatten", "self start_dim end_dim", view_flatten},
    {"mT", "self", view_t},
    {"movedim", "self source destination", view_movedim},
    {"narrow", "self dim start length", view_narrow},
    {"numpy_T", "self", view_t},
    {"permute", "self dims", view_permute},
    {"reshape", "self size", view_reshape},
    {"reshape_as", "self other", view_as},
    {"select", "self dim index", view_select},
    {"slice", "self dim start end step", view_slice},
    {"split", "self split_size dim", view_split},
    {"split_with_sizes", "self split_size dim", view_split},
    {"squeeze", "self dim", view_squeeze},
    {"swapaxes", "self dim0 dim1", view_transpose},
    {"swapdims", "self dim0 dim1", view_transpose},
    {"t", "self", view_t},
    {"tensor_split", "self indices_or_sections dim", view_tensor_split},
    {"transpose", "self dim0 dim1", view_transpose},
    {"unbind", "self dim", view_unbind},
    {"unflatten", "self dim sizes", view_unflatten},
    {"unsafe_chunk", "self split_size dim", view_split, "chunk"},
    {"unsafe_split", "self split_size dim", view_split},
    {"unsqueeze", "self dim", view_unsqueeze},
    {"view", "self size", view_reshape},
    {"view_as", "self other", view_as},
};

}  // namespace

std::span<const OpImporter> view_ops() { return kViewOps; }

}  // namespace buda::torchscript
