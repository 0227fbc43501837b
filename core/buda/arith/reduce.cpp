// SPDX-License-Identifier: Apache-2.0
// reduce: the maximum over rows, columns or consecutive t.
#include <buda/arith/bits.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/parts.hpp>
#include <buda/arith/special_values.hpp>

#include <buda/base/text.hpp>
#include <buda/numerics/fields.hpp>

#include <algorithm>
#include <bit>

namespace buda::arith {
namespace {

using netlist::Dim;
using netlist::Op;
using netlist::TileShape;

std::optional<Unable> check_reduce(const OpShapes& shapes) {
  const Op& op = shapes.op;
  if (auto unable = need_inputs(shapes, 1)) return unable;
  const TileShape out = op.shape();
  // A fused op's reduction may leave its inner dimension to the input.
  const TileShape& in = shapes.inputs[0];
  const bool rows = op.attributes.reduce_dim == Dim::r;
  std::int64_t inner = op.inner_tiles();
  if (inner < 1) inner = rows ? std::max<std::int64_t>(in.rt / out.rt, 1) : std::max<std::int64_t>(in.ct / out.ct, 1);
  switch (op.attributes.reduce_dim) {
    case Dim::r:
      return need_shape(shapes, 0, {out.t, out.rt * inner, out.ct}, op.tile_dim);
    case Dim::c:
      return need_shape(shapes, 0, {out.t, out.rt, out.ct * inner}, op.tile_dim);
    case Dim::z:
      return need_shape(shapes, 0, {out.t * std::max(op.attributes.z, 1), out.rt, out.ct}, op.tile_dim);
    case Dim::none:
      break;
  }
  return Unable{"it needs the attribute dim: r, c or z", "", false};
}

template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

// Row 0 of each output tile is the maximum of the columns of the tiles below each other that it stands for; all other rows are zero.
template <class T>
void reduce_rows(const OpCall& call, const Value& in, std::vector<T>& out, std::size_t group_rows) {
  const std::size_t cols = in.cols(), height = static_cast<std::size_t>(in.dim.rows);
  const T* from = in.data<T>().data();
  in_parts(call.threads, in.depth() * in.rows() / group_rows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      T* to = out.data() + g * height * cols;
      std::copy_n(from + g * group_rows * cols, cols, to);
      for (std::size_t y = 1; y < group_rows; ++y)
        for (std::size_t x = 0; x < cols; ++x) to[x] = larger(to[x], from[(g * group_rows + y) * cols + x]);
    }
  });
}

template <class T>
void reduce_cols(const OpCall& call, const Value& in, std::vector<T>& out, std::size_t group_cols) {
  const std::size_t cols = in.cols(), groups = cols / group_cols, width = static_cast<std::size_t>(in.dim.cols);
  const T* from = in.data<T>().data();
  in_parts(call.threads, in.depth() * in.rows(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t g = 0; g < groups; ++g) {
        const T* part = from + row * cols + g * group_cols;
        T most = part[0];
        for (std::size_t x = 1; x < group_cols; ++x) most = larger(most, part[x]);
        out[(row * groups + g) * width] = most;
      }
  });
}

template <class T>
void reduce_depth(const OpCall& call, const Value& in, std::vector<T>& out, std::size_t z) {
  const std::size_t matrix = in.matrix();
  const T* from = in.data<T>().data();
  in_parts(call.threads, out.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T* first = from + i / matrix * z * matrix + i % matrix;
      T most = *first;
      for (std::size_t k = 1; k < z; ++k) most = larger(most, first[k * matrix]);
      out[i] = most;
    }
  });
}

template <class T>
std::vector<T> reduced_as(const OpCall& call, const Value& in) {
  const Op& op = call.op;
  std::vector<T> out(static_cast<std::size_t>(elements(op)));
  switch (op.attributes.reduce_dim) {
    case Dim::r:
      reduce_rows(call, in, out, in.rows() / static_cast<std::size_t>(op.shape().rt));
      break;
    case Dim::c:
      reduce_cols(call, in, out, in.cols() / static_cast<std::size_t>(op.shape().ct));
      break;
    default:
      reduce_depth(call, in, out, static_cast<std::size_t>(std::max(op.attributes.z, 1)));
      break;
  }
  return out;
}

template <class T>
Value run_reduce_as(const OpCall& call) {
  const Op& op = call.op;
  const Value& in = *call.inputs[0];
  std::vector<T> out = reduced_as<T>(call, in);
  if constexpr (std::is_same_v<T, float>) {
    if (call.mode == Mode::exact && in.format == DataFormat::float32)
      for (float& v : out) v = masked_bits(v, kSourceRegisterBits);
    round_in_dest(dest_rounding(call.mode, op.acc_format, op.out_format), out);
  }
  return finish(call, std::move(out));
}

// The vector unit compares copies of the numbers in the destination register, in the order of sign and magnitude: that of integers, if the
// magnitudes of negative numbers are inverted. It stores no denormals.
Value run_reduce_bits(const OpCall& call) {
  const Value& in = *call.inputs[0];
  const auto exchange = [](std::uint32_t word) { return (word & numerics::kSignBit) != 0 ? word ^ ~numerics::kSignBit : word; };
  const bits::DestNumbers copies = bits::copied(call, in.format, in.floats);
  Value keys(in.tiles, in.dim, DataFormat::int32);
  std::transform(copies.words.begin(), copies.words.end(), keys.ints.begin(),
                 [&](std::uint32_t word) { return static_cast<std::int32_t>(exchange(word)); });
  const std::vector<std::int32_t> most = reduced_as<std::int32_t>(call, keys);
  bits::DestNumbers out{copies.form, bits::Words(most.size())};
  const bool computes = call.op.attributes.reduce_dim != Dim::z || call.op.attributes.z > 1;
  for (std::size_t i = 0; i < most.size(); ++i) {
    const std::uint32_t word = exchange(static_cast<std::uint32_t>(most[i]));
    out.words[i] = computes && numerics::is_zero(word) ? numerics::sign_of(word) : word;
  }
  return bits::finish(call, out);
}

Value run_reduce(const OpCall& call) {
  if (call.mode == Mode::bits && !call.inputs[0]->integer()) return run_reduce_bits(call);
  return call.inputs[0]->integer() ? run_reduce_as<std::int32_t>(call) : run_reduce_as<float>(call);
}

double flops_reduce(const Op& op) {
  const auto& a = op.attributes;
  return elements(op) * static_cast<double>(a.reduce_dim == Dim::z ? std::max(a.z, 1) : op.inner_tiles());
}

}  // namespace

const OpKind kReduce = {&check_reduce, &as_on_chip<always<run_reduce>, Reach::chosen>, &flops_reduce};

}  // namespace buda::arith
