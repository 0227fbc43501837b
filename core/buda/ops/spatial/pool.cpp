// SPDX-License-Identifier: Apache-2.0
// Maximum and mean over sliding windows, of one, two or three axes.
//
// For each tap of the window one pass over all windows, row by row, so that the innermost loop runs along a row; padding is skipped, not
// read. A maximum with its index looks at one window after the other. Means are sums in fp64 in the order of the taps.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/spatial/columns.hpp>
#include <buda/ops/spatial/pool.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <limits>

namespace buda::ops {

Result<Window> pool_window(const Shape& x, const Attrs& attrs, std::size_t rank) {
  BUDA_TRY(check_spatial_rank(x, rank, "the input"));
  const auto& kernel = attrs.integers("kernel");
  if (kernel.size() != rank) return shape_error(cat("'kernel' ", list_text(kernel), " needs ", rank, " numbers here"));
  return sliding_window(attrs, x, kernel, attrs.boolean("ceil_mode"));
}

std::vector<double> pool_divisors(const Window& window, const Attrs& attrs) {
  double fixed = attrs.real("divisor_override");
  if (fixed > 0) return std::vector<double>(static_cast<std::size_t>(window.out()), fixed);
  // A window that reaches beyond the padding has fewer elements.
  bool padding_counts = attrs.boolean("count_include_pad");
  std::array<std::vector<double>, kMaxSpatialAxes> counts;
  for (std::size_t k = 0; k < kMaxSpatialAxes; ++k) {
    WindowAxis a = window.axes[k];
    if (padding_counts) {
      a.in += a.before + a.after;
      a.before = 0;
    }
    counts[k].assign(static_cast<std::size_t>(a.out), 0);
    for (std::int64_t o = 0; o < a.out; ++o) counts[k][static_cast<std::size_t>(o)] = static_cast<double>(a.taps_inside(o));
  }
  std::vector<double> out;
  for (double d : counts[0])
    for (double h : counts[1])
      for (double w : counts[2]) out.push_back(d * h * w);
  return out;
}

namespace {

template <std::size_t kRank>
Result<std::vector<ValueType>> infer_max(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  const Shape& x = call.inputs[0].shape;
  BUDA_ASSIGN(Window window, pool_window(x, call.attrs, kRank));
  auto results = one(dtype, window.result({x[0], x[1]}, kRank));
  if (call.attrs.text("indices") != "none") results.push_back({DType::i64, results[0].shape, std::nullopt});
  return results;
}

template <std::size_t kRank>
Result<std::vector<ValueType>> infer_avg(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  const Shape& x = call.inputs[0].shape;
  BUDA_ASSIGN(Window window, pool_window(x, call.attrs, kRank));
  if (call.attrs.real("divisor_override") < 0) return shape_error("'divisor_override' is negative; 0 stands for none");
  return one(dtype, window.result({x[0], x[1]}, kRank));
}

// f(channel of all samples' channels) on several threads.
template <class F>
void by_channels(const Shape& x, unsigned threads, F&& f) {
  auto channels = x.volume() == 0 ? 0 : x[0] * x[1];
  parallel_for(threads, static_cast<std::size_t>(channels), [&](std::size_t c) { f(static_cast<std::int64_t>(c)); });
}

template <class T>
constexpr T kLeast = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

template <class T>
void max_channel(const Window& window, const T* x, T* y) {
  std::fill(y, y + window.out(), kLeast<T>);
  std::int64_t step = window.axes.back().stride;
  for_each_tap_inside(window, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
    for_each_run(window, d, h, w, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      const T* in = x + from;
      T* out = y + to;
      for (std::int64_t i = 0; i < count; ++i) out[i] = larger(out[i], in[i * step]);
    });
  });
}

// The first largest element of each window; `places` are offsets in the channel.
template <class T>
void max_channel_with_index(const Window& window, const T* x, T* y, std::int64_t* places) {
  std::fill(y, y + window.out(), kLeast<T>);
  std::fill(places, places + window.out(), std::int64_t{-1});
  std::int64_t step = window.axes.back().stride;
  for_each_tap_inside(window, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
    for_each_run(window, d, h, w, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        T v = x[from + i * step];
        if (places[to + i] >= 0 && !(v > y[to + i]) && (v == v || y[to + i] != y[to + i])) continue;
        y[to + i] = v;
        places[to + i] = from + i * step;
      }
    });
  });
}

// An offset in a channel as the place in the whole tensor, whose axes are numbered from the last to the first, or the first to the last
// of the channel's.
std::int64_t index_in_tensor(const Window& window, std::int64_t channel, std::int64_t place, bool column_major) {
  const auto& [d, h, w] = window.axes;
  std::int64_t z = place / (h.in * w.in), y = place / w.in % h.in, x = place % w.in;
  return channel * window.in() + (column_major ? (x * h.in + y) * d.in + z : place);
}

