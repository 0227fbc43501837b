// SPDX-License-Identifier: Apache-2.0
// Pools: over windows, and to a given size.
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/windows.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

using frontend::WindowArguments;

// Of the axes that are pooled; the two in front of them are samples and channels, of which samples may be missing.
struct Pool {
  Shape x;
  std::size_t rank = 0;
  bool alone = false;
  Dims sizes() const { return Dims(x.end() - static_cast<std::ptrdiff_t>(rank), x.end()); }
};

Result<Pool> pool_of(Call& n) {
  Pool out;
  BUDA_ASSIGN(out.x, n.shape("self"));
  const std::string_view name = n.importer().name;
  out.rank = name.find("1d") != std::string_view::npos ? 1 : name.find("3d") != std::string_view::npos ? 3 : 2;
  out.alone = out.x.rank() == out.rank + 1;
  if (!out.alone && out.x.rank() != out.rank + 2)
    return n.refuse(cat("its input is ", out.x.text(), "; ", out.rank + 2, " axes are needed"));
  return out;
}

Ref pool_samples(Call& n, const Pool& p) {
  Ref x = n.ref("self");
  return p.alone ? n.step("sample").unsqueeze(x, {0}) : x;
}

ops::Builder& before_samples(Call& n, const Pool& p) { return p.alone ? n.step("pool") : n.result(); }
Ref without_samples(Call& n, const Pool& p, Ref y) { return p.alone ? n.result().squeeze(y, {0}) : y; }

Result<ops::AttrMap> window(Call& n, const Pool& p) {
  WindowArguments w;
  BUDA_ASSIGN(w.kernel, n.sizes_or("kernel_size", p.rank, 1));
  w.stride = w.kernel;
  if (n.has("stride")) {
    BUDA_ASSIGN(Dims given, n.integers("stride"));
    if (!given.empty()) {
      BUDA_ASSIGN(w.stride, n.sizes_or("stride", p.rank, 1));
    }
  }
  BUDA_ASSIGN(w.dilation, n.sizes_or("dilation", p.rank, 1));
  BUDA_ASSIGN(Dims padding, n.sizes_or("padding", p.rank, 0));
  w.padding = padding;
  w.padding.insert(w.padding.end(), padding.begin(), padding.end());
  ops::AttrMap attrs = w.attrs();
  attrs["kernel"] = w.kernel;
  BUDA_ASSIGN(bool ceil, n.flag_or("ceil_mode", false));
  if (ceil) attrs["ceil_mode"] = true;
  return attrs;
}

Result<Value> pool_max(Call& n) {
  BUDA_ASSIGN(Pool p, pool_of(n));
  BUDA_ASSIGN(ops::AttrMap attrs, window(n, p));
  Ref x = pool_samples(n, p);
  return n.tensor(without_samples(n, p, before_samples(n, p).op(cat("max_pool", p.rank, "d"), {x}, std::move(attrs))));
}

// Places count within the axes that are pooled, while our op counts in the whole tensor.
Value places_of(Call& n, const Pool& p, Ref pooled) {
  if (!pooled.valid()) return Failed{};
  std::int64_t plane = 1;
  for (auto size : p.sizes()) plane *= size;
  Ref size = n.constant(Tensor::scalar(plane));
  return n.tensor(n.step("places").op("modulo", {Ref(pooled.node, 1), size}));
}

Result<Value> pool_max_with_places(Call& n) {
  BUDA_ASSIGN(Pool p, pool_of(n));
  if (p.alone) return n.refuse(cat("its input is ", p.x.text(), "; one with an axis of samples is supported"));
  BUDA_ASSIGN(ops::AttrMap attrs, window(n, p));
  attrs["indices"] = std::string("row_major");
  Ref x = n.ref("self");
  Ref y = n.result().op(cat("max_pool", p.rank, "d"), {x}, std::move(attrs));
  Value places = places_of(n, p, y);
  return tuple_of({n.tensor(y), std::move(places)});
}

