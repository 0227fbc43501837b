// SPDX-License-Identifier: Apache-2.0
// The rules, by op or, for ops that compute element by element, by family.
#include <buda/ops/rows/row_rules.hpp>

#include <buda/ops/rows/free_values.hpp>
#include <buda/ops/rows/moved_rows.hpp>

#include <algorithm>
#include <array>

namespace buda::ops {
namespace {

using Flows = std::vector<RowFlow>;

Flows for_all_results(const RowCall& call, const RowFlow& flow) { return Flows(call.results.size(), flow); }

// Only the first input has rows.
bool others_are_free(const RowCall& call) {
  return std::all_of(call.flows.begin() + 1, call.flows.end(), [](const RowFlow& f) { return f.is_free(); });
}

// ---- element by element, with NumPy's broadcast

// Collects where the rows of several inputs lie in one result.
class Joined {
 public:
  explicit Joined(const RowCall& call) : call_(call) {}

  // Input `input` puts its axis `own` on axis `axis` of the result, which has the given size.
  void rows(std::size_t input, std::size_t axis, std::int64_t size) {
    const RowFlow& flow = call_.flows[input];
    if (call_.shapes[input][flow.axis] != size) return set(call_.unclear());  // one row, stretched
    set(call_.at(axis, flow));
  }
  void set(const RowFlow& flow) {
    if (!found_ || flow.kind == RowFlow::Kind::mixed) {
      out_ = out_.kind == RowFlow::Kind::mixed ? out_ : flow;
    } else if (out_ != flow) {
      out_ = out_.kind == RowFlow::Kind::mixed ? out_ : call_.unclear();
    }
    found_ = true;
  }
  bool found() const { return found_; }
  const RowFlow& flow() const { return out_; }
  // What is free has to be the same for all rows that it meets, on its axis `axis`.
  void meet(std::size_t input, std::size_t axis) {
    if (out_.has_rows() && !same_for_all_rows(call_, input, axis, out_)) out_ = call_.mixed();
  }

