// SPDX-License-Identifier: Apache-2.0
// Complex numbers, each part a value of its own, and Fourier transforms.
//
//   RFFT(x)         ->  real, imaginary: the parts of dft(x)
//   ComplexAbs(z)   ->  sqrt(real^2 + imaginary^2)
//   Reshape(z, s)   ->  Reshape(real, s), Reshape(imaginary, s)
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/angles.hpp>
#include <buda/frontend/slices.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// Complex numbers; without an imaginary part they are real.
struct Parts {
  Ref real, imaginary;
};

Result<Parts> parts_of(NodeImport& n, std::size_t i) {
  const Value& value = n.value(i);
  if (value.kind != Value::Kind::complex) return n.refuse(cat("its input ", i, " is not complex"));
  return Parts{value.real, value.imaginary};
}

Result<Ref> zeros(NodeImport& n, Ref like) {
  BUDA_ASSIGN(auto type, n.type_of(like));
  Ref zero = n.step("zero").constant(0.0, type.dtype);
  return n.step("zeros").broadcast(zero, type.shape);
}

// ---- transforms

// What the op dft works on: the parts along a last axis.
Result<Ref> joined(NodeImport& n, const Parts& z) {
  BUDA_ASSIGN(Shape shape, n.shape_of(z.real));
  const auto last = static_cast<std::int64_t>(shape.rank());
  Ref real = n.step("real").unsqueeze(z.real, {last});
  if (!z.imaginary.valid()) return real;
  Ref imaginary = n.step("imaginary").unsqueeze(z.imaginary, {last});
  return n.step("parts").concatenate({real, imaginary}, -1);
}

Result<Ref> part(NodeImport& n, ops::Builder& (*where)(NodeImport&), Ref both, std::int64_t i) {
  BUDA_ASSIGN(Shape shape, n.shape_of(both));
  Ref slice = n.step("part").slice(both, -1, i, i + 1);
  return where(n).squeeze(slice, {static_cast<std::int64_t>(shape.rank()) - 1});
}

Ref transformed(NodeImport& n, Ref both, std::int64_t axis, std::int64_t length, bool inverse, bool onesided) {
  return n.step("transform").op("dft", {both}, {{"dim", axis}, {"length", length}, {"inverse", inverse}, {"onesided", onesided}});
}

Result<void> output_parts(NodeImport& n, Ref both) {
  BUDA_ASSIGN(Ref real, part(
                            n, [](NodeImport& m) -> ops::Builder& { return m.step("real"); }, both, 0));
  BUDA_ASSIGN(Ref imaginary, part(
                                 n, [](NodeImport& m) -> ops::Builder& { return m.step("imaginary"); }, both, 1));
  n.output(Value::of_parts(real, imaginary));
  return success();
}

struct Transform {
  std::int64_t first = 0, axes = 0;  // the last `axes` of them
  Dims lengths;                      // of the transforms, where the node gives them
};

// The axes of an operator that is named by their number ("FFT", "RFFT2D"); `lengths`: its second input.
Result<Transform> transform_of(NodeImport& n, const Shape& shape, bool lengths) {
  Transform out;
  out.axes = n.type_of_op().ends_with("2D") ? 2 : 1;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (rank < out.axes) return n.refuse(cat("its input is ", shape.text(), ", which has fewer than ", out.axes, " axes"));
  out.first = rank - out.axes;
  if (!lengths) {
    for (std::int64_t i = out.first; i < rank; ++i) out.lengths.push_back(shape[static_cast<std::size_t>(i)]);
  } else {
    BUDA_ASSIGN(out.lengths, n.known_integers(1, "lengths"));
  }
  const bool fits = static_cast<std::int64_t>(out.lengths.size()) == out.axes &&
                    std::all_of(out.lengths.begin(), out.lengths.end(), [](auto l) { return l > 0 && l <= (1 << 24); });
  if (!fits) return n.refuse(cat("its lengths are ", list_text(out.lengths), "; ", out.axes, " of 1 to ", 1 << 24, " are needed"));
  return out;
}