Result<Value> pool_average(Call& n) {
  BUDA_ASSIGN(Pool p, pool_of(n));
  BUDA_ASSIGN(ops::AttrMap attrs, window(n, p));
  BUDA_ASSIGN(bool counts, n.flag_or("count_include_pad", true));
  BUDA_ASSIGN(double divisor, n.real_or("divisor_override", 0));
  if (!counts) attrs["count_include_pad"] = false;
  if (divisor != 0) attrs["divisor_override"] = divisor;
  Ref x = pool_samples(n, p);
  return n.tensor(without_samples(n, p, before_samples(n, p).op(cat("avg_pool", p.rank, "d"), {x}, std::move(attrs))));
}

// The sizes asked for; what is left open keeps the input's.
Result<Dims> adaptive_sizes(Call& n, const Pool& p) {
  const auto* given = n["output_size"].as<SequenceRef>();
  Dims in = p.sizes(), out;
  for (std::size_t i = 0; i < p.rank; ++i) {
    if (given != nullptr && (*given)->items.size() != p.rank)
      return n.refuse(cat("its output_size has ", (*given)->items.size(), " numbers"));
    const Value& one = given != nullptr ? (*given)->items[i] : n["output_size"];
    if (one.none()) {
      out.push_back(in[i]);
      continue;
    }
    BUDA_ASSIGN(auto size, n.integer_of(one, "output_size"));
    if (size < 1 || size > (1 << 20)) return n.refuse(cat("its output_size is ", size));
    out.push_back(size);
  }
  return out;
}

// One axis whose windows are not all alike: window i goes from floor(i in / out) to ceil((i + 1) in / out).
Ref adaptive_axis(Call& n, Ref x, std::int64_t axis, std::int64_t in, std::int64_t out, bool average) {
  std::vector<graph::Edge> parts;
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    Ref part = n.step("window").slice(x, axis, begin, end);
    parts.emplace_back(average ? n.step("mean").reduce_avg(part, {axis}) : n.step("largest").reduce_max(part, {axis}));
  }
  return n.step("joined").concatenate(std::move(parts), axis);
}

Result<Ref> adaptive(Call& n, const Pool& p, bool average) {
  constexpr std::int64_t kMaxWindows = 1024;  // each is a node
  BUDA_ASSIGN(Dims sizes, adaptive_sizes(n, p));
  const Dims in = p.sizes();
  const auto first = static_cast<std::int64_t>(p.x.rank() - p.rank);
  Dims axes;
  for (std::size_t i = 0; i < p.rank; ++i) axes.push_back(first + static_cast<std::int64_t>(i));
  Ref x = n.ref("self");
  if (std::all_of(sizes.begin(), sizes.end(), [](auto s) { return s == 1; }))
    return average ? n.result().reduce_avg(x, std::move(axes)) : n.result().reduce_max(x, std::move(axes));
  if (sizes == in) return x;
  bool even = true;
  Dims kernel;
  for (std::size_t i = 0; i < p.rank; ++i) {
    even = even && in[i] % sizes[i] == 0;
    kernel.push_back(std::max<std::int64_t>(in[i] / sizes[i], 1));
  }
  if (even) {
    Ref whole = pool_samples(n, p);
    return without_samples(
        n, p,
        before_samples(n, p).op(cat(average ? "avg_pool" : "max_pool", p.rank, "d"), {whole}, {{"kernel", kernel}, {"stride", kernel}}));
  }
  for (std::size_t i = 0; i < p.rank; ++i) {
    if (sizes[i] > kMaxWindows)
      return n.refuse(cat("its output_size ", list_text(sizes), " does not divide ", list_text(in), " and is too large"));
    if (sizes[i] != in[i]) x = adaptive_axis(n, x, axes[i], in[i], sizes[i], average);
  }
  return n.result().identity(x);
}