 private:
  const RowCall& call_;
  RowFlow out_;
  bool found_ = false;
};

RowFlow broadcast_rows(const RowCall& call, const Shape& result) {
  Joined out(call);
  for (std::size_t i = 0; i < call.flows.size(); ++i) {
    if (!call.flows[i].has_rows()) continue;
    const std::size_t axis = call.flows[i].axis + result.rank() - call.shapes[i].rank();
    out.rows(i, axis, result[axis]);
  }
  for (std::size_t i = 0; i < call.flows.size(); ++i) {
    if (!call.flows[i].is_free() || !out.flow().has_rows()) continue;
    const std::size_t lead = result.rank() - call.shapes[i].rank();
    if (out.flow().axis >= lead) out.meet(i, out.flow().axis - lead);
  }
  return out.flow();
}

Flows elementwise(const RowCall& call) { return {broadcast_rows(call, call.results[0])}; }

// Numbers for each place along `dim` of x, or for all of x.
Flows scaled_along_dim(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  if (!others_are_free(call)) return {call.unclear()};
  if (call.dim(call.shapes[0].rank()) == x.axis)
    for (std::size_t i = 1; i < call.flows.size(); ++i)
      if (call.shapes[i].rank() == 1 && !same_for_all_rows(call, i, 0, x)) return {call.mixed()};
  return {x};
}

Flows bitcast(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  return {x.axis < call.results[0].rank() && call.results[0][x.axis] == call.shapes[0][x.axis] ? x : call.unclear()};
}

// ---- along axes

Flows along_dim(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  return for_all_results(call, call.dim(call.shapes[0].rank()) == x.axis ? call.mixed() : x);
}

RowFlow without_axes(const RowCall& call, const std::vector<bool>& removed, bool keeps) {
  const RowFlow& x = call.flows[0];
  if (removed[x.axis]) {
    // Of one row a sum over all there is says nothing about its axis.
    bool all = true;
    for (std::size_t i = 0; i < removed.size(); ++i) all = all && (removed[i] || call.shapes[0][i] == 1);
    return all && removed.size() > 1 ? call.unclear() : call.mixed();
  }
  if (keeps) return x;
  return call.at(
      x.axis - static_cast<std::size_t>(std::count(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(x.axis), true)), x);
}

Flows reduce(const RowCall& call) {
  const std::size_t rank = call.shapes[0].rank();
  const auto& dims = call.attrs.integers("dims");
  std::vector<bool> removed(rank, dims.empty());
  for (std::int64_t d : dims) removed[call.resolved(d, rank)] = true;
  return {without_axes(call, removed, call.attrs.boolean("keep_dims"))};
}

Flows index_of_extreme(const RowCall& call) {
  std::vector<bool> removed(call.shapes[0].rank());
  removed[call.dim(removed.size())] = true;
  return {without_axes(call, removed, call.attrs.boolean("keep_dims"))};
}

Flows layernorm(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  if (!others_are_free(call)) return {call.unclear()};
  return {x.axis < call.dim(call.shapes[0].rank()) ? x : call.mixed()};
}

Flows last_two_axes(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  return {x.axis + 2 < call.shapes[0].rank() ? x : call.mixed()};
}

// Samples along axis 0, channels along axis 1.
template <std::size_t kOwnAxes>
Flows samples(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  if (!x.has_rows() || !others_are_free(call)) return for_all_results(call, call.unclear());
  return for_all_results(call, x.axis < kOwnAxes ? x : call.mixed());
}

// Only a pool's own positions are known to lie in their own sample.
Flows unpool(const RowCall& call) {
  const graph::Edge& indices = call.node.inputs()[1];
  const bool from_pool = indices.source.port == 1 && call.graph.node(indices.source.node).op().starts_with("max_pool");
  const RowFlow& x = call.flows[0];
  return {from_pool && x.has_rows() && x.axis == 0 && call.shapes[0][0] == call.results[0][0] ? x : call.unclear()};
}

Flows batchnorm(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  if (!x.has_rows() || !others_are_free(call)) return {call.unclear()};
  if (x.axis == 1)
    for (std::size_t i = 1; i < call.flows.size(); ++i)
      if (!same_for_all_rows(call, i, 0, x)) return {call.mixed()};
  return {x};
}

Flows lrn(const RowCall& call) { return {call.flows[0].axis == 1 ? call.mixed() : call.flows[0]}; }

Flows resize(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  const std::vector<double> scales = call.attrs.reals("scales");
  const bool stays = call.shapes[0][x.axis] == call.results[0][x.axis] && (scales.empty() || scales[x.axis] == 1) &&
                     (x.axis == 0 || call.attrs.text("coordinates") != "tf_crop_and_resize");
  return {stays ? x : call.mixed()};
}

Flows grid_sample(const RowCall& call) {
  Joined out(call);
  for (std::size_t i = 0; i < 2; ++i)
    if (call.flows[i].has_rows()) out.set(call.flows[i].axis == 0 ? call.flows[i] : call.mixed());
  for (std::size_t i = 0; i < 2; ++i)
    if (call.flows[i].is_free()) out.meet(i, 0);
  return {out.flow()};
}

// ---- products

// a times b with leading axes that broadcast; `result` without the axes that vectors lack.
RowFlow product_rows(const RowCall& call) {
  const Shape &a = call.shapes[0], &b = call.shapes[1], &result = call.results[0];
  const std::size_t ranks[] = {std::max<std::size_t>(a.rank(), 2), std::max<std::size_t>(b.rank(), 2)};
  const std::size_t lead = std::max(ranks[0], ranks[1]) - 2;
  Joined out(call);
  bool each_with_each = true;
  for (std::size_t i = 0; i < 2; ++i) {
    const RowFlow& flow = call.flows[i];
    each_with_each = each_with_each && flow.has_rows() && flow.axis + (i == 0 ? 2 : 1) == call.shapes[i].rank();
    if (!flow.has_rows()) continue;
    // As an axis of a matrix: a vector is a row on the left, a column on the right.
    const std::size_t axis = i == 0 && a.rank() == 1 ? 1 : flow.axis, rank = ranks[i];
    const bool summed = axis == (i == 0 ? rank - 1 : rank - 2);
    if (summed) {
      out.set(call.mixed());
    } else if (axis + 2 < rank) {
      const std::size_t to = axis + lead + 2 - rank;
      out.rows(i, to, result[to]);
    } else {
      const std::size_t to = i == 0 || a.rank() == 1 ? lead : lead + 1;
      out.rows(i, to, result[to]);
    }
  }
  if (each_with_each) return call.mixed();
  for (std::size_t i = 0; i < 2 && out.flow().has_rows(); ++i)
    if (const std::size_t axis = out.flow().axis; call.flows[i].is_free() && axis < lead && axis + ranks[i] >= lead + 2)
      out.meet(i, axis + ranks[i] - lead - 2);
  return out.flow();
}

// A product, and what is added to it element by element.
Flows with_addends(const RowCall& call, const RowFlow& product, bool product_is_free) {
  for (std::size_t i = 2; i < call.flows.size(); ++i) {
    if (product_is_free) return {call.unclear()};
    if (!call.flows[i].is_free()) {
      const std::size_t axis = call.flows[i].axis + call.results[0].rank() - call.shapes[i].rank();
      if (product != call.at(axis, call.flows[i])) return {call.unclear()};
    } else if (const std::size_t missing = call.results[0].rank() - call.shapes[i].rank();
               product.has_rows() && product.axis >= missing && !same_for_all_rows(call, i, product.axis - missing, product)) {
      return {call.mixed()};
    }
  }
  return {product};
}

Flows matmul(const RowCall& call) {
  const bool is_free = call.flows[0].is_free() && call.flows[1].is_free();
  return with_addends(call, is_free ? RowFlow{} : product_rows(call), is_free);
}

Flows gemm(const RowCall& call) {
  Joined out(call);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.flows[i].has_rows()) continue;
    const bool turned = call.attrs.boolean(i == 0 ? "trans_a" : "trans_b");
    const bool summed = (call.flows[i].axis == 1) == ((i == 0) != turned);
    if (summed)
      out.set(call.mixed());
    else
      out.rows(i, i, call.results[0][i]);
  }
  return with_addends(call, out.flow(), !out.found());
}

