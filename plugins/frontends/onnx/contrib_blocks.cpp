// SPDX-License-Identifier: Apache-2.0
// onnxruntime's weights in blocks of integers of few bits, each block with a scale and a zero point: unpacked while importing.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// ---- MatMulNBits: the transpose of b is a weight in blocks of integers of few bits, each block with a scale and a zero point

// Number `i` of a row of bytes that holds numbers of `bits` bits, those of low significance first.
int packed_number(std::span<const std::uint8_t> row, std::int64_t i, int bits) {
  const auto at = static_cast<std::size_t>(i * bits);
  return row[at / 8] >> at % 8 & ((1 << bits) - 1);
}

struct PackedWeights {
  std::int64_t inputs = 0, outputs = 0, block = 0, blocks = 0;
  int bits = 4;
};

Result<PackedWeights> packed_weights(const NodeImport& n) {
  PackedWeights w{n.integer("K", 0), n.integer("N", 0), n.integer("block_size", 0), 0, static_cast<int>(n.integer("bits", 4))};
  constexpr std::int64_t kLargestPacked = std::int64_t{1} << 31;
  if (w.inputs < 1 || w.outputs < 1 || w.block < 1 || w.inputs > kLargestPacked || w.outputs > kLargestPacked || w.block > kLargestPacked)
    return n.refuse(cat("its K ", w.inputs, ", N ", w.outputs, " and block_size ", w.block, " are impossible"));
  if (w.bits != 2 && w.bits != 4 && w.bits != 8) return n.refuse(cat("its weights have ", w.bits, " bits; 2, 4 and 8 are supported"));
  w.blocks = (w.inputs + w.block - 1) / w.block;
  return w;
}

// The zero points of a row, as numbers: packed, real, or in the middle of the range where there are none.
Result<std::vector<float>> zero_points(const NodeImport& n, const PackedWeights& w) {
  const auto count = static_cast<std::size_t>(w.outputs * w.blocks);
  std::vector<float> out(count, static_cast<float>(1 << (w.bits - 1)));
  if (!n.has_input(3)) return out;
  BUDA_ASSIGN(Tensor given, n.known(3, "zero_points"));
  if (is_float(given.dtype())) {
    if (given.size() != count) return n.refuse(cat("its zero_points are ", given.describe(), "; ", count, " numbers are needed"));
    const Tensor real = given.cast(DType::f32);
    out.assign(real.as<float>().begin(), real.as<float>().end());
    return out;
  }
  const std::int64_t row_bytes = (w.blocks * w.bits + 7) / 8;
  if (given.dtype() != DType::u8 || given.size() != static_cast<std::size_t>(w.outputs * row_bytes))
    return n.refuse(cat("its zero_points are ", given.describe(), "; ", w.outputs, " rows of ", row_bytes, " bytes are needed"));
  const auto bytes = given.as<std::uint8_t>();
  for (std::int64_t row = 0; row < w.outputs; ++row)
    for (std::int64_t b = 0; b < w.blocks; ++b)
      out[static_cast<std::size_t>(row * w.blocks + b)] = static_cast<float>(
          packed_number(bytes.subspan(static_cast<std::size_t>(row * row_bytes), static_cast<std::size_t>(row_bytes)), b, w.bits));
  return out;
}

// [inputs, outputs], as real numbers.
Result<Tensor> unpacked_weights(const NodeImport& n, const PackedWeights& w) {
  BUDA_ASSIGN(Tensor packed, n.known(1, "packed weights"));
  BUDA_ASSIGN(Tensor scales, n.known(2, "scales"));
  BUDA_ASSIGN(auto zeros, zero_points(n, w));
  const std::int64_t block_bytes = (w.block * w.bits + 7) / 8;
  if (packed.dtype() != DType::u8 || packed.size() != static_cast<std::size_t>(w.outputs * w.blocks * block_bytes) ||
      scales.size() != zeros.size())
    return n.refuse(cat("its weights are ", packed.describe(), " and its scales ", scales.describe(), "; [", w.outputs, ", ", w.blocks,
                        ", ", block_bytes, "] bytes and ", zeros.size(), " scales are needed"));
  const Tensor real = scales.cast(DType::f32);
  const auto bytes = packed.as<std::uint8_t>();
  const auto factors = real.as<float>();
  std::vector<float> out(static_cast<std::size_t>(w.inputs * w.outputs));
  for (std::int64_t row = 0; row < w.outputs; ++row)
    for (std::int64_t i = 0; i < w.inputs; ++i) {
      const auto block = static_cast<std::size_t>(row * w.blocks + i / w.block);
      const auto part = bytes.subspan(block * static_cast<std::size_t>(block_bytes), static_cast<std::size_t>(block_bytes));
      const auto number = static_cast<float>(packed_number(part, i % w.block, w.bits));
      out[static_cast<std::size_t>(i * w.outputs + row)] = (number - zeros[block]) * factors[block];
    }
  return Tensor(Shape{w.inputs, w.outputs}, std::move(out));
}