// Of complex numbers, there and back.
Result<void> import_fft(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  BUDA_ASSIGN(Shape shape, n.shape_of(z.real));
  BUDA_ASSIGN(Transform t, transform_of(n, shape, false));
  BUDA_ASSIGN(Ref both, joined(n, z));
  for (std::int64_t i = t.axes; i-- > 0;)
    both = transformed(n, both, t.first + i, t.lengths[static_cast<std::size_t>(i)], n.type_of_op().starts_with("I"), false);
  return output_parts(n, both);
}

// Of real numbers: the points that the others mirror are left out along the last axis.
Result<void> import_rfft(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(Transform t, transform_of(n, shape, true));
  Ref x = n.input(0);
  BUDA_ASSIGN(Ref both, joined(n, {x, Ref()}));
  for (std::int64_t i = t.axes; i-- > 0;)
    both = transformed(n, both, t.first + i, t.lengths[static_cast<std::size_t>(i)], false, i == t.axes - 1);
  return output_parts(n, both);
}

// The points that are left out are conj(z[length - k]).
Ref mirrored(NodeImport& n, Ref both, std::int64_t axis, std::int64_t length) {
  const std::int64_t missing = length - (length / 2 + 1);
  if (missing <= 0) return both;
  Ref tail = n.step("tail").slice(both, axis, 1, missing + 1);
  Ref turned = frontend::reversed(n, tail, {axis});
  Ref signs = n.step("signs").constant(Tensor(Shape{2}, std::vector<float>{1, -1}));
  Ref conjugate = n.step("conjugate").multiply(turned, signs);
  return n.step("mirrored").concatenate({both, conjugate}, axis);
}

// Of what import_rfft gives, cut or filled up with zeros to the points that the length needs.
Result<void> import_irfft(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  BUDA_ASSIGN(Shape shape, n.shape_of(z.real));
  BUDA_ASSIGN(Transform t, transform_of(n, shape, true));
  if (!z.imaginary.valid()) {
    BUDA_ASSIGN(z.imaginary, zeros(n, z.real));
  }
  BUDA_ASSIGN(Ref both, joined(n, z));
  const std::int64_t last = t.first + t.axes - 1, length = t.lengths.back(), needed = length / 2 + 1;
  const std::int64_t given = shape[static_cast<std::size_t>(last)];
  if (given > needed) both = n.step("cut").slice(both, last, 0, needed);
  if (given < needed) {
    Dims none(shape.rank() + 1, 0), after = none;
    after[static_cast<std::size_t>(last)] = needed - given;
    both = n.step("filled").pad(both, none, after, 0);
  }
  if (t.axes == 2) both = transformed(n, both, t.first, t.lengths[0], true, false);
  both = mirrored(n, both, last, length);
  both = transformed(n, both, last, length, true, false);
  BUDA_ASSIGN(Ref real, part(
                            n, [](NodeImport& m) -> ops::Builder& { return m.result(); }, both, 0));
  n.output(real);
  return success();
}

// ---- from parts and back

Result<void> import_complex(NodeImport& n) {
  BUDA_ASSIGN(Shape a, n.shape(0));
  BUDA_ASSIGN(Shape b, n.shape(1));
  Ref real = n.input(0), imaginary = n.input(1);
  if (a != b) {
    BUDA_ASSIGN(Ref none, zeros(n, imaginary));
    BUDA_ASSIGN(Ref nothing, zeros(n, real));
    real = n.step("real").add(real, none);
    imaginary = n.step("imaginary").add(imaginary, nothing);
  }
  n.output(Value::of_parts(real, imaginary));
  return success();
}

Result<void> import_real(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  n.output(n.result().identity(z.real));
  return success();
}

