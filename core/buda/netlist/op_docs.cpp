// The table of op types for people.
#include <buda/netlist/op_docs.hpp>

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

OpDoc binary(T type, std::string_view meaning, std::string_view integers, std::string_view rule, std::string_view example) {
  OpDoc d{type, meaning, {{"in0", kSame, integers}, {"in1", kSame, integers}}, kAnyBlock, "", "", kBinaryRules, example, {}};
  d.formats =
      "Of floats: out_df and intermed_df any float format, acc_df a float. Of integers: out_df and intermed_df integers, acc_df Int32, "
      "math_fidelity HiFi4.";
  d.notes = "transpose may stand on input 0, where the device can. Tiles of both inputs have one size.";
  d.rules.push_back(rule);
  return d;
}

OpDoc quant(T type, std::string_view meaning, std::string_view from, std::string_view formats, std::string_view rule,
            std::string_view example) {
  return {type,
          meaning,
          {{"in0", kSame, from}, {"scales", kSame, "Float32"}},
          kAnyBlock,
          formats,
          "Results are rounded and saturate. In a fused op, where operand 1 is dest, operand 0 holds the scales.",
          {"NL105", "NL303", rule, "NL381", "NL382"},
          example,
          {}};
}

OpDoc sfpu(T type, std::string_view meaning, std::string_view notes, std::string_view example) {
  return {type, meaning, {{"in0", kSame, kFloats}}, kAnyBlock, kFloatFormats, notes, kSfpuRules, example, {}};
}

OpDoc copy(T type, std::string_view meaning, std::string_view example) {
  return {
      type,
      meaning,
      {{"in0", kSame, "any format"}},
      kAnyBlock,
      "out_df may differ from in_df, which converts; of integers acc_df Int32 and math_fidelity HiFi4.",
      "Most often there to change blocks, formats or chips, or to keep data of one input while another is made. transpose may stand on it.",
      {"NL105", "NL303", "NL344", "NL405", "NL409", "NL319", "NL363", "NL364"},
      example,
      {}};
}

OpDoc matmul() {
  return {
      T::matmul,
      "The product of in0 and in1: number (r, c) is the sum of in0 (r, k) * in1 (k, c) over the inner dimension of m_k * u_kt tiles; t by "
      "t.",
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
      "transpose may stand on input 1. A sparse (identity) matmul reads where its tiles belong from index tiles, strip by strip: a word "
      "per "
      "output ublock row that is not empty, then a word per tile. ReLU, bias and requantization follow the sum in this order: bias, "
      "requant, "
      "ReLU.",
      {"NL105", "NL303", "NL305", "NL306", "NL307", "NL308", "NL310", "NL311", "NL312", "NL313",
       "NL315", "NL339", "NL340", "NL341", "NL342", "NL343", "NL345", "NL356", "NL361", "NL365",
       "NL366", "NL370", "NL371", "NL372", "NL373", "NL374", "NL375", "NL376", "NL393", "NL405"},
      "matmul",
      {"matmul-bias", "matmul-integer", "matmul-sparse", "matmul-gradient"}};
}

OpDoc fused() {
  return {
      T::fused_op,
      "What the schedules of the fused op with id fused_op_id make of the inputs, ublock by ublock, without leaving the core.",
      {{"inputs", "what the first sub-op that reads it needs: T and the sub-op's block on this op's grid", "any that the sub-ops take"}},
      "That of the sub-op that writes output. Sub-ops have blocks of their own; each of their ublocks fits half of the destination "
      "register.",
      "intermediates are kept as intermed_df, dest as acc_df. With acc_df Int32, sub-ops are binary, quantization or nop.",
      "Operands of sub-ops are inputN, intermedN (a FIFO in L1 that the last reader pops) and dest (the destination register, which the "
      "next "
      "sub-op reads). matmul and reduce end their schedule.",
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
      "The largest number of each row (dim c), of each column (dim r), or of each place over z consecutive t (dim z).",
      {{"in0", "dim c: T, R, grid columns * m_k * u_kt; dim r: T, grid rows * m_k * u_kt, C; dim z: T * z, R, C", kFloats}},
      "ublock_order r. Along the reduced side one tile per core: mblock_n and ublock_ct 1 for dim c, mblock_m and ublock_rt 1 for dim r.",
      "dim z keeps one format: in_df, intermed_df and out_df. Formats of the A family do not go with acc_df Float32.",
      "The results stand in column 0 (dim c) or row 0 (dim r) of their tiles; the other numbers of these tiles are 0.",
      {"NL105", "NL303", "NL316", "NL346", "NL347", "NL348", "NL349", "NL350", "NL382", "NL393", "NL394"},
      "reduce",
      {"reduce-z"}};
}