// Of the largest, by a node of its own, which is left out where nobody asks. Where the windows differ in size there is no such node.
Value adaptive_places(Call& n, const Pool& p) {
  const Result<Dims> sizes = adaptive_sizes(n, p);
  const Dims in = p.sizes();
  Dims kernel;
  for (std::size_t i = 0; sizes && i < p.rank && in[i] % (*sizes)[i] == 0; ++i) kernel.push_back(in[i] / (*sizes)[i]);
  if (p.alone || kernel.size() != p.rank) return Failed{};
  Ref x = n.ref("self");
  return places_of(
      n, p,
      n.step("places.pool")
          .op(cat("max_pool", p.rank, "d"), {x}, {{"kernel", kernel}, {"stride", kernel}, {"indices", std::string("row_major")}}));
}

Result<Value> pool_adaptive(Call& n) {
  BUDA_ASSIGN(Pool p, pool_of(n));
  const bool average = n.importer().op == "avg";
  BUDA_ASSIGN(Ref y, adaptive(n, p, average));
  if (average) return n.tensor(y);
  Value places = adaptive_places(n, p);
  return tuple_of({n.tensor(y), std::move(places)});
}

// Places count within the axes that were pooled; those of our op in the whole result.
Result<Value> pool_undone(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("self"));
  BUDA_ASSIGN(Shape at, n.shape("indices"));
  BUDA_ASSIGN(Dims sizes, n.integers("output_size"));
  if (sizes.size() + 2 < x.rank() || sizes.size() + 1 > x.rank() || at != x)
    return n.refuse(cat("its input is ", x.text(), ", its indices ", at.text(), " and its output_size ", list_text(sizes)));
  const std::size_t outer = x.rank() - sizes.size();
  Shape result, planes;
  std::int64_t count = 1, plane = 1;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    result.push_back(i < outer ? x[i] : sizes[i - outer]);
    planes.push_back(i < outer ? x[i] : 1);
    (i < outer ? count : plane) *= result[i];
    if (result[i] < 1 || result[i] > (1 << 24)) return n.refuse(cat("its output_size is ", list_text(sizes)));
  }
  if (count > (1 << 24)) return n.refuse(cat("its input is ", x.text()));
  std::vector<std::int64_t> begins(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = static_cast<std::int64_t>(i) * plane;
  Ref values = n.ref("self"), within = n.ref("indices");
  Ref places = n.step("places").add(within, n.constant(Tensor(planes, std::move(begins))));
  return n.tensor(n.result().op("max_unpool", {values, places}, {{"shape", result.dims()}}));
}

constexpr std::string_view kMax = "self kernel_size stride padding dilation ceil_mode";
constexpr std::string_view kAverage = "self kernel_size stride padding ceil_mode count_include_pad divisor_override";

constexpr OpImporter kPoolingOps[] = {
    {"_unpooled", "self indices output_size", pool_undone, "", kPartOfOthers},
    {"adaptive_avg_pool1d", "self output_size", pool_adaptive, "avg"},
    {"adaptive_avg_pool2d", "self output_size", pool_adaptive, "avg"},
    {"adaptive_avg_pool3d", "self output_size", pool_adaptive, "avg"},
    {"adaptive_max_pool1d", "self output_size", pool_adaptive, "max", "the second result where the windows have one size"},
    {"adaptive_max_pool2d", "self output_size", pool_adaptive, "max", "the second result where the windows have one size"},
    {"adaptive_max_pool3d", "self output_size", pool_adaptive, "max", "the second result where the windows have one size"},
    {"avg_pool1d", kAverage, pool_average},
    {"avg_pool2d", kAverage, pool_average},
    {"avg_pool3d", kAverage, pool_average},
    {"max_pool1d", kMax, pool_max},
    {"max_pool2d", kMax, pool_max},
    {"max_pool2d_with_indices", kMax, pool_max_with_places},
    {"max_pool3d", kMax, pool_max},
    {"max_pool3d_with_indices", kMax, pool_max_with_places},
};

}  // namespace

std::span<const OpImporter> pooling_ops() { return kPoolingOps; }

}  // namespace buda::torchscript
