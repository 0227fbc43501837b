// SPDX-License-Identifier: Apache-2.0
// Images of other sizes; they have channels last.
#include "node_import.hpp"

#include <buda/base/text.hpp>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> resize(NodeImport& n, ops::AttrMap attrs) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims size, n.known_integers(1, "size"));
  if (x.rank() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    return n.refuse(
        cat("its input is ", x.text(), " and its size ", list_text(size), "; [samples, rows, columns, channels] and two sizes are needed"));
  attrs["shape"] = Dims{x[0], x[3], size[0], size[1]};
  Ref image = n.layouts().channels_first(n.step("first"), n.input(0));
  Ref y = n.result().op("resize", {image}, std::move(attrs));
  n.output(n.layouts().channels_last(n.step("last"), y));
  return success();
}

Result<void> import_bilinear(NodeImport& n) {
  std::string coordinates = n.flag("align_corners", false)        ? "align_corners"
                            : n.flag("half_pixel_centers", false) ? "half_pixel"
                                                                  : "asymmetric";
  return resize(n, {{"method", std::string("linear")}, {"coordinates", coordinates}});
}

Result<void> import_nearest(NodeImport& n) {
  bool corners = n.flag("align_corners", false);
  std::string coordinates = corners ? "align_corners" : n.flag("half_pixel_centers", false) ? "tf_half_pixel_for_nn" : "asymmetric";
  return resize(n, {{"coordinates", coordinates}, {"nearest", std::string(corners ? "round_prefer_ceil" : "floor")}});
}

constexpr OpImporter kResizingOps[] = {
    {"ResizeBilinear", import_bilinear, {}, "size known"},
    {"ResizeNearestNeighbor", import_nearest, {}, "size known"},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::tensorflow_frontend