template <class T>
Result<std::vector<Tensor>> max_pooled(const EvaluateCall& call, const Window& window) {
  Tensor in = call.inputs[0].cast(kDTypeOf<T>);
  const std::string& indices = call.attrs.text("indices");
  const Shape& shape = call.outputs[0].shape;
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  const T* x = in.as<T>().data();
  T* y = out.as<T>().data();
  std::int64_t size_in = window.in(), size_out = window.out();
  if (indices == "none") {
    by_channels(shape, call.threads, [&](std::int64_t c) { max_channel(window, x + c * size_in, y + c * size_out); });
    return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
  }
  BUDA_ASSIGN(Buffer places, Buffer::make(DType::i64, shape));
  std::int64_t* p = places.as<std::int64_t>().data();
  by_channels(shape, call.threads, [&](std::int64_t c) {
    std::int64_t* of_channel = p + c * size_out;
    max_channel_with_index(window, x + c * size_in, y + c * size_out, of_channel);
    for (std::int64_t i = 0; i < size_out; ++i)
      if (of_channel[i] >= 0) of_channel[i] = index_in_tensor(window, c, of_channel[i], indices == "column_major");
  });
  return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype), std::move(places).take()};
}

template <std::size_t kRank>
Result<std::vector<Tensor>> evaluate_max(const EvaluateCall& call) {
  BUDA_ASSIGN(Window window, pool_window(call.inputs[0].shape(), call.attrs, kRank));
  return visit_compute<true>(compute_dtype(call.outputs[0].dtype),
                             [&](auto tag) { return max_pooled<typename decltype(tag)::type>(call, window); });
}

template <class T>
Result<Tensor> avg_pooled(const EvaluateCall& call, const Window& window) {
  Tensor in = call.inputs[0].cast(kDTypeOf<T>);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, call.outputs[0].shape));
  const T* x = in.as<T>().data();
  T* y = out.as<T>().data();
  if (call.outputs[0].shape.volume() == 0) return std::move(out).take();
  std::vector<double> counts = pool_divisors(window, call.attrs);
  by_channels(call.outputs[0].shape, call.threads, [&](std::int64_t c) {
    std::vector<double> sums(counts.size(), 0);
    std::int64_t step = window.axes.back().stride;
    for_each_tap_inside(window, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
      for_each_run(window, d, h, w, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        const T* p = x + c * window.in() + from;
        double* sum = sums.data() + to;
        for (std::int64_t i = 0; i < count; ++i) sum[i] += static_cast<double>(p[i * step]);
      });
    });
    T* results = y + c * window.out();
    // A window of padding alone has the mean 0.
    for (std::size_t i = 0; i < sums.size(); ++i) results[i] = counts[i] == 0 ? T{0} : static_cast<T>(sums[i] / counts[i]);
  });
  return std::move(out).take();
}

template <std::size_t kRank>
Result<std::vector<Tensor>> evaluate_avg(const EvaluateCall& call) {
  BUDA_ASSIGN(Window window, pool_window(call.inputs[0].shape(), call.attrs, kRank));
  DType dtype = call.outputs[0].dtype;
  return visit_compute<false>(compute_dtype(dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, avg_pooled<typename decltype(tag)::type>(call, window));
    return std::vector<Tensor>{out.cast(dtype)};
  });
}

double pool_flops(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs& attrs) {
  return volume(outputs[0].shape) * volume(Shape(attrs.integers("kernel")));
}

template <std::size_t kRank>
OpDef max_pool_op() {
  OpDef def{.name = cat("max_pool", kRank, "d"),
            .level = Level::tensor,
            .family = "pool",
            .summary = "the maximum of each window; with `indices` also its position in x",
            .inputs = {"x"},
            .least_inputs = 1,
            .most_inputs = 1,
            .attrs = {{"kernel", AttrType::integers, std::nullopt, "elements of a window, for each axis", {}}},
            .infer = infer_max<kRank>,
            .evaluate = evaluate_max<kRank>,
            .flops = pool_flops};
  for (auto& attr : window_attrs()) def.attrs.push_back(std::move(attr));
  def.attrs.push_back({"ceil_mode", AttrType::boolean, false, "the last window may reach beyond the padding", {}});
  return def;
}

template <std::size_t kRank>
OpDef avg_pool_op() {
  OpDef def = max_pool_op<kRank>();
  def.name = cat("avg_pool", kRank, "d");
  def.summary = "the mean of each window";
  def.attrs.push_back({"count_include_pad", AttrType::boolean, true, "padding counts as zeros", {}});
  def.attrs.push_back({"divisor_override", AttrType::real, 0.0, "what sums are divided by; 0: the number of elements", {}});
  def.infer = infer_avg<kRank>;
  def.evaluate = evaluate_avg<kRank>;
  return def;
}

}  // namespace

std::vector<OpDef> pool_ops() {
  std::vector<OpDef> out{max_pool_op<1>(), max_pool_op<2>(), max_pool_op<3>()};
  for (OpDef& def : out)
    def.attrs.push_back({"indices",
                         AttrType::text,
                         std::string("none"),
                         "a second result: places in all of x, its last axes counted in this order",
                         {"none", "row_major", "column_major"}});
  out.push_back(avg_pool_op<1>());
  out.push_back(avg_pool_op<2>());
  out.push_back(avg_pool_op<3>());
  return out;
}

}  // namespace buda::ops