Result<void> import_imaginary(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  if (!z.imaginary.valid()) {
    BUDA_ASSIGN(z.imaginary, zeros(n, z.real));
  }
  n.output(n.result().identity(z.imaginary));
  return success();
}

Result<void> import_absolute(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  if (!z.imaginary.valid()) {
    n.output(n.result().abs(z.real));
    return success();
  }
  Ref a = n.step("real.squared").square(z.real), b = n.step("imaginary.squared").square(z.imaginary);
  Ref sum = n.step("sum").add(a, b);
  n.output(n.result().sqrt(sum));
  return success();
}

Result<void> import_angle(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  if (!z.imaginary.valid()) {
    BUDA_ASSIGN(z.imaginary, zeros(n, z.real));
  }
  BUDA_ASSIGN(auto type, n.type_of(z.real));
  n.output(frontend::arc_tangent(n, z.imaginary, z.real, type.dtype));
  return success();
}

Result<void> import_conjugate(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  n.output(Value::of_parts(z.real, z.imaginary.valid() ? n.step("imaginary").negative(z.imaginary) : Ref()));
  return success();
}

// ---- what is read for real numbers, too

Result<void> multiply(NodeImport& n) {
  BUDA_ASSIGN(Parts a, parts_of(n, 0));
  BUDA_ASSIGN(Parts b, parts_of(n, 1));
  auto product = [&](std::string_view name, Ref x, Ref y) { return n.step(name).multiply(x, y); };
  if (!a.imaginary.valid() || !b.imaginary.valid()) {
    if (!a.imaginary.valid()) std::swap(a, b);
    n.output(Value::of_parts(product("real", a.real, b.real), a.imaginary.valid() ? product("imaginary", a.imaginary, b.real) : Ref()));
    return success();
  }
  Ref rr = product("rr", a.real, b.real), ii = product("ii", a.imaginary, b.imaginary);
  Ref ri = product("ri", a.real, b.imaginary), ir = product("ir", a.imaginary, b.real);
  Ref real = n.step("real").subtract(rr, ii);
  n.output(Value::of_parts(real, n.step("imaginary").add(ri, ir)));
  return success();
}

// (a conj(b)) / |b|^2
Result<void> divide(NodeImport& n) {
  BUDA_ASSIGN(Parts a, parts_of(n, 0));
  BUDA_ASSIGN(Parts b, parts_of(n, 1));
  if (!b.imaginary.valid()) {
    Ref real = n.step("real").divide(a.real, b.real);
    n.output(Value::of_parts(real, a.imaginary.valid() ? n.step("imaginary").divide(a.imaginary, b.real) : Ref()));
    return success();
  }
  if (!a.imaginary.valid()) {
    BUDA_ASSIGN(a.imaginary, zeros(n, a.real));
  }
  auto product = [&](Ref x, Ref y) { return n.step("product").multiply(x, y); };
  Ref length = n.step("length").add(product(b.real, b.real), product(b.imaginary, b.imaginary));
  Ref real = n.step("real.sum").add(product(a.real, b.real), product(a.imaginary, b.imaginary));
  Ref imaginary = n.step("imaginary.sum").subtract(product(a.imaginary, b.real), product(a.real, b.imaginary));
  Ref quotient = n.step("real").divide(real, length);
  n.output(Value::of_parts(quotient, n.step("imaginary").divide(imaginary, length)));
  return success();
}

// To real numbers: the imaginary part is dropped, as TensorFlow does.
Result<void> narrowed(NodeImport& n) {
  BUDA_ASSIGN(Parts z, parts_of(n, 0));
  if (n.is_complex_type("DstT")) {
    n.output(n.value(0));
    return success();
  }
  BUDA_ASSIGN(DType to, n.dtype("DstT", DType::f32));
  n.output(n.result().op("cast", {z.real}, {{"dtype", std::string(dtype_name(to))}}));
  return success();
}

