// SPDX-License-Identifier: Apache-2.0
// The steps of a host plan applied to tensors.
#include <buda/host_plan/transform.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstring>

namespace buda::host_plan {

const schema::EnumNames<TransformKind>& describe_enum(const TransformKind*) {
  static const schema::EnumNames<TransformKind> names = {{TransformKind::reshape, "reshape"},
                                                         {TransformKind::transpose, "transpose"},
                                                         {TransformKind::pad, "pad"},
                                                         {TransformKind::narrow, "narrow"}};
  return names;
}

const schema::Record<Transform>& describe(const Transform*) {
  static const auto record =
      schema::Record<Transform>("a step between a tensor and its queue")
          .required("kind", &Transform::kind, "what is done")
          .required("dims", &Transform::dims, "one number per axis: new shape, permutation, elements added, or length kept")
          .optional("value", &Transform::value, "what padding is filled with");
  return record;
}

namespace {

Diagnostic bad_step(const Shape& shape, const Transform& t, const std::string& why) {
  return input_error("HP001", {},
                     cat("transform ", schema::write(t.kind).text(), ' ', list_text(t.dims), " of shape ", list_text(shape), ": ", why));
}

Result<Shape> step_shape(const Shape& from, const Transform& t) {
  std::vector<std::int64_t> to = t.dims;
  for (auto d : t.dims)
    if (d < 0) return bad_step(from, t, "a number is negative");
  if (t.kind == TransformKind::reshape) {
    if (checked_product<std::int64_t>(t.dims) != from.volume()) return bad_step(from, t, "the number of elements differs");
    return Shape{to};
  }
  std::vector<std::int64_t> dims(from.begin(), from.end());
  if (to.size() != dims.size()) return bad_step(from, t, "expected one number per axis");
  std::vector<bool> seen(dims.size(), false);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (t.kind == TransformKind::pad) {
      auto sum = checked_add(dims[i], t.dims[i]);
      if (!sum) return bad_step(from, t, "a padding is out of range");
      to[i] = *sum;
    } else if (t.kind == TransformKind::narrow) {
      if (to[i] > dims[i]) return bad_step(from, t, "a length is larger than the axis");
    } else {
      auto axis = static_cast<std::size_t>(t.dims[i]);
      if (axis >= dims.size() || seen[axis]) return bad_step(from, t, "the axes are not a permutation");
      seen[axis] = true;
      to[i] = dims[axis];
    }
  }
  return Shape{to};
}

// Elements of an axis-wise copy: for each row (run along the last axis) of `shape` that lies inside both tensors.
struct Layout {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  // in elements
};

Layout layout_of(const std::vector<std::int64_t>& dims) {
  Layout out{dims, std::vector<std::int64_t>(dims.size(), 1)};
  for (std::size_t i = dims.size(); i-- > 1;) out.strides[i - 1] = out.strides[i] * dims[i];
  return out;
}

// Copies the box `box` from the origin of one buffer to the origin of another with their own strides; the innermost axis has stride 1 in
// both when `contiguous`.
void copy_box(const char* from, const std::vector<std::int64_t>& from_strides, char* to, const std::vector<std::int64_t>& to_strides,
              const std::vector<std::int64_t>& box, std::size_t element) {
  std::size_t rank = box.size();
  for (auto d : box)
    if (d == 0) return;
  if (rank == 0) {
    std::memcpy(to, from, element);
    return;
  }
  bool contiguous = from_strides[rank - 1] == 1 && to_strides[rank - 1] == 1;
  std::vector<std::int64_t> at(rank, 0);
  std::int64_t from_offset = 0, to_offset = 0;
  while (true) {
    if (contiguous) {
      std::memcpy(to + static_cast<std::size_t>(to_offset) * element, from + static_cast<std::size_t>(from_offset) * element,
                  static_cast<std::size_t>(box[rank - 1]) * element);
    } else {
      for (std::int64_t k = 0; k < box[rank - 1]; ++k)
        std::memcpy(to + static_cast<std::size_t>(to_offset + k * to_strides[rank - 1]) * element,
                    from + static_cast<std::size_t>(from_offset + k * from_strides[rank - 1]) * element, element);
    }
    std::size_t axis = rank - 1;
    while (true) {
      if (axis == 0) return;
      --axis;
      from_offset += from_strides[axis];
      to_offset += to_strides[axis];
      if (++at[axis] < box[axis]) break;
      from_offset -= from_strides[axis] * box[axis];
      to_offset -= to_strides[axis] * box[axis];
      at[axis] = 0;
    }
  }
}

Result<Tensor> resized(const Tensor& tensor, const Transform& t, const Shape& shape, bool grow) {
  BUDA_ASSIGN(Tensor blank, Tensor::zeros(tensor.dtype(), shape));
  if (grow && t.value != 0) {
    blank = Tensor(Shape{}, std::vector<double>{t.value}).cast(tensor.dtype());
    std::string element(blank.bytes());
    std::string filled;
    auto count = static_cast<std::size_t>(shape.volume().value_or(0));
    filled.reserve(count * element.size());
    for (std::size_t i = 0; i < count; ++i) filled += element;
    BUDA_ASSIGN(blank, Tensor::from_bytes(tensor.dtype(), shape, io::Bytes(std::move(filled))));
  }
  std::string bytes(blank.bytes());
  std::vector<std::int64_t> from_dims(tensor.shape().begin(), tensor.shape().end()), to_dims(shape.begin(), shape.end());
  copy_box(tensor.bytes().data(), layout_of(from_dims).strides, bytes.data(), layout_of(to_dims).strides, grow ? from_dims : to_dims,
           dtype_size(tensor.dtype()));
  return Tensor::from_bytes(tensor.dtype(), shape, io::Bytes(std::move(bytes)));
}

Result<Tensor> transposed(const Tensor& tensor, const Transform& t, const Shape& shape) {
  std::vector<std::int64_t> from(tensor.shape().begin(), tensor.shape().end()), to(shape.begin(), shape.end()), strides;
  Layout source = layout_of(from);
  for (auto axis : t.dims) strides.push_back(source.strides[static_cast<std::size_t>(axis)]);
  std::string bytes(tensor.bytes().size(), '\0');
  copy_box(tensor.bytes().data(), strides, bytes.data(), layout_of(to).strides, to, dtype_size(tensor.dtype()));
  return Tensor::from_bytes(tensor.dtype(), shape, io::Bytes(std::move(bytes)));
}

Result<Tensor> apply(const Tensor& tensor, const Transform& t) {
  BUDA_ASSIGN(Shape shape, step_shape(tensor.shape(), t));
  switch (t.kind) {
    case TransformKind::reshape:
      return tensor.reshaped(shape);
    case TransformKind::pad:
      return resized(tensor, t, shape, true);
    case TransformKind::narrow:
      return resized(tensor, t, shape, false);
    case TransformKind::transpose:
      return transposed(tensor, t, shape);
  }
  return internal_error("unknown transform");
}

}  // namespace

Result<Shape> shape_after(const Shape& shape, const std::vector<Transform>& transforms) {
  Shape current = shape;
  for (const auto& t : transforms) {
    BUDA_ASSIGN(Shape next, step_shape(current, t));
    current = std::move(next);
  }
  return current;
}

Result<Tensor> apply_transforms(const Tensor& tensor, const std::vector<Transform>& transforms) {
  Tensor current = tensor;
  for (const auto& t : transforms) {
    BUDA_ASSIGN(Tensor next, apply(current, t));
    current = std::move(next);
  }
  return current;
}

}  // namespace buda::host_plan