Result<void> import_matmul_n_bits(NodeImport& n) {
  if (n.has_input(4)) return n.refuse("its blocks are permuted (input 4, g_idx), which is not supported");
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(PackedWeights packed, packed_weights(n));
  if (type.shape.rank() < 1 || type.shape[type.shape.rank() - 1] != packed.inputs)
    return n.refuse(cat("its input is ", type.shape.text(), ", and its K ", packed.inputs));
  BUDA_ASSIGN(Tensor weights, unpacked_weights(n, packed));
  Ref a = n.input(0), b = n.ref(known_value(cat(n.name(), ".weights"), weights.cast(type.dtype), Role::weight, n.name()));
  if (n.has_input(5)) {
    Ref bias = n.input(5);
    n.output(n.result().matmul(a, b, bias));
  } else {
    n.output(n.result().matmul(a, b));
  }
  return success();
}

// ---- GatherBlockQuantized: rows of a table in blocks

// The integers of a table whose last axis may be packed, as many in each row as `columns`.
Result<std::vector<float>> table_integers(const NodeImport& n, const Tensor& given, std::int64_t rows, std::int64_t columns, int bits,
                                          std::string_view what) {
  const auto count = static_cast<std::size_t>(rows * columns);
  if (given.size() == count) {
    const Tensor real = given.cast(DType::f32);
    return std::vector<float>(real.as<float>().begin(), real.as<float>().end());
  }
  const std::int64_t row_bytes = (columns * bits + 7) / 8;
  if (given.dtype() != DType::u8 || given.size() != static_cast<std::size_t>(rows * row_bytes))
    return n.refuse(cat("its ", what, " is ", given.describe(), "; ", rows, " rows of ", columns, " numbers are needed"));
  std::vector<float> out(count);
  const auto bytes = given.as<std::uint8_t>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < columns; ++i)
      out[static_cast<std::size_t>(row * columns + i)] = static_cast<float>(
          packed_number(bytes.subspan(static_cast<std::size_t>(row * row_bytes), static_cast<std::size_t>(row_bytes)), i, bits));
  return out;
}

Result<Tensor> real_table(const NodeImport& n, std::int64_t block, int bits) {
  BUDA_ASSIGN(Tensor data, n.known(0, "data"));
  BUDA_ASSIGN(Tensor scales, n.known(2, "scales"));
  const Shape &stored = data.shape(), &factors = scales.shape();
  if (stored.rank() != 2 || factors.rank() != 2 || factors[0] != stored[0] || block < 1 || block > (1 << 24))
    return n.refuse(cat("its data is ", data.describe(), ", its scales ", scales.describe(), " and its block_size ", block,
                        "; matrices with one scale for each block of a row are supported"));
  const bool packed = data.dtype() == DType::u8 && n.narrow(0) == nullptr && bits < 8;
  const std::int64_t rows = stored[0], columns = packed ? stored[1] * (8 / bits) : stored[1], blocks = factors[1];
  if (blocks != (columns + block - 1) / block)
    return n.refuse(cat("its scales are ", scales.describe(), " for ", columns, " columns in blocks of ", block));
  BUDA_ASSIGN(auto values, table_integers(n, data, rows, columns, bits, "data"));
  std::vector<float> zeros(static_cast<std::size_t>(rows * blocks),
                           data.dtype() == DType::u8 && n.narrow(0) == nullptr ? static_cast<float>(1 << (bits - 1)) : 0.0f);
  if (n.has_input(3)) {
    BUDA_ASSIGN(Tensor given, n.known(3, "zero_points"));
    BUDA_ASSIGN(zeros, table_integers(n, given, rows, blocks, bits, "zero_points"));
  }
  const Tensor real = scales.cast(DType::f32);
  const auto of_block = real.as<float>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto at = static_cast<std::size_t>(row * blocks + i / block);
      auto& value = values[static_cast<std::size_t>(row * columns + i)];
      value = (value - zeros[at]) * of_block[at];
    }
  return Tensor(Shape{rows, columns}, std::move(values));
}

Result<void> import_gather_of_blocks(NodeImport& n) {
  const auto bits = static_cast<int>(n.integer("bits", 4));
  if (bits != 4 && bits != 8) return n.refuse(cat("its numbers have ", bits, " bits; 4 and 8 are supported"));
  if (n.integer("gather_axis", 0) != 0)
    return n.refuse(cat("it gathers along axis ", n.integer("gather_axis", 0), "; only 0 is supported"));
  const std::int64_t along = n.integer("quantize_axis", 1);
  if (along != 1 && along != -1) return n.refuse(cat("its blocks lie along axis ", along, "; only the last is supported"));
  BUDA_ASSIGN(auto scale_type, n.type(2));
  BUDA_ASSIGN(Tensor table, real_table(n, n.integer("block_size", 128), bits));
  Ref rows = n.ref(known_value(cat(n.name(), ".table"), table.cast(scale_type.dtype), Role::weight, n.name())), places = n.input(1);
  n.output(n.result().op("gather", {rows, places}, {{"dim", std::int64_t{0}}}));
  return success();
}

constexpr OpImporter kContribBlocksOps[] = {
    {"GatherBlockQuantized", 1, import_gather_of_blocks, {}, Narrow::converts},
    {"MatMulNBits", 1, import_matmul_n_bits},
};

}  // namespace

std::span<const OpImporter> contrib_blocks_ops() { return kContribBlocksOps; }

}  // namespace buda::onnx_frontend