// An operator that treats all elements alike, or only moves them, does so with each part. Inputs that are not complex are shapes, axes and
// conditions.
Result<void> by_parts(NodeImport& n) {
  bool real = true;
  for (const Value& in : n.values()) real = real && (in.kind != Value::Kind::complex || !in.imaginary.valid());
  std::vector<Values> results;
  for (int i = 0; i < (real ? 1 : 2); ++i) {
    Values inputs;
    for (const Value& in : n.values()) {
      if (in.kind != Value::Kind::complex) {
        inputs.push_back(in);
        continue;
      }
      Ref value = i == 0 ? in.real : in.imaginary;
      if (!value.valid()) {
        BUDA_ASSIGN(value, zeros(n, in.real));
      }
      inputs.push_back(Value::of(frontend::computed_value(n.name(), value)));
    }
    NodeImport one = n.with_inputs(i == 0 ? ".real" : ".imaginary", std::move(inputs));
    BUDA_TRY(one.importer().import(one));
    results.push_back(one.take_outputs());
  }
  for (std::size_t i = 0; i < results[0].size(); ++i)
    n.output(Value::of_parts(n.ref(results[0][i].tensor), real ? Ref() : n.ref(results[1][i].tensor)), i);
  return success();
}

// An operator that looks at shapes alone.
Result<void> by_shape(NodeImport& n) {
  Values inputs;
  for (const Value& in : n.values())
    inputs.push_back(in.kind == Value::Kind::complex ? Value::of(frontend::computed_value(n.name(), in.real)) : in);
  NodeImport one = n.with_inputs("", std::move(inputs));
  BUDA_TRY(one.importer().import(one));
  Values results = one.take_outputs();
  for (std::size_t i = 0; i < results.size(); ++i) n.output(std::move(results[i]), i);
  return success();
}

constexpr OpImporter kComplexOps[] = {
    {"Angle", import_angle},
    {"Complex", import_complex},
    {"ComplexAbs", import_absolute},
    {"Conj", import_conjugate},
    {"FFT", import_fft},
    {"FFT2D", import_fft},
    {"IFFT", import_fft},
    {"IFFT2D", import_fft},
    {"IRFFT", import_irfft, {}, "length known"},
    {"IRFFT2D", import_irfft, {}, "lengths known"},
    {"Imag", import_imaginary},
    {"RFFT", import_rfft, {}, "length known"},
    {"RFFT2D", import_rfft, {}, "lengths known"},
    {"Real", import_real},
};

// Operators of other families; those of control flow pass on what they are given.
constexpr OpImporter kForComplex[] = {
    {"Add", by_parts},       {"AddN", by_parts},       {"AddV2", by_parts},
    {"Cast", narrowed},      {"Concat", by_parts},     {"ConcatV2", by_parts},
    {"Div", divide},         {"ExpandDims", by_parts}, {"GatherV2", by_parts},
    {"Mul", multiply},       {"Neg", by_parts},        {"Pack", by_parts},
    {"Pad", by_parts},       {"RealDiv", divide},      {"Reshape", by_parts},
    {"ReverseV2", by_parts}, {"Rank", by_shape},       {"Roll", by_parts},
    {"SelectV2", by_parts},  {"Shape", by_shape},      {"ShapeN", by_shape},
    {"Size", by_shape},      {"Slice", by_parts},      {"Split", by_parts},
    {"SplitV", by_parts},    {"Squeeze", by_parts},    {"StridedSlice", by_parts},
    {"Sub", by_parts},       {"Tile", by_parts},       {"Transpose", by_parts},
    {"Unpack", by_parts},
};

}  // namespace

std::span<const OpImporter> complex_ops() { return kComplexOps; }

const OpImporter* complex_importer(std::string_view type) {
  for (auto family : {std::span<const OpImporter>(kComplexOps), std::span<const OpImporter>(kForComplex), control_ops()})
    for (const OpImporter& importer : family)
      if (importer.type == type) return &importer;
  return nullptr;
}

}  // namespace buda::tensorflow_frontend
