// SPDX-License-Identifier: Apache-2.0
// Images of other sizes.
#include "node_import.hpp"

#include <buda/base/text.hpp>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> resize(NodeImport& n, Ref value, ops::AttrMap attrs, bool stored) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims size, n.known_integers(1, "size"));
  if (x.rank() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    return n.refuse(
        cat("its input is ", x.text(), " and its size ", list_text(size), "; [samples, rows, columns, channels] and two sizes are needed"));
  attrs["shape"] = Dims{x[0], x[3], size[0], size[1]};
  Ref image = n.channels_first(value);
  Ref y = n.channels_last(n.result().op("resize", {image}, std::move(attrs)));
  if (stored)
    n.output(y);
  else
    n.output_number(y);
  return success();
}

Result<void> import_bilinear(NodeImport& n) {
  const auto& o = n.options<format::ResizeBilinearOptions>();
  std::string coordinates = o.align_corners() ? "align_corners" : o.half_pixel_centers() ? "half_pixel" : "asymmetric";
  return resize(n, n.number(0), {{"method", std::string("linear")}, {"coordinates", coordinates}}, false);
}

Result<void> import_nearest(NodeImport& n) {
  const auto& o = n.options<format::ResizeNearestNeighborOptions>();
  ops::AttrMap attrs{{"coordinates", std::string(o.align_corners()        ? "align_corners"
                                                 : o.half_pixel_centers() ? "tf_half_pixel_for_nn"
                                                                          : "asymmetric")},
                     {"nearest", std::string(o.align_corners() ? "round_prefer_ceil" : "floor")}};
  return resize(n, n.moved(0), std::move(attrs), true);
}

constexpr OpImporter kResizingOps[] = {
    {Code::RESIZE_BILINEAR, import_bilinear, {}, Exactness::rounded, "size known"},
    {Code::RESIZE_NEAREST_NEIGHBOR, import_nearest, {}, Exactness::exact, "size known"},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::tflite_frontend