Flows sparse_matmul(const RowCall& call) {
  const RowFlow& x = call.flows[1];
  const bool leads = call.flows[0].is_free() && x.has_rows() && x.axis + 3 < call.shapes[1].rank() && call.results[0].rank() > x.axis &&
                     call.results[0][x.axis] == call.shapes[1][x.axis];
  return {leads ? x : call.unclear()};
}

Flows depthwise(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  return {x.has_rows() && others_are_free(call) && x.axis + 1 < call.shapes[0].rank() ? x : call.unclear()};
}

// The last axis holds the parts of complex numbers.
Flows dft(const RowCall& call) {
  if (call.flows[0].axis + 1 == call.shapes[0].rank()) return {call.mixed()};
  return along_dim(call);
}

// ---- movement

Flows reshape(const RowCall& call) { return {reshaped_rows(call, call.flows[0], call.shapes[0], call.results[0])}; }

Flows squeeze(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  const Shape& in = call.shapes[0];
  std::vector<bool> removed(in.rank());
  const auto& dims = call.attrs.integers("dims");
  for (std::size_t i = 0; i < in.rank(); ++i) removed[i] = dims.empty() && in[i] == 1;
  for (std::int64_t d : dims) removed[call.resolved(d, in.rank())] = true;
  return {removed[x.axis] ? call.unclear() : without_axes(call, removed, false)};
}

Flows unsqueeze(const RowCall& call) {
  const std::size_t rank = call.results[0].rank();
  std::vector<bool> added(rank);
  for (std::int64_t d : call.attrs.integers("dims")) added[call.resolved(d, rank)] = true;
  std::size_t old = 0;
  for (std::size_t i = 0; i < rank; ++i)
    if (!added[i] && old++ == call.flows[0].axis) return {call.at(i, call.flows[0])};
  return {call.unclear()};
}

Flows transpose(const RowCall& call) {
  const auto& perm = call.attrs.integers("perm");
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] == static_cast<std::int64_t>(call.flows[0].axis)) return {call.at(i, call.flows[0])};
  return {call.unclear()};
}

Flows concatenate(const RowCall& call) {
  const std::size_t dim = call.dim(call.results[0].rank());
  Joined out(call);
  std::int64_t outer = 0;
  bool all_have_rows = true;
  for (const RowFlow& f : call.flows) {
    all_have_rows = all_have_rows && f.has_rows() && f.axis == dim && f.inner == call.flows[0].inner;
    outer += f.outer;
    if (f.has_rows() && f.axis != dim) out.set(f);
    if (f.has_rows() && f.axis == dim) out.set(call.unclear());
  }
  if (all_have_rows) return {{RowFlow::Kind::rows, dim, outer, call.flows[0].inner, {}}};
  for (std::size_t i = 0; i < call.flows.size(); ++i)
    if (call.flows[i].is_free() && out.flow().has_rows()) out.meet(i, out.flow().axis);
  return {out.flow()};
}

// Other sizes along an axis without rows are all the same to the rows.
Flows keeps_rows_axis(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  return {call.shapes[0][x.axis] == call.results[0][x.axis] ? x : call.unclear()};
}

