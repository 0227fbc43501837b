// SPDX-License-Identifier: Apache-2.0
// torchvision's deformable convolution (Dai and others, 2017; with a mask Zhu and others, 2019): each element of the kernel reads the image
// at a place of its own, which is moved by an input.
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <tuple>
#include <utility>
#include <vector>

namespace buda::torchscript {
namespace {

struct Deformable {
  Shape x, weight, offset;
  Dims stride, padding, dilation;
  std::int64_t groups = 1, offset_groups = 1;
  Dims places;  // rows and columns of the result

  std::int64_t taps() const { return weight[2] * weight[3]; }
  std::int64_t points() const { return places[0] * places[1]; }
  std::int64_t parts() const { return x[0] * offset_groups; }  // of the image, with places of their own
};

Result<Deformable> deformable(Call& n) {
  Deformable d;
  BUDA_ASSIGN(d.x, n.shape("input"));
  BUDA_ASSIGN(d.weight, n.shape("weight"));
  BUDA_ASSIGN(d.offset, n.shape("offset"));
  for (const auto& [to, rows, columns] : {std::tuple{&d.stride, "stride_h", "stride_w"}, std::tuple{&d.padding, "pad_h", "pad_w"},
                                          std::tuple{&d.dilation, "dilation_h", "dilation_w"}}) {
    BUDA_ASSIGN(const auto of_rows, n.integer(rows));
    BUDA_ASSIGN(const auto of_columns, n.integer(columns));
    *to = {of_rows, of_columns};
  }
  BUDA_ASSIGN(d.groups, n.integer("groups"));
  BUDA_ASSIGN(d.offset_groups, n.integer("offset_groups"));
  bool fits = d.x.rank() == 4 && d.weight.rank() == 4 && d.offset.rank() == 4 && d.groups > 0 && d.offset_groups > 0;
  fits = fits && d.x[1] == d.weight[1] * d.groups && d.x[1] % d.offset_groups == 0 && d.weight[0] % d.groups == 0;
  for (std::size_t i = 0; fits && i < 2; ++i) {
    fits = d.stride[i] > 0 && d.dilation[i] > 0;
    if (!fits) break;
    const std::int64_t room = d.x[i + 2] + 2 * d.padding[i] - d.dilation[i] * (d.weight[i + 2] - 1) - 1;
    fits = room >= 0;
    d.places.push_back(room / d.stride[i] + 1);
  }
  if (!fits || d.offset != Shape{d.x[0], 2 * d.offset_groups * d.taps(), d.places[0], d.places[1]})
    return n.refuse(cat("its input is ", d.x.text(), ", its weight ", d.weight.text(), " and its offset ", d.offset.text(),
                        ", which do not fit each other"));
  return d;
}

// Where each element of the kernel reads for each element of the result, (y, x), without an offset; from -1 to 1, as grid_sample has them.
Tensor undeformed_places(const Deformable& d) {
  std::vector<float> out;
  for (std::int64_t tap = 0; tap < d.taps(); ++tap)
    for (std::int64_t point = 0; point < d.points(); ++point) {
      const std::int64_t of_kernel[] = {tap / d.weight[3], tap % d.weight[3]}, of_result[] = {point / d.places[1], point % d.places[1]};
      for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t at = of_result[i] * d.stride[i] - d.padding[i] + of_kernel[i] * d.dilation[i];
        out.push_back(static_cast<float>(static_cast<double>(2 * at + 1) / static_cast<double>(d.x[i + 2]) - 1));
      }
    }
  return Tensor(Shape{1, d.taps(), d.points(), 2}, std::move(out));
}

Ref grid_of(Call& n, const Deformable& d, DType dtype) {
  Ref offset = n.ref("offset");
  offset = n.step("offset.parts").reshape(offset, Shape{d.parts(), d.taps(), 2, d.points()});
  offset = n.step("offset.pairs").transpose(offset, {0, 1, 3, 2});
  const std::vector<float> sizes = {static_cast<float>(2.0 / static_cast<double>(d.x[2])),
                                    static_cast<float>(2.0 / static_cast<double>(d.x[3]))};
  Ref scales = n.constant(Tensor(Shape{1, 1, 1, 2}, sizes).cast(dtype)), places = n.constant(undeformed_places(d).cast(dtype));
  Ref scaled = n.step("offset.scaled").multiply(offset, scales);
  Ref moved = n.step("places").add(scaled, places);
  // From (y, x) to (x, y).
  Ref rows = n.step("places.rows").slice(moved, 3, 0, 1), columns = n.step("places.columns").slice(moved, 3, 1, 2);
  return n.step("grid").concatenate({columns, rows}, 3);
}

Result<Value> import_deform_conv2d(Call& n) {
  BUDA_ASSIGN(const Deformable d, deformable(n));
  BUDA_ASSIGN(const DType dtype, n.dtype("input"));
  BUDA_ASSIGN(const bool masked, n.flag_or("use_mask", false));
  const std::int64_t channels = d.x[1] / d.offset_groups;
  Ref image = n.ref("input");
  image = n.step("parts").reshape(image, Shape{d.parts(), channels, d.x[2], d.x[3]});
  Ref grid = grid_of(n, d, dtype);
  Ref read = n.step("read").op("grid_sample", {image, grid});
  if (masked) {
    BUDA_ASSIGN(const Shape mask, n.shape("mask"));
    if (mask != Shape{d.x[0], d.offset_groups * d.taps(), d.places[0], d.places[1]})
      return n.refuse(cat("its mask is ", mask.text(), " and its offset ", d.offset.text(), ", which do not fit each other"));
    Ref factors = n.ref("mask");
    factors = n.step("mask.parts").reshape(factors, Shape{d.parts(), 1, d.taps(), d.points()});
    read = n.step("masked").multiply(read, factors);
  }
  const std::int64_t terms = d.weight[1] * d.taps();
  Ref columns = n.step("columns").reshape(read, Shape{d.x[0], d.groups, terms, d.points()});
  Ref weights = n.ref("weight");
  weights = n.step("weights").reshape(weights, Shape{d.groups, d.weight[0] / d.groups, terms});
  Ref sums = n.step("sums").matmul(weights, columns);
  const Shape result{d.x[0], d.weight[0], d.places[0], d.places[1]};
  if (!n.has("bias")) return n.tensor(n.result().reshape(sums, result));
  Ref shaped = n.step("shaped").reshape(sums, result);
  Ref bias = n.ref("bias");
  bias = n.step("bias").reshape(bias, Shape{1, d.weight[0], 1, 1});
  return n.tensor(n.result().add(shaped, bias));
}

constexpr OpImporter kDeformableOps[] = {
    {"torchvision.deform_conv2d",
     "input weight offset mask bias stride_h stride_w pad_h pad_w dilation_h dilation_w groups offset_groups use_mask",
     import_deform_conv2d},
};

}  // namespace

std::span<const OpImporter> deformable_ops() { return kDeformableOps; }

}  // namespace buda::torchscript
