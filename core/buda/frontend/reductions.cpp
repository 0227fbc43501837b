// SPDX-License-Identifier: Apache-2.0
// Reductions along axes.
#include <buda/frontend/reductions.hpp>

#include <algorithm>

namespace buda::frontend {

namespace {

using Ref = graph::ValueRef;

}  // namespace

Result<Dims> reduced_axes(const OpImport& op, const Dims& given, std::size_t rank) {
  Dims axes;
  for (auto a : given) {
    BUDA_ASSIGN(auto axis, axis_of(op, a, rank));
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

ops::AttrMap reduce_attrs(Dims axes, bool keep) {
  ops::AttrMap attrs{{"dims", std::move(axes)}};
  if (!keep) attrs["keep_dims"] = false;
  return attrs;
}

Ref reduced(OpImport& op, Layouts& layouts, Ref x, const std::string& reduction, Dims axes, bool keep) {
  if (axes.empty()) return x;
  if (auto first = layouts.channels_first(x); first && axes == Dims{1, 2}) {
    Ref y = op.result().op(reduction, {*first}, reduce_attrs({2, 3}, keep));
    return keep ? layouts.channels_last(op.step("last"), y) : y;
  }
  return op.result().op(reduction, {x}, reduce_attrs(std::move(axes), keep));
}

Ref reduced_truths(OpImport& op, Ref x, const std::string& reduction, Dims axes, bool keep) {
  Ref numbers = op.step("numbers").op("cast", {x}, {{"dtype", std::string("I32")}});
  if (!axes.empty()) numbers = op.step("reduced").op(reduction, {numbers}, reduce_attrs(std::move(axes), keep));
  return op.result().op("cast", {numbers}, {{"dtype", std::string("BOOL")}});
}

}  // namespace buda::frontend