std::vector<OpDoc> table() {
  std::vector<OpDoc> out;
  out.push_back(binary(T::add, "in0 + in1, number by number.", "floats, or Int8, UInt8 and Int32", "NL367", "add"));
  out.push_back(binary(T::subtract, "in0 - in1, number by number.", "floats, or Int8 and UInt8", "NL368", "subtract"));
  out.push_back(binary(T::multiply, "in0 * in1, number by number.", "floats, or Int8 and UInt8", "NL368", "multiply"));
  out.push_back(
      binary(T::maximum, "The larger one of in0 and in1, number by number.", "floats, or Int8, UInt8 and Int32", "NL367", "maximum"));
  out.push_back(
      quant(T::quantization, "in0 * scale + zero_point, as an integer.", "Float32", "out_df Int8, acc_df Int32.", "NL321", "quantization"));
  out.push_back(quant(T::dequantization, "(in0 - zero_point) * scale.", "Int8 or Int32",
                      "out_df Float32, acc_df Int32, math_fidelity HiFi4.", "NL379", "dequantization"));
  out.push_back(quant(T::requantization, "in0 * scale + zero_point, as a narrower integer.", "Int8 or Int32",
                      "out_df Int8, acc_df Int32, math_fidelity HiFi4.", "NL380", "requantization"));
  out.push_back(copy(T::nop, "in0.", "nop"));
  out.push_back(copy(T::datacopy, "in0; another name of nop.", "datacopy"));
  constexpr std::string_view kApproximate = "approximate_mode computes it faster and less exactly.";
  out.push_back(sfpu(T::exp, "e to the power of each number.", kApproximate, "exp"));
  out.push_back(sfpu(T::log, "The natural logarithm of each number.", "Of 0 it is minus infinity, of negative numbers NaN.", "log"));
  out.push_back(sfpu(T::sqrt, "The square root of each number.", kApproximate, "sqrt"));
  out.push_back(sfpu(T::gelu, "x * (1 + erf(x / sqrt(2))) / 2 of each number x.", kApproximate, "gelu"));
  out.push_back(sfpu(T::gelu_derivative, "The derivative of gelu at each number.", kApproximate, "gelu_derivative"));
  out.push_back(sfpu(T::reciprocal, "1 / x of each number x.", kApproximate, "reciprocal"));
  out.push_back(sfpu(T::sigmoid, "1 / (1 + exp(-x)) of each number x.", "", "sigmoid"));
  out.push_back(sfpu(T::tanh, "The hyperbolic tangent of each number.", "", "tanh"));
  out.push_back(sfpu(T::dropout, "0 with probability p, else the number / (1 - p); with p 1 the number.",
                     "Which numbers are dropped depends on seed; golden draws them by place, a device by the order of its work.",
                     "dropout"));
  out.back().rules.push_back("NL332");
  out.push_back(sfpu(T::square, "Each number times itself.", "", "square"));
  out.push_back(sfpu(T::power, "Each number to the power exp, a whole number.", "", "power"));
  out.push_back(sfpu(T::sine, "The sine of each number.", "", "sine"));
  out.push_back(sfpu(T::cosine, "The cosine of each number.", "", "cosine"));
  out.push_back(sfpu(T::lrelu, "Each number, if it is negative times slope.", "", "lrelu"));
  out.push_back(sfpu(T::abs, "Each number without its sign.", "", "abs"));
  out.push_back(matmul());
  out.push_back({T::depthwise,
                 "Column of tiles by column of tiles: tile (r, c) is the sum over b of in0 (r, c + C * b) times in1 (b, c).",
                 {{"in0", "T, R, C * m_k", kFloats}, {"in1", "T, m_k, C", kFloats}, {"bias, with bias", "T, R, C", kFloats}},
                 kOrderR,
                 kFloatFormats,
                 "m_k is the number of blocks that are summed, u_kt is 1.",
                 {"NL105", "NL303", "NL310", "NL315", "NL331", "NL339", "NL390", "NL391", "NL394"},
                 "depthwise",
                 {}});
  out.push_back(reduce());
  out.push_back(
      {T::splice,
       "Parts of the inputs side by side. Of each input in turn a cursor skips index units, length units from there on are copied, the "
       "cursor goes on by stride, which counts from where the copy began; that is repeated until the output's mblock (or its t) is full. "
       "Then index and stride of all rounds have to add up to the whole input.",
       {{"in0 to in7", "a whole number of the output's ublocks on the output's grid", "one format for all"}},
       kAnyBlock,
       "out_df may differ from in_df.",
       "Units are ublocks of the output, in its ublock_order, or with granularity t whole t. Inputs are cut into the output's ublocks "
       "first.",
       {"NL105", "NL326", "NL386", "NL402"},
       "splice",
       {}});
  out.push_back({T::embedding,
                 "Rows of a table: row i of the output is row index[i] of the table. An index of all ones gives zeros.",
                 {{"table", "any rows, C; layout flat", kFloats}, {"indices", "num_indices numbers", "RawUInt32"}},
                 "ublock_rt 1, mblock_m num_indices / 32.",
                 kFloatFormats,
                 "The queues of its inputs have no prologue.",
                 {"NL105", "NL327", "NL387", "NL388", "NL630"},
                 "embedding",
                 {}});
  out.push_back({T::tilizer,
                 "The input, whose queue holds rows of datums (layout flat), as tiles.",
                 {{"in0", kSame, kFloats}},
                 "Any; with ublock_rt above 1 the ublock is that of the input's queue.",
                 kFloatFormats,
                 "Nothing may stand on its input, and its queue has no prologue.",
                 {"NL105", "NL328", "NL389", "NL630"},
                 "tilizer",
                 {}});
  out.push_back(
      {T::topk,
       "The k largest numbers of each row in descending order (sort max), or their indices (sort argmax), filled up with zeros to whole "
       "tiles.",
       {{"values", "T, R, grid columns * m_k * u_kt", kFloats}, {"indices", "the same", "UInt16 or a float format"}},
       "ublock_rt * u_kt tiles fit half of the destination register.",
       "With argmax out_df is the format of the indices.",
       "kreduce skips the sorting of runs of k, which are sorted already. Which of equal numbers comes first is up to the bitonic network.",
       {"NL105", "NL323", "NL329", "NL337", "NL383", "NL392"},
       "topk",
       {}});
  out.push_back({T::ethernet_datacopy,
                 "in0, on chip dest_device. It runs on ethernet cores and takes no worker, so it has no grid_loc.",
                 {{"in0", kSame, "any format"}},
                 "That of the input, or what the reader needs.",
                 "out_df is in_df.",
                 "Ops of a graph on dest_device read it. ingress_channels and egress_channels choose the links.",
                 {"NL105", "NL107", "NL108"},
                 "ethernet_datacopy",
                 {}});
  out.push_back(fused());
  out.push_back({T::buffer,
                 "in0. net2pipe puts it between ops to keep data that a sparse matmul reads more than once.",
                 {{"in0", kSame, "any format"}, {"in1", "index tiles; may be left out", "RawUInt8, RawUInt16, RawUInt32"}},
                 "mblock_m 1.",
                 "out_df is in_df.",
                 "min_buffer_input is 0.",
                 {"NL105", "NL331", "NL335"},
                 "buffer",
                 {}});
  out.push_back({T::drainer,
                 "Nothing that anyone reads: it takes in0 as fast as it can, for measurements.",
                 {{"in0", kSame, "any format"}},
                 kAnyBlock,
                 "out_df is in_df.",
                 "The original has it only where the environment asks for it (TT_BACKEND_ENABLE_DRAINER_OP).",
                 {"NL105"},
                 "drainer",
                 {}});
  return out;
}

}  // namespace

const std::vector<OpDoc>& all_op_docs() {
  static const std::vector<OpDoc> docs = table();
  return docs;
}

}  // namespace buda::netlist
