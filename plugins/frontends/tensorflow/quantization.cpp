// SPDX-License-Identifier: Apache-2.0
// Rounding to the numbers that quantised ones stand for, as models have it that were trained for it.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;

// The range, moved so that 0 is one of its numbers.
struct Range {
  float least = 0, most = 0, scale = 1;
};

Result<Range> nudged(const NodeImport& n, float min, float max) {
  std::int64_t bits = n.integer("num_bits", 8);
  if (bits < 2 || bits > 16 || !(min < max) || !std::isfinite(min) || !std::isfinite(max))
    return n.refuse(cat("its range ", to_text(min), " to ", to_text(max), " in ", bits, " bits is not supported"));
  float first = n.flag("narrow_range", false) ? 1.0f : 0.0f, last = static_cast<float>((1 << bits) - 1);
  float scale = (max - min) / (last - first);
  float zero = std::clamp(std::round(first - min / scale), first, last);
  return Range{(first - zero) * scale, (last - zero) * scale, scale};
}

// The nearest number of each element's range; ranges are a number each, or one for each channel.
Result<void> round_to(NodeImport& n, const std::vector<Range>& ranges, bool for_channels) {
  Ref x = n.input(0);
  auto channels_first = n.layouts().channels_first(x);
  auto count = static_cast<std::int64_t>(ranges.size());
  Shape shape = !for_channels ? Shape{} : channels_first ? Shape{count, 1, 1} : Shape{count};
  auto constant = [&](const char* step, float Range::*member) {
    std::vector<float> values;
    for (const Range& r : ranges) values.push_back(r.*member);
    return n.step(step).constant(Tensor(shape, std::move(values)));
  };
  Ref least = constant("least", &Range::least), most = constant("most", &Range::most), scale = constant("scale", &Range::scale);
  Ref half = n.step("half").constant(0.5f);
  Ref y = channels_first ? *channels_first : x;
  y = n.step("below").minimum(y, most);
  y = n.step("inside").maximum(y, least);
  y = n.step("moved").subtract(y, least);
  y = n.step("steps").divide(y, scale);
  y = n.step("more").add(y, half);
  y = n.step("whole").op("floor", {y});
  y = n.step("scaled").multiply(y, scale);
  y = n.result().add(y, least);
  n.output(channels_first ? n.layouts().channels_last(n.step("last"), y) : y);
  return success();
}

Result<void> import_fake_quant_args(NodeImport& n) {
  BUDA_ASSIGN(Range range, nudged(n, static_cast<float>(n.real("min", -6)), static_cast<float>(n.real("max", 6))));
  return round_to(n, {range}, false);
}

Result<void> import_fake_quant(NodeImport& n) {
  BUDA_ASSIGN(Tensor min, n.known(1, "least"));
  BUDA_ASSIGN(Tensor max, n.known(2, "most"));
  bool for_channels = n.type_of_op() == "FakeQuantWithMinMaxVarsPerChannel";
  if (min.size() != max.size() || min.size() == 0 || (!for_channels && min.size() != 1))
    return n.refuse(cat("its range is ", min.describe(), " to ", max.describe()));
  auto first = min.to_f32(), last = max.to_f32();
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < first.size(); ++i) {
    BUDA_ASSIGN(Range range, nudged(n, first[i], last[i]));
    ranges.push_back(range);
  }
  return round_to(n, ranges, for_channels);
}

constexpr OpImporter kQuantizationOps[] = {
    {"FakeQuantWithMinMaxArgs", import_fake_quant_args},
    {"FakeQuantWithMinMaxVars", import_fake_quant, {}, "range known"},
    {"FakeQuantWithMinMaxVarsPerChannel", import_fake_quant, {}, "ranges known"},
};

}  // namespace

std::span<const OpImporter> quantization_ops() { return kQuantizationOps; }

}  // namespace buda::tensorflow_frontend
