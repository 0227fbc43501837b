// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed ones, of one to three axes, with or without an axis of samples.
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/windows.hpp>

namespace buda::torchscript {
namespace {

using frontend::WindowArguments;

struct Convolution {
  Shape x, weight;
  std::size_t rank = 0;  // spatial axes
  bool alone = false;    // one sample, without its axis
};

Result<Convolution> convolution_operands(Call& n) {
  Convolution out;
  BUDA_ASSIGN(out.x, n.shape("input"));
  BUDA_ASSIGN(out.weight, n.shape("weight"));
  if (out.weight.rank() < 3 || out.weight.rank() > 5)
    return n.refuse(cat("its weight is ", out.weight.text(), "; one to three axes are supported"));
  out.rank = out.weight.rank() - 2;
  out.alone = out.x.rank() == out.rank + 1;
  if (!out.alone && out.x.rank() != out.rank + 2)
    return n.refuse(cat("its input is ", out.x.text(), " and its weight ", out.weight.text()));
  return out;
}

// "same" and "valid", or how many elements before and after each axis.
Result<Dims> padding_of(Call& n, const Convolution& c, const WindowArguments& w) {
  if (const auto* text = n["padding"].as<std::string>()) {
    if (*text == "valid") return Dims(2 * c.rank, 0);
    if (*text != "same") return n.refuse(cat("its padding is '", *text, "', not 'same' or 'valid'"));
    return frontend::same_padding(Dims(c.x.end() - static_cast<std::ptrdiff_t>(c.rank), c.x.end()), w, false);
  }
  BUDA_ASSIGN(Dims once, n.sizes_or("padding", c.rank, 0));
  Dims twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  return twice;
}

Ref convolution_samples(Call& n, const Convolution& c) {
  Ref x = n.ref("input");
  return c.alone ? n.step("sample").unsqueeze(x, {0}) : x;
}

Value finished(Call& n, const Convolution& c, Ref y) { return n.tensor(c.alone ? n.result().squeeze(y, {0}) : y); }

Result<Value> convolve(Call& n) {
  BUDA_ASSIGN(Convolution c, convolution_operands(n));
  WindowArguments w;
  w.kernel = Dims(c.weight.begin() + 2, c.weight.end());
  BUDA_ASSIGN(w.stride, n.sizes_or("stride", c.rank, 1));
  BUDA_ASSIGN(w.dilation, n.sizes_or("dilation", c.rank, 1));
  BUDA_ASSIGN(w.padding, padding_of(n, c, w));
  BUDA_ASSIGN(auto groups, n.integer_or("groups", 1));
  ops::AttrMap attrs = w.attrs();
  if (groups != 1) attrs["groups"] = groups;
  std::vector<graph::Edge> inputs{convolution_samples(n, c), n.ref("weight")};
  if (n.has("bias")) inputs.emplace_back(n.ref("bias"));
  ops::Builder& builder = c.alone ? n.step("conv") : n.result();
  return finished(n, c, builder.op(cat("conv", c.rank, "d"), std::move(inputs), std::move(attrs)));
}

// The dilation of our op is the kernel's; its padding is what is cut off.
Result<Value> convolve_transposed(Call& n) {
  BUDA_ASSIGN(Convolution c, convolution_operands(n));
  WindowArguments w;
  w.kernel = Dims(c.weight.begin() + 2, c.weight.end());
  BUDA_ASSIGN(w.stride, n.sizes_or("stride", c.rank, 1));
  BUDA_ASSIGN(w.dilation, n.sizes_or("dilation", c.rank, 1));
  BUDA_ASSIGN(w.padding, padding_of(n, c, w));
  BUDA_ASSIGN(Dims more, n.sizes_or("output_padding", c.rank, 0));
  BUDA_ASSIGN(auto groups, n.integer_or("groups", 1));
  ops::AttrMap attrs = w.attrs();
  if (groups != 1) attrs["groups"] = groups;
  for (auto m : more)
    if (m != 0) attrs["output_padding"] = more;
  std::vector<graph::Edge> inputs{convolution_samples(n, c), n.ref("weight")};
  if (n.has("bias")) inputs.emplace_back(n.ref("bias"));
  ops::Builder& builder = c.alone ? n.step("conv") : n.result();
  return finished(n, c, builder.op(cat("conv", c.rank, "d_transpose"), std::move(inputs), std::move(attrs)));
}

Result<Value> convolution_either(Call& n) {
  BUDA_ASSIGN(bool is_transposed, n.flag_or("transposed", false));
  return is_transposed ? convolve_transposed(n) : convolve(n);
}

constexpr std::string_view kPlain = "input weight bias stride padding dilation groups";
constexpr std::string_view kTransposed = "input weight bias stride padding output_padding groups dilation";
constexpr std::string_view kGeneral =
    "input weight bias stride padding dilation transposed output_padding groups benchmark deterministic cudnn_enabled allow_tf32";

constexpr OpImporter kConvolutionOps[] = {
    {"_convolution", kGeneral, convolution_either},
    {"_convolution_mode", kPlain, convolve},
    {"conv1d", kPlain, convolve},
    {"conv2d", kPlain, convolve},
    {"conv3d", kPlain, convolve},
    {"conv_transpose1d", kTransposed, convolve_transposed},
    {"conv_transpose2d", kTransposed, convolve_transposed},
    {"conv_transpose3d", kTransposed, convolve_transposed},
    {"convolution", kGeneral, convolution_either},
};

}  // namespace

std::span<const OpImporter> convolution_ops() { return kConvolutionOps; }

}  // namespace buda::torchscript
