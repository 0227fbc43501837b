// SPDX-License-Identifier: Apache-2.0
// Borders.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

struct Border {
  Dims before, after;
};

// Pairs (before, after) from the last axis on; those below 0 cut.
Result<Border> border(Call& n, const Shape& shape) {
  BUDA_ASSIGN(Dims pairs, n.integers("pad"));
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > shape.rank())
    return n.refuse(cat("its padding ", list_text(pairs), " does not fit an input of shape ", shape.text()));
  Border out{Dims(shape.rank(), 0), Dims(shape.rank(), 0)};
  for (std::size_t i = 0; i < pairs.size() / 2; ++i) {
    const std::size_t axis = shape.rank() - 1 - i;
    out.before[axis] = pairs[2 * i];
    out.after[axis] = pairs[2 * i + 1];
    for (auto v : {pairs[2 * i], pairs[2 * i + 1]})
      if (v > (1 << 30) || v < -shape[axis])
        return n.refuse(cat("its padding ", list_text(pairs), " does not fit an input of shape ", shape.text()));
  }
  return out;
}

// What is cut off by negative numbers, which are 0 then.
Ref cut(Call& n, Ref x, const Shape& shape, Border& b) {
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (b.before[i] >= 0 && b.after[i] >= 0) continue;
    x = n.step("cut").slice(x, static_cast<std::int64_t>(i), std::max<std::int64_t>(-b.before[i], 0),
                            shape[i] - std::max<std::int64_t>(-b.after[i], 0));
    b.before[i] = std::max<std::int64_t>(b.before[i], 0);
    b.after[i] = std::max<std::int64_t>(b.after[i], 0);
  }
  return x;
}

Result<Value> pad_with(Call& n, std::string_view mode, double value) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Border b, border(n, shape));
  Ref x = cut(n, n.ref("self"), shape, b);
  auto none = [](const Dims& d) { return std::all_of(d.begin(), d.end(), [](auto v) { return v == 0; }); };
  if (none(b.before) && none(b.after)) return n.tensor(x);
  if (mode == "constant") return n.tensor(n.result().pad(x, b.before, b.after, value));
  return n.tensor(n.result().op("pad_continued", {x}, {{"before", b.before}, {"after", b.after}, {"mode", std::string(mode)}}));
}

Result<Value> pad_constant(Call& n) {
  BUDA_ASSIGN(double value, n.real_or("value", 0));
  return pad_with(n, "constant", value);
}

Result<Value> pad_continued(Call& n) { return pad_with(n, n.importer().op, 0); }

Result<Value> pad_any(Call& n) {
  BUDA_ASSIGN(std::string mode, n.text_or("mode", "constant"));
  BUDA_ASSIGN(double value, n.real_or("value", 0));
  if (mode == "constant") return pad_with(n, mode, value);
  if (mode == "reflect") return pad_with(n, mode, 0);
  if (mode == "replicate") return pad_with(n, "edge", 0);
  if (mode == "circular") return pad_with(n, "wrap", 0);
  return n.refuse(cat("its mode is '", mode, "', not constant, reflect, replicate or circular"));
}

constexpr OpImporter kPaddingOps[] = {
    {"constant_pad_nd", "self pad value", pad_constant},        {"pad", "self pad mode value", pad_any},
    {"reflection_pad1d", "self pad", pad_continued, "reflect"}, {"reflection_pad2d", "self pad", pad_continued, "reflect"},
    {"reflection_pad3d", "self pad", pad_continued, "reflect"}, {"replication_pad1d", "self pad", pad_continued, "edge"},
    {"replication_pad2d", "self pad", pad_continued, "edge"},   {"replication_pad3d", "self pad", pad_continued, "edge"},
};

}  // namespace

std::span<const OpImporter> padding_ops() { return kPaddingOps; }

}  // namespace buda::torchscript
