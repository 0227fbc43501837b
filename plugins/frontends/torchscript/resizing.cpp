// SPDX-License-Identifier: Apache-2.0
// Images in other sizes.
#include "call.hpp"

#include <buda/base/text.hpp>

#include <cmath>

namespace buda::torchscript {
namespace {

struct Target {
  Dims shape;
  std::vector<double> scales;  // none: the ratios of sizes
};

// Scales as single arguments, one for each axis, or as a list.
Result<std::vector<double>> given_scales(Call& n, std::size_t rank) {
  std::vector<double> out;
  if (const auto* list = n["scale_a"].as<SequenceRef>()) {
    for (const Value& v : (*list)->items) {
      BUDA_ASSIGN(double scale, n.real_of(v, "scale_a"));
      out.push_back(scale);
    }
    if (out.size() != rank) return n.refuse(cat("has ", out.size(), " scales for ", rank, " axes"));
    return out;
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const char* names[] = {"scale_a", "scale_b", "scale_c"};
    if (!n.has(names[i])) return std::vector<double>{};
    BUDA_ASSIGN(double scale, n.real_or(names[i], 1));
    out.push_back(scale);
  }
  return out;
}

Result<Target> target_of(Call& n, const Shape& x, std::size_t rank) {
  if (x.rank() != rank + 2) return n.refuse(cat("its input is ", x.text(), "; ", rank + 2, " axes are needed"));
  Target out{Dims(x.begin(), x.end()), {}};
  BUDA_ASSIGN(auto scales, given_scales(n, rank));
  if (n.has("output_size")) {
    BUDA_ASSIGN(Dims sizes, n.integers("output_size"));
    if (sizes.size() != rank) return n.refuse(cat("its output_size is ", list_text(sizes), "; ", rank, " numbers are needed"));
    std::copy(sizes.begin(), sizes.end(), out.shape.begin() + 2);
  } else {
    if (scales.empty()) return n.refuse("has neither sizes nor scales");
    for (std::size_t i = 0; i < rank; ++i) {
      const double size = std::floor(static_cast<double>(x[i + 2]) * scales[i]);
      if (!(size >= 1) || size > 1e9) return n.refuse(cat("its scale is ", scales[i]));
      out.shape[i + 2] = static_cast<std::int64_t>(size);
    }
  }
  if (!scales.empty()) {
    out.scales = {1, 1};
    out.scales.insert(out.scales.end(), scales.begin(), scales.end());
  }
  return out;
}

Result<Value> resize(Call& n) {
  const std::string_view name = n.importer().name;
  const std::size_t rank = name.find("1d") != std::string_view::npos ? 1 : name.find("3d") != std::string_view::npos ? 3 : 2;
  BUDA_ASSIGN(Shape x, n.shape("self"));
  BUDA_ASSIGN(Target target, target_of(n, x, rank));
  BUDA_ASSIGN(bool corners, n.flag_or("align_corners", false));
  ops::AttrMap attrs{{"shape", target.shape}};
  const std::string method(n.importer().op);
  if (method != "nearest" && method != "exact") attrs["method"] = method;
  if (corners) {
    attrs["coordinates"] = std::string("align_corners");
  } else {
    if (!target.scales.empty()) attrs["scales"] = target.scales;
    if (method == "nearest") {
      attrs["coordinates"] = std::string("asymmetric");
      attrs["nearest"] = std::string("floor");
    } else if (method == "exact") {
      attrs["nearest"] = std::string("round_prefer_ceil");
    } else {
      attrs["coordinates"] = std::string("pytorch_half_pixel");
    }
  }
  if (name.ends_with("_aa")) {
    attrs["antialias"] = true;
    attrs["exclude_outside"] = true;
    if (method == "cubic") attrs["cubic_coefficient"] = -0.5;  // where it smooths, PyTorch takes that of Pillow
  }
  Ref input = n.ref("self");
  if (target.shape == x.dims()) return n.tensor(input);
  return n.tensor(n.result().op("resize", {input}, std::move(attrs)));
}

constexpr std::string_view kSmooth1 = "self output_size align_corners scale_a", kSmooth2 = "self output_size align_corners scale_a scale_b",
                           kSmooth3 = "self output_size align_corners scale_a scale_b scale_c";
constexpr std::string_view kNearest1 = "self output_size scale_a", kNearest2 = "self output_size scale_a scale_b",
                           kNearest3 = "self output_size scale_a scale_b scale_c";

constexpr OpImporter kResizingOps[] = {
    {"_upsample_bicubic2d_aa", kSmooth2, resize, "cubic"},     {"_upsample_bilinear2d_aa", kSmooth2, resize, "linear"},
    {"_upsample_nearest_exact1d", kNearest1, resize, "exact"}, {"_upsample_nearest_exact2d", kNearest2, resize, "exact"},
    {"_upsample_nearest_exact3d", kNearest3, resize, "exact"}, {"upsample_bicubic2d", kSmooth2, resize, "cubic"},
    {"upsample_bilinear2d", kSmooth2, resize, "linear"},       {"upsample_linear1d", kSmooth1, resize, "linear"},
    {"upsample_nearest1d", kNearest1, resize, "nearest"},      {"upsample_nearest2d", kNearest2, resize, "nearest"},
    {"upsample_nearest3d", kNearest3, resize, "nearest"},      {"upsample_trilinear3d", kSmooth3, resize, "linear"},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::torchscript
