// SPDX-License-Identifier: Apache-2.0
// The field tables of what kernels cost (docs/formats/device.md, "Costs of kernels").
#include <buda/device/format.hpp>

namespace buda::device {

using schema::Record;

const Record<CostError>& describe(const CostError*) {
  static const auto record = Record<CostError>("the error of a cost, per cent")
                                 .required("mean", &CostError::mean, "mean relative error of blockings that the fit had not seen")
                                 .required("p90", &CostError::p90, "what 90 % of them stay below");
  return record;
}

const Record<CostOrigin>& describe(const CostOrigin*) {
  static const auto record = Record<CostOrigin>("where a cost comes from")
                                 .required("source", &CostOrigin::source, "file of measurements, or what was assumed")
                                 .optional("rows", &CostOrigin::rows, "number of measurements; 0: assumed")
                                 .optional("error", &CostOrigin::error, "how well they are predicted");
  return record;
}

const Record<StageCost>& describe(const StageCost*) {
  static const auto record = Record<StageCost>("the cycles of a stage")
                                 .optional("ublock", &StageCost::ublock, "for each ublock")
                                 .optional("tile", &StageCost::tile, "for each of its tiles");
  return record;
}

const Record<KernelCost>& describe(const KernelCost*) {
  static const auto record =
      Record<KernelCost>("the cost of an op")
          .required("op", &KernelCost::op, "op type of netlists")
          .optional("variant", &KernelCost::variant, "approx, dim_r or dim_c; empty: the base")
          .required("format", &KernelCost::format, "of the operands that were measured")
          .optional("block", &KernelCost::block, "cycles for each mblock")
          .optional("unpack", &KernelCost::unpack, "stage; per tile it grows with the size of tiles")
          .optional("math", &KernelCost::math, "stage")
          .optional("pack", &KernelCost::pack, "stage")
          .required("origin", &KernelCost::origin, "where it comes from");
  return record;
}

const Record<AccumulationCost>& describe(const AccumulationCost*) {
  static const auto record =
      Record<AccumulationCost>("the cost of an op that adds up mblocks")
          .required("op", &AccumulationCost::op, "op type of netlists")
          .required("format", &AccumulationCost::format, "of the operands that were measured")
          .optional("block", &AccumulationCost::block, "cycles for each mblock of the result")
          .optional("first", &AccumulationCost::first, "the first mblock; of depthwise, per tile and fidelity phase")
          .optional("further", &AccumulationCost::further, "every further one")
          .required("origin", &AccumulationCost::origin, "where it comes from");
  return record;
}

const Record<MatmulUnpackCost>& describe(const MatmulUnpackCost*) {
  static const auto record = Record<MatmulUnpackCost>("the cycles of a matmul's unpacker")
                                 .optional("ublock", &MatmulUnpackCost::ublock, "for each ublock and inner block")
                                 .optional("row", &MatmulUnpackCost::row, "for each tile of a column of the left operand")
                                 .optional("product", &MatmulUnpackCost::product, "for each tile product");
  return record;
}

const Record<MatmulCost>& describe(const MatmulCost*) {
  static const auto record =
      Record<MatmulCost>("the cost of dense matmuls")
          .required("format", &MatmulCost::format, "of the operands that were measured")
          .optional("l1_acc", &MatmulCost::l1_acc, "with the attribute l1_acc")
          .optional("block", &MatmulCost::block, "cycles for each mblock")
          .optional("inner_block", &MatmulCost::inner_block, "cycles for each inner block (m_k)")
          .optional("unpack", &MatmulCost::unpack, "stage, for each ublock and inner block")
          .optional("math", &MatmulCost::math, "stage; per tile product and fidelity phase")
          .optional("pack", &MatmulCost::pack, "stage")
          .optional("spill", &MatmulCost::spill, "cycles of partial sums, for each inner block after the first")
          .required("origin", &MatmulCost::origin, "where it comes from");
  return record;
}

const Record<SparseUnpackCost>& describe(const SparseUnpackCost*) {
  static const auto record = Record<SparseUnpackCost>("the cycles of a sparse matmul's unpacker")
                                 .optional("tile", &SparseUnpackCost::tile, "for each sparse tile and ublock column")
                                 .optional("product", &SparseUnpackCost::product, "for each tile product");
  return record;
}

const Record<SparseCost>& describe(const SparseCost*) {
  static const auto record =
      Record<SparseCost>("the cost of sparse matmuls, in cycles")
          .required("format", &SparseCost::format, "of the activations that were measured")
          .optional("strip", &SparseCost::strip, "for each strip of activations")
          .optional("strip_column", &SparseCost::strip_column, "for each ublock column of a strip")
          .optional("strip_tile", &SparseCost::strip_tile, "for each tile of a strip")
          .optional("decode", &SparseCost::decode, "for each sparse tile that is not zero")
          .optional("math", &SparseCost::math, "for each tile product and fidelity phase")
          .optional("unpack", &SparseCost::unpack, "stage")
          .optional("reload", &SparseCost::reload, "for each ublock after the first that adds to the same result")
          .optional("pack", &SparseCost::pack, "for each ublock of the result")
          .required("origin", &SparseCost::origin, "where it comes from");
  return record;
}

}  // namespace buda::device
