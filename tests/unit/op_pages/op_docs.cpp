// SPDX-License-Identifier: Apache-2.0
// What netlists say of each op type, by its class.
#include "op_docs.hpp"

#include <buda/ops/table/device_op.hpp>

namespace buda::netlist {
namespace {

using T = OpType;
using Rules = std::vector<std::string_view>;

constexpr std::string_view kAnyBlock = "Any; the ublock fits half of the destination register.";
constexpr std::string_view kOrderR = "ublock_order r; the ublock fits half of the destination register.";
constexpr std::string_view kFloats = "any float format";
constexpr std::string_view kFloatFormats =
    "out_df and intermed_df any float format; acc_df Float16, Float16_b, or Float32 where the device can; any math_fidelity.";
constexpr std::string_view kSame = "T, R, C";

const Rules kBinaryRules = {"NL105", "NL303", "NL322", "NL362", "NL363", "NL364", "NL405"};
const Rules kSfpuRules = {"NL105", "NL303", "NL322", "NL324", "NL344", "NL405"};

OpDoc binary(const ops::DeviceOp& op) {
  const std::string_view operands = op.takes_int32 ? "floats, or Int8, UInt8 and Int32" : "floats, or Int8 and UInt8";
  OpDoc d{op.type, {{"in0", kSame, operands}, {"in1", kSame, operands}}, kAnyBlock, "", kBinaryRules, op.name, {}};
  d.formats =
      "Of floats: out_df and intermed_df any float format, acc_df a float. Of integers: out_df and intermed_df integers, acc_df Int32, "
      "math_fidelity HiFi4.";
  d.rules.push_back(op.takes_int32 ? "NL367" : "NL368");
  return d;
}

OpDoc quant(const ops::DeviceOp& op) {
  const bool from_floats = op.type == T::quantization, to_floats = op.type == T::dequantization;
  return {op.type,
          {{"in0", kSame, from_floats ? "Float32" : "Int8 or Int32"}, {"scales", kSame, "Float32"}},
          kAnyBlock,
          from_floats ? "out_df Int8, acc_df Int32."
          : to_floats ? "out_df Float32, acc_df Int32, math_fidelity HiFi4."
                      : "out_df Int8, acc_df Int32, math_fidelity HiFi4.",
          {"NL105", "NL303",
           from_floats ? "NL321"
           : to_floats ? "NL379"
                       : "NL380",
           "NL381", "NL382"},
          op.name,
          {}};
}

OpDoc sfpu(const ops::DeviceOp& op) {
  OpDoc d{op.type, {{"in0", kSame, kFloats}}, kAnyBlock, kFloatFormats, kSfpuRules, op.name, {}};
  if (op.type == T::dropout) d.rules.push_back("NL332");
  return d;
}

OpDoc copy(const ops::DeviceOp& op) {
  return {op.type,
          {{"in0", kSame, "any format"}},
          kAnyBlock,
          "out_df may differ from in_df, which converts; of integers acc_df Int32 and math_fidelity HiFi4.",
          {"NL105", "NL303", "NL344", "NL405", "NL409", "NL319", "NL363", "NL364"},
          op.name,
          {}};
}

OpDoc matmul() {
  return {
      T::matmul,
      {{"in0", "T, R, m_k * u_kt; with accumulate T * z of t; with identity the sparse tiles of each core, num_sparse_tiles in a row",
        "floats, or Int8 and UInt8"},
       {"in1", "T, m_k * u_kt, C; with identity the activations, with any t", "floats, or Int8 and UInt8"},
       {"indices, with identity", "num_index_tiles in a row, per core", "RawUInt8, RawUInt16, RawUInt32"},
       {"bias, with bias", "T, R, C; row 0 of each tile counts, for integers all", "a float format, for integers Int32"},
       {"scales, with requant or dequant", "T, R, C", "Float32"}},
      kOrderR,
      "Partial sums of m_k blocks leave the destination register as intermed_df: not Bfp2 or Bfp4 with m_k above 1 or a bias, of out_df's "
      "exponent "
      "family on Grayskull. Of integers: out_df Int8, UInt8 or Int32 (floats with dequant), intermed_df an integer, acc_df Int32, HiFi4.",
      {"NL105", "NL303", "NL305", "NL306", "NL307", "NL308", "NL310", "NL311", "NL312", "NL313",
       "NL315", "NL339", "NL340", "NL341", "NL342", "NL343", "NL345", "NL356", "NL361", "NL365",
       "NL366", "NL370", "NL371", "NL372", "NL373", "NL374", "NL375", "NL376", "NL393", "NL405"},
      "matmul",
      {"matmul-bias", "matmul-integer", "matmul-sparse", "matmul-gradient"}};
}

OpDoc fused() {
  return {
      T::fused_op,
      {{"inputs", "what the first sub-op that reads it needs: T and the sub-op's block on this op's grid", "any that the sub-ops take"}},
      "That of the sub-op that writes output. Sub-ops have blocks of their own; each of their ublocks fits half of the destination "
      "register.",
      "intermediates are kept as intermed_df, dest as acc_df. With acc_df Int32, sub-ops are binary, quantization or nop.",
      {"NL112", "NL121", "NL336", "NL413", "NL501", "NL502", "NL503", "NL504", "NL505", "NL506", "NL507", "NL508", "NL509", "NL510",
       "NL511", "NL512", "NL513", "NL514", "NL515", "NL516", "NL517", "NL518", "NL519", "NL520", "NL521", "NL522", "NL523", "NL524",
       "NL525", "NL526", "NL527", "NL528", "NL529", "NL530", "NL531", "NL532", "NL533", "NL534", "NL535", "NL536", "NL537", "NL538",
       "NL539", "NL540", "NL541", "NL542", "NL543", "NL544", "NL545", "NL546", "NL547", "NL548", "NL549", "NL550"},
      "fused_op",
      {}};
}

OpDoc reduce() {
  return {
      T::reduce,
      {{"in0", "dim c: T, R, grid columns * m_k * u_kt; dim r: T, grid rows * m_k * u_kt, C; dim z: T * z, R, C", kFloats}},
      "ublock_order r. Along the reduced side one tile per core: mblock_n and ublock_ct 1 for dim c, mblock_m and ublock_rt 1 for dim r.",
      "dim z keeps one format: in_df, intermed_df and out_df. Formats of the A family do not go with acc_df Float32.",
      {"NL105", "NL303", "NL316", "NL346", "NL347", "NL348", "NL349", "NL350", "NL382", "NL393", "NL394"},
      "reduce",
      {"reduce-z"}};
}

OpDoc depthwise() {
  return {T::depthwise,
          {{"in0", "T, R, C * m_k", kFloats}, {"in1", "T, m_k, C", kFloats}, {"bias, with bias", "T, R, C", kFloats}},
          kOrderR,
          kFloatFormats,
          {"NL105", "NL303", "NL310", "NL315", "NL331", "NL339", "NL390", "NL391", "NL394"},
          "depthwise",
          {}};
}

OpDoc splice() {
  return {T::splice,
          {{"in0 to in7", "a whole number of the output's ublocks on the output's grid", "one format for all"}},
          kAnyBlock,
          "out_df may differ from in_df.",
          {"NL105", "NL326", "NL386", "NL402"},
          "splice",
          {}};
}

OpDoc embedding() {
  return {T::embedding,
          {{"table", "any rows, C; layout flat", kFloats}, {"indices", "num_indices numbers", "RawUInt32"}},
          "ublock_rt 1, mblock_m num_indices / 32.",
          kFloatFormats,
          {"NL105", "NL327", "NL387", "NL388", "NL630"},
          "embedding",
          {}};
}

OpDoc tilizer() {
  return {T::tilizer,
          {{"in0", kSame, kFloats}},
          "Any; with ublock_rt above 1 the ublock is that of the input's queue.",
          kFloatFormats,
          {"NL105", "NL328", "NL389", "NL630"},
          "tilizer",
          {}};
}

OpDoc topk() {
  return {T::topk,
          {{"values", "T, R, grid columns * m_k * u_kt", kFloats}, {"indices", "the same", "UInt16 or a float format"}},
          "ublock_rt * u_kt tiles fit half of the destination register.",
          "With argmax out_df is the format of the indices.",
          {"NL105", "NL323", "NL329", "NL337", "NL383", "NL392"},
          "topk",
          {}};
}

OpDoc ethernet() {
  return {T::ethernet_datacopy,
          {{"in0", kSame, "any format"}},
          "That of the input, or what the reader needs.",
          "out_df is in_df.",
          {"NL105", "NL107", "NL108"},
          "ethernet_datacopy",
          {}};
}

OpDoc buffer() {
  return {T::buffer,
          {{"in0", kSame, "any format"}, {"in1", "index tiles; may be left out", "RawUInt8, RawUInt16, RawUInt32"}},
          "mblock_m 1.",
          "out_df is in_df.",
          {"NL105", "NL331", "NL335"},
          "buffer",
          {}};
}

OpDoc drainer() { return {T::drainer, {{"in0", kSame, "any format"}}, kAnyBlock, "out_df is in_df.", {"NL105"}, "drainer", {}}; }

OpDoc doc_of(const ops::DeviceOp& op) {
  switch (op.op_class) {
    case OpClass::binary:
      return binary(op);
    case OpClass::quant:
      return quant(op);
    case OpClass::unary:
      return copy(op);
    case OpClass::sfpu:
      return sfpu(op);
    case OpClass::matmul:
      return matmul();
    case OpClass::depthwise:
      return depthwise();
    case OpClass::reduce:
      return reduce();
    case OpClass::splice:
      return splice();
    case OpClass::embedding:
      return embedding();
    case OpClass::tilizer:
      return tilizer();
    case OpClass::topk:
      return topk();
    case OpClass::ethernet:
      return ethernet();
    case OpClass::fused:
      return fused();
    case OpClass::buffer:
      return buffer();
    case OpClass::drainer:
      break;
  }
  return drainer();
}

}  // namespace

const std::vector<OpDoc>& all_op_docs() {
  static const std::vector<OpDoc> docs = [] {
    std::vector<OpDoc> all;
    for (const ops::DeviceOp& op : ops::device_ops()) all.push_back(doc_of(op));
    return all;
  }();
  return docs;
}

}  // namespace buda::netlist
