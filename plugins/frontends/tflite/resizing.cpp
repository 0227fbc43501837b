// SPDX-License-Identifier: Apache-2.0
// Images of other sizes.
#include "node_import.hpp"

#include <buda/frontend/resizing.hpp>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> resize(NodeImport& n, Ref value, ops::AttrMap attrs, bool stored) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims size, n.known_integers(1, "size"));
  BUDA_ASSIGN(Ref y, frontend::resized(n, n.layouts(), value, x, size, std::move(attrs)));
  if (stored)
    n.output(y);
  else
    n.output_number(y);
  return success();
}

Result<void> import_bilinear(NodeImport& n) {
  const auto& o = n.options<format::ResizeBilinearOptions>();
  return resize(n, n.number(0), frontend::bilinear_attrs(o.align_corners(), o.half_pixel_centers()), false);
}

Result<void> import_nearest(NodeImport& n) {
  const auto& o = n.options<format::ResizeNearestNeighborOptions>();
  return resize(n, n.moved(0), frontend::nearest_attrs(o.align_corners(), o.half_pixel_centers()), true);
}

constexpr OpImporter kResizingOps[] = {
    {Code::RESIZE_BILINEAR, import_bilinear, {}, Exactness::rounded, "size known"},
    {Code::RESIZE_NEAREST_NEIGHBOR, import_nearest, {}, Exactness::exact, "size known"},
};

}  // namespace

std::span<const OpImporter> resizing_ops() { return kResizingOps; }

}  // namespace buda::tflite_frontend
