// SPDX-License-Identifier: Apache-2.0
// Images of other sizes.
#include <buda/frontend/resizing.hpp>

#include <buda/base/text.hpp>

namespace buda::frontend {

ops::AttrMap bilinear_attrs(bool align_corners, bool half_pixel_centers) {
  const std::string coordinates = align_corners ? "align_corners" : half_pixel_centers ? "half_pixel" : "asymmetric";
  return {{"method", std::string("linear")}, {"coordinates", coordinates}};
}

ops::AttrMap nearest_attrs(bool align_corners, bool half_pixel_centers) {
  const std::string coordinates = align_corners ? "align_corners" : half_pixel_centers ? "tf_half_pixel_for_nn" : "asymmetric";
  return {{"coordinates", coordinates}, {"nearest", std::string(align_corners ? "round_prefer_ceil" : "floor")}};
}

Result<graph::ValueRef> resized(OpImport& op, Layouts& layouts, graph::ValueRef x, const Shape& shape, const Dims& size,
                                ops::AttrMap attrs) {
  if (shape.rank() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    return op.refuse(cat("its input is ", shape.text(), " and its size ", list_text(size),
                         "; [samples, rows, columns, channels] and two sizes are needed"));
  attrs["shape"] = Dims{shape[0], shape[3], size[0], size[1]};
  graph::ValueRef image = layouts.channels_first(op.step("first"), x);
  graph::ValueRef y = op.result().op("resize", {image}, std::move(attrs));
  return layouts.channels_last(op.step("last"), y);
}

}  // namespace buda::frontend