// The whole of the axis of rows, in its order, or some of the parts that each have a place for all rows.
Flows slice(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  const auto& dims = call.attrs.integers("dims");
  const auto& steps = call.attrs.integers("steps");
  const std::int64_t part = call.batch * x.inner, size = call.shapes[0][x.axis], length = call.results[0][x.axis];
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (call.resolved(dims[i], call.shapes[0].rank()) != x.axis) continue;
    const std::int64_t step = steps.empty() ? 1 : steps[i], given = call.attrs.integers("starts")[i];
    const std::int64_t start = std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
    if (step != 1 && length != 1) return {call.mixed()};
    if (length == 0 || start % part != 0 || length % part != 0) return {call.mixed()};
    return {{RowFlow::Kind::rows, x.axis, length / part, x.inner, {}}};
  }
  return {x};
}

Flows broadcast_to(const RowCall& call) {
  const std::size_t axis = call.flows[0].axis + call.results[0].rank() - call.shapes[0].rank();
  return {call.results[0][axis] == call.shapes[0][call.flows[0].axis] ? call.at(axis, call.flows[0]) : call.unclear()};
}

Flows tile(const RowCall& call) {
  RowFlow out = call.flows[0];
  out.outer *= call.attrs.integers("repeats")[out.axis];
  return {out.outer == 0 ? call.unclear() : out};
}

// ---- indices

Flows gather(const RowCall& call) {
  const RowFlow &x = call.flows[0], &indices = call.flows[1];
  const std::size_t dim = call.dim(call.shapes[0].rank()), rank = call.shapes[1].rank();
  if (x.is_free()) return {call.at(dim + indices.axis, indices)};
  if (!indices.is_free()) return {call.unclear()};
  if (x.axis == dim) return {moved_rows(call)};
  return {call.at(x.axis < dim ? x.axis : x.axis + rank - 1, x)};
}

// x, indices and perhaps updates: each element along the axes other than `dim` is for itself.
Flows along_elements(const RowCall& call) {
  const std::size_t dim = call.dim(call.shapes[0].rank());
  Joined out(call);
  for (std::size_t i = 0; i < call.flows.size(); ++i) {
    const RowFlow& f = call.flows[i];
    if (!f.has_rows()) continue;
    const bool gathers_from_free = f.axis == dim && i == 1 && call.flows[0].is_free() && call.flows.size() == 2;
    out.set(f.axis != dim || gathers_from_free ? f : call.unclear());
  }
  if (!out.flow().has_rows()) return {out.flow()};
  const std::size_t axis = out.flow().axis;
  for (std::size_t i = 0; i < call.flows.size(); ++i) {
    if (axis == dim && i == 0) continue;
    if (call.shapes[i][axis] != call.results[0][axis]) return {call.unclear()};
    if (call.flows[i].is_free()) out.meet(i, axis);
  }
  return {out.flow()};
}

Flows gather_nd(const RowCall& call) {
  const RowFlow &x = call.flows[0], &indices = call.flows[1];
  const Shape& at = call.shapes[1];
  const auto shared = static_cast<std::size_t>(call.attrs.integer("batch_dims"));
  const std::size_t named = shared + static_cast<std::size_t>(at[at.rank() - 1]);
  if (indices.is_free() && x.axis >= named) return {call.at(at.rank() - 1 + x.axis - named, x)};
  Joined out(call);
  for (std::size_t i = 0; i < 2; ++i) {
    const RowFlow& f = call.flows[i];
    if (!f.has_rows()) continue;
    const bool own = f.axis < shared || (i == 1 && x.is_free() && f.axis + 1 < at.rank());
    if (!own && indices.is_free()) return {moved_rows(call)};
    out.set(own ? f : call.unclear());
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (call.flows[i].is_free() && out.flow().has_rows() && out.flow().axis < shared) out.meet(i, out.flow().axis);
  return {out.flow()};
}

Flows scatter_nd(const RowCall& call) {
  const std::size_t rank = call.shapes[1].rank();
  const auto named = static_cast<std::size_t>(call.shapes[1][rank - 1]);
  if (!call.flows[1].is_free()) return {call.unclear()};
  Joined out(call);
  for (std::size_t i : {0, 2}) {
    const RowFlow& f = call.flows[i];
    if (!f.has_rows()) continue;
    // Where x has the axis, the updates have it behind those of the indices.
    const std::size_t axis = i == 0 ? f.axis : f.axis + 1 >= rank ? f.axis + 1 - rank + named : 0;
    if (axis < named) return {call.attrs.text("reduction") == "none" ? moved_rows(call) : call.unclear()};
    out.set(call.at(axis, f));
  }
  if (call.flows[0].is_free()) out.meet(0, out.flow().axis);
  if (call.flows[2].is_free() && out.flow().has_rows()) out.meet(2, out.flow().axis - named + rank - 1);
  return {out.flow()};
}

Flows one_hot(const RowCall& call) {
  const RowFlow& indices = call.flows[0];
  if (!call.flows[1].is_free()) return {call.unclear()};
  return {call.at(indices.axis < call.dim(call.results[0].rank()) ? indices.axis : indices.axis + 1, indices)};
}

Flows reverse_sequence(const RowCall& call) {
  const std::size_t rank = call.shapes[0].rank();
  const std::size_t samples_axis = call.resolved(call.attrs.integer("batch_dim"), rank);
  Joined out(call);
  if (call.flows[0].has_rows())
    out.set(call.flows[0].axis == call.resolved(call.attrs.integer("time_dim"), rank) ? call.mixed() : call.flows[0]);
  if (call.flows[1].has_rows()) out.set(call.at(samples_axis, call.flows[1]));
  if (out.flow().has_rows() && call.flows[0].is_free()) out.meet(0, out.flow().axis);
  if (out.flow().has_rows() && out.flow().axis == samples_axis && call.flows[1].is_free()) out.meet(1, 0);
  return {out.flow()};
}

Flows ngrams(const RowCall& call) {
  const RowFlow& x = call.flows[0];
  return {call.shapes[0].rank() == 2 && x.axis == 0 ? x : call.mixed()};
}

// ---- sequences

// x [steps, batch, input], w, r, b, lengths [batch], then h and c [directions, batch, hidden].
Flows recurrent(const RowCall& call) {
  constexpr std::array<std::size_t, 8> kSampleAxis = {1, 9, 9, 9, 0, 1, 1, 9};  // 9: a weight
  Joined out(call);
  for (std::size_t i = 0; i < call.flows.size(); ++i)
    if (call.flows[i].has_rows())
      out.set(call.flows[i].axis == kSampleAxis[i] ? call.at(1, call.flows[i]) : i == 0 ? call.mixed() : call.unclear());
  for (std::size_t i = 0; i < call.flows.size(); ++i)
    if (call.flows[i].is_free() && kSampleAxis[i] != 9) out.meet(i, kSampleAxis[i]);
  Flows all = for_all_results(call, out.flow());
  if (all[0].has_rows()) all[0].axis = 2;  // [steps, directions, batch, hidden]
  return all;
}

struct Rule {
  std::string_view name;  // of an op, or of a family
  RowRule rule;
};

constexpr Rule kFamilyRules[] = {{"eltwise_binary", elementwise},
                                 {"eltwise_unary", elementwise},
                                 {"eltwise_math", elementwise},
                                 {"activation", elementwise},
                                 {"comparison", elementwise},
                                 {"integer", elementwise},
                                 {"int8", elementwise},
                                 {"quantization", scaled_along_dim},
                                 {"reduce", reduce},
                                 {"conv", samples<1>},
                                 {"conv_transpose", samples<1>},
                                 {"pool", samples<2>},
                                 {"recurrent", recurrent}};

constexpr Rule kRules[] = {{"bitcast", bitcast},
                           {"round_float8", elementwise},
                           {"gemm", gemm},
                           {"matmul", matmul},
                           {"int8_matmul", matmul},
                           {"sparse_matmul", sparse_matmul},
                           {"depthwise", depthwise},
                           {"broadcast", broadcast_to},
                           {"concatenate", concatenate},
                           {"pad", keeps_rows_axis},
                           {"pad_continued", keeps_rows_axis},
                           {"reshape", reshape},
                           {"slice", slice},
                           {"squeeze", squeeze},
                           {"transpose", transpose},
                           {"unsqueeze", unsqueeze},
                           {"tile", tile},
                           {"triangle", last_two_axes},
                           {"layernorm", layernorm},
                           {"softmax", along_dim},
                           {"log_softmax", along_dim},
                           {"cumsum", along_dim},
                           {"topk", along_dim},
                           {"dft", dft},
                           {"argmax", index_of_extreme},
                           {"argmin", index_of_extreme},
                           {"determinant", last_two_axes},
                           {"gather", gather},
                           {"gather_elements", along_elements},
                           {"scatter_elements", along_elements},
                           {"gather_nd", gather_nd},
                           {"scatter_nd", scatter_nd},
                           {"one_hot", one_hot},
                           {"reverse_sequence", reverse_sequence},
                           {"ngram_counts", ngrams},
                           {"max_unpool", unpool},
                           {"batchnorm", batchnorm},
                           {"lrn", lrn},
                           {"resize", resize},
                           {"grid_sample", grid_sample}};

}  // namespace

RowRule row_rule(const OpDef& def) {
  for (const Rule& r : kRules)
    if (r.name == def.name) return r.rule;
  for (const Rule& r : kFamilyRules)
    if (r.name == def.family) return r.rule;
  return nullptr;
}

}  // namespace buda::ops
