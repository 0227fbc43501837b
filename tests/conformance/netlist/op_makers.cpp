// SPDX-License-Identifier: Apache-2.0
// Ops of each family, with the inputs and attributes that go with them.
#include "maker.hpp"

namespace buda::judge {
namespace {

// "slope: 0.1": values for the attributes that only few types have.
std::string sample_attributes(const ops::DeviceOp& op) {
  std::vector<std::string> parts;
  for (const ops::OwnAttribute& own : op.attributes) parts.push_back(cat(own.key, ": ", own.sample));
  return join(parts, ", ");
}

}  // namespace

// A copy or an SFPU op.
const ops::DeviceOp& NetlistMaker::unary_type() {
  static const std::vector<const ops::DeviceOp*> all = [] {
    std::vector<const ops::DeviceOp*> out;
    for (const ops::DeviceOp& op : ops::device_ops())
      if (op.op_class == ops::OpClass::unary || op.op_class == ops::OpClass::sfpu) out.push_back(&op);
    return out;
  }();
  return *all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))];
}

void NetlistMaker::add_op() {
  in_fused_ = false;
  switch (pick(18)) {
    case 0:
      return binary();
    case 1:
      return chance(25) ? kernel_broadcast() : binary();
    case 2:
    case 3:
      return unary();
    case 4:
    case 5:
      return chance(20) ? kernel_broadcast_matmul() : matmul();
    case 6:
      return sparse();
    case 7:
      return sparse_words();
    case 8:
      return depthwise();
    case 9:
      return reduce();
    case 10:
      return splice();
    case 11:
      return chance(50) ? embedding() : tilizer();
    case 12:
      return topk();
    case 13:
      return chance(60) ? integers() : chance(50) ? quantized_matmul() : fused_integers();
    case 14:
      return relay();
    case 15:
      return chips_ > 1 ? ethernet() : fused();
    case 16:
      return fused_matmul();
    default:
      return fused();
  }
}

// Tiles other than 32 x 32, of one size throughout; products have whole tiles on their right side.
void NetlistMaker::small_tile_op() {
  const Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const Shape3 out = b.shape();
  const TileDim right{tile_.cols, tile_.cols == 32 ? 32 : tile_.cols};
  switch (pick(tile_.cols == 32 ? 4 : 3)) {
    case 0: {
      const std::vector<std::string> in = {operand(0, out, f.in, false, true, tile_), operand(1, out, f.in, false, true, tile_)};
      return emit(one_of({"add", "subtract", "multiply", "maximum"}), b, in, {f.in, f.in}, f, relu(), {}, tile_);
    }
    case 1: {
      const std::vector<std::string> in = {operand(0, out, f.in, false, true, tile_)};
      return emit(one_of({"nop", "datacopy", "exp", "tanh", "square", "abs", "sigmoid"}), b, in, {f.in}, f, relu(), {}, tile_);
    }
    case 2: {
      // Whole tiles brought to small ones, or the other way round.
      const bool from_whole = chance(50);
      const std::vector<std::string> in = {operand(0, out, f.in, false, true, from_whole ? TileDim{} : tile_)};
      return emit(one_of({"nop", "datacopy"}), b, in, {f.in}, f, "", {}, from_whole ? tile_ : TileDim{});
    }
    default: {
      const int m_k = 1 + pick(3), u_kt = 1 + pick(2);
      std::vector<std::string> in = {operand(0, {out.t, out.rt, m_k * u_kt}, f.in, false, true, tile_),
                                     operand(1, {out.t, m_k * u_kt, out.ct}, f.in, true, true, right)};
      std::vector<std::string> df = {f.in, f.in};
      const bool bias = chance(30);
      if (bias) {
        in.push_back(operand(2, out, f.in, false, true, tile_));
        df.push_back(f.in);
      }
      return emit("matmul", b, in, df, f, listed({cat("m_k: ", m_k, ", u_kt: ", u_kt), bias ? "bias: true" : "", relu()}), {}, tile_);
    }
  }
}

void NetlistMaker::binary() {
  const Formats f = formats();
  const Block b = random_block(ublock_limit(f));
  const std::vector<std::string> in = {operand(0, b.shape(), f.in, true), operand(1, b.shape(), f.in, false)};
  emit(one_of({"add", "subtract", "multiply", "maximum"}), b, in, {f.in, f.in}, f, listed({relu()}),
       {true, true, true, one_of({"r", "c"})});
}

// One tile for all, which the kernel reads again and again.
void NetlistMaker::kernel_broadcast() {
  const Formats f = formats();
  const Block b = random_block(ublock_limit(f));
  const Shape3 s = b.shape();
  const std::vector<std::string> in = {operand(0, s, f.in, true), input_queue(Block{}, f.in)};
  maps_ += cat(", input_1_tms: [broadcast: {r: ", s.rt, "}, broadcast: {c: ", s.ct, "}, broadcast: {z: ", s.t, "}]");
  emit(one_of({"add", "multiply"}), b, in, {f.in, f.in}, f, cat(one_of({"kernel_broadcast", "kernel_broadcast_per_t"}), ": {input_1: 1}"),
       {});
}

// One row of tiles for all rows of cores and blocks, and one tile of bias: what the kernel keeps for each t that it adds up, or of the
// result.
void NetlistMaker::kernel_broadcast_matmul() {
  const Formats f = formats();
  const Block b = random_block(ublock_limit(f));
  const Shape3 s = b.shape();
  const int u_kt = 1 + pick(2), z = 1 + pick(2);
  const bool bias = chance(50);
  std::vector<std::string> in = {input_queue(block_of({s.t * z, 1, u_kt}), f.in), operand(1, {s.t * z, u_kt, s.ct}, f.in, false)};
  maps_ += cat(", input_0_tms: [broadcast: {r: ", s.rt, "}]");
  if (bias) {
    in.push_back(input_queue(Block{1, 1, s.t, 1, 1, 1, 1}, f.in));
    maps_ += cat(", input_2_tms: [broadcast: {r: ", s.rt, "}, broadcast: {c: ", s.ct, "}]");
  }
  emit("matmul", b, in, std::vector<std::string>(in.size(), f.in), f,
       listed({cat("m_k: 1, u_kt: ", u_kt), bias ? "bias: true" : "", z > 1 ? cat("accumulate: true, z: ", z) : "",
               cat("kernel_broadcast_per_t: {input_0: ", b.ur * u_kt, bias ? ", input_2: 1}" : "}")}),
       {});
}

void NetlistMaker::unary() {
  const Formats f = formats();
  const Block b = random_block(ublock_limit(f));
  const ops::DeviceOp& op = unary_type();
  const std::string type(op.name);
  const bool sfpu = op.op_class == ops::OpClass::sfpu;
  std::string extra = sample_attributes(op);
  if (op.type == ops::OpType::power) extra = cat("exp: ", 1 + pick(4));
  if (op.type == ops::OpType::dropout) extra = cat("p: 0.25, seed: ", pick(100));
  if (extra.empty() && sfpu && chance(20)) extra = cat("vector: ", one_of({"r", "c", "rc"}));
  const std::string mode = sfpu && chance(15) ? cat("approximate_mode: ", chance(50)) : "";
  const std::string thread = sfpu && chance(15) ? cat("sfpu_execution_thread: ", one_of({"math", "pack"})) : "";
  const std::vector<std::string> in = {operand(0, b.shape(), f.in, true)};
  emit(type, b, in, {f.in}, f, listed({extra, mode, thread, relu()}), {true, true, true, one_of({"r", "c"})});
}

void NetlistMaker::matmul() {
  Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const int m_k = 1 + pick(3), u_kt = 1 + pick(2);
  const int z = chance(15) ? 2 : 1;
  const Shape3 out = b.shape();
  std::vector<std::string> in = {operand(0, {out.t * z, out.rt, m_k * u_kt}, f.in, false),
                                 operand(1, {out.t * z, m_k * u_kt, out.ct}, f.in, true)};
  std::vector<std::string> df = {f.in, f.in};
  const bool bias = chance(30);
  if (bias) {
    in.push_back(operand(2, out, f.in, false));
    df.push_back(f.in);
  }
  const bool l1 = f.acc != "Float16" && chance(15);
  if (l1 && f.acc != "Float32") f.intermed = one_of({"Float16_b", "Float32"});
  emit("matmul", b, in, df, f,
       listed({cat("m_k: ", m_k, ", u_kt: ", u_kt), bias ? "bias: true" : "", z > 1 ? "accumulate: true, z: 2" : "",
               l1 ? "l1_acc: true" : "", relu(), chance(10) ? "sfpu_op: gelu" : "", chance(10) ? cat("min_buffer_input: ", pick(2)) : ""}),
       {z == 1, m_k == 1, true, "r"});
}

void NetlistMaker::sparse() {
  const Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const int m_k = 1 + pick(3), u_kt = 1 + pick(3), act_t = chance(30) ? b.t : 1, tiles = 2 + pick(6);
  // Fractions: columns of cores with sparse tiles and indices of their own.
  const int fractions = b.gc == 2 && chance(30) ? 2 : 1;
  const Shape3 out = b.shape();
  std::vector<std::string> in = {input_queue(Block{b.gr, fractions, 1, 1, tiles, 1, 1}, f.in),
                                 operand(1, {act_t, m_k * u_kt, out.ct}, f.in, false),
                                 queue("HOST", Block{b.gr, fractions, 1, 1, 2, 1, 1}, "RawUInt32", "ram", "", 1)};
  constant(in[2]);
  std::vector<std::string> df = {f.in, f.in, "RawUInt32"};
  const bool bias = chance(25);
  if (bias) {
    in.push_back(operand(3, out, f.in, false));
    df.push_back(f.in);
  }
  const std::vector<std::string> strips(static_cast<std::size_t>(b.gr * b.gc), "4");
  emit("matmul", b, in, df, f,
       listed({cat("m_k: ", m_k, ", u_kt: ", u_kt, ", identity: true, num_index_tiles: 2, num_sparse_tiles: ", tiles,
                   ", sparse_tile_ptr_bits: ", 5 + pick(5), ", act_t: ", act_t, ", fracture_factor: ", fractions),
               chance(50) ? cat("sparse_ublock_idx_bits: ", 3 + pick(4)) : "", bias ? "bias: true" : "",
               chance(10) ? cat("num_nz_strips: [", join(strips, ", "), "]") : ""}),
       {});
}

// The older encoding, in words of 32 bits.
void NetlistMaker::sparse_words() {
  const Formats f = formats();
  Block b = random_block(ublock_limit(f));
  b.t = 1;
  const Shape3 out = b.shape();
  const int act_t = 1 + pick(3), act_rt = b.ur * (1 + pick(3)), tiles = 2 + pick(6);
  const int most = act_t * act_rt / b.ur * (b.n * b.ur + 1);
  std::vector<std::string> in = {input_queue(Block{b.gr, 1, 1, 1, tiles, 1, 1}, f.in), operand(1, {act_t, act_rt, out.ct}, f.in, false),
                                 queue("HOST", Block{b.gr, 1, 1, 1, 1, 1, 1}, "RawUInt32", "ram", "", 1)};
  constant(in[2]);
  emit("matmul", b, in, {f.in, f.in, "RawUInt32"}, f,
       cat("m_k: ", act_rt, ", u_kt: 1, identity: true, num_index_tiles: 1, num_sparse_tiles: ", tiles, ", indices_len: ", most + pick(20),
           ", starting_row: ", pick(b.m * b.ur), ", act_t: ", act_t, ", num_columns: 1"),
       {});
}

void NetlistMaker::depthwise() {
  Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const int m_k = 1 + pick(3);
  const Shape3 out = b.shape();
  std::vector<std::string> in = {operand(0, {out.t, out.rt, out.ct * m_k}, f.in, false), operand(1, {out.t, m_k, out.ct}, f.in, false)};
  std::vector<std::string> df = {f.in, f.in};
  const bool bias = chance(25);
  if (bias) {
    in.push_back(operand(2, out, f.in, false));
    df.push_back(f.in);
  }
  emit("depthwise", b, in, df, f, listed({cat("m_k: ", m_k, ", u_kt: 1"), bias ? "bias: true" : ""}), {});
}

void NetlistMaker::reduce() {
  Formats f = formats();
  if (f.in == "Float16" || f.in == "Bfp8" || f.in == "Bfp4" || f.in == "Lf8") f.acc = "Float16";
  Block b = random_block(ublock_limit(f));
  const std::string dim = one_of({"r", "c", "z"});
  const int k = 1 + pick(4);
  if (dim == "r") b.m = b.ur = 1;
  if (dim == "c") b.n = b.uc = 1;
  if (dim == "z") f.intermed = f.out = f.in;
  Shape3 in = b.shape();
  if (dim == "r") in.rt = b.gr * k;
  if (dim == "c") in.ct = b.gc * k;
  if (dim == "z") in.t *= k;
  const std::vector<std::string> inputs = {operand(0, in, f.in, false)};
  emit("reduce", b, inputs, {f.in}, f,
       dim == "z" ? cat("dim: z, type: max, z: ", k) : cat("dim: ", dim, ", type: max, m_k: ", k, ", u_kt: 1"), {});
}

void NetlistMaker::splice() {
  const Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const bool by_t = chance(40);
  const int count = 1 + pick(3);
  std::vector<std::string> in, df;
  std::vector<std::string> ranges = {by_t ? "granularity: t" : "granularity: ublock"};
  int total = 0;
  std::vector<int> lengths;
  for (int i = 0; i < count; ++i) lengths.push_back(1 + pick(2)), total += lengths.back();
  const int rounds = 1 + pick(3);
  if (by_t) {
    b.t = total * rounds;
  } else {
    b.m = total * rounds;
    b.n = 1;
  }
  for (int i = 0; i < count; ++i) {
    // A round passes the units before the copied ones, those, and perhaps some behind them.
    const int index = pick(2), stride = lengths[static_cast<std::size_t>(i)] + pick(2), each = index + stride;
    Block source = b;
    if (by_t) {
      source.t = each * rounds;
    } else {
      source.m = each * rounds;
    }
    in.push_back(operand(static_cast<std::size_t>(i), source.shape(), f.in, false, false));
    df.push_back(f.in);
    ranges.push_back(cat("input", i, ": [", index, ", ", lengths[static_cast<std::size_t>(i)], ", ", stride, "]"));
  }
  emit("splice", b, in, df, f, join(ranges, ", "), {false, false, true, by_t ? std::string("r") : one_of({"r", "c"})});
}

void NetlistMaker::embedding() {
  Formats f = formats();
  f.in = one_of({"Float16_b", "Float16"});
  f.out = f.in;
  f.intermed = f.acc = f.in;
  Block b = random_block(4);
  b.ur = b.t = 1;
  const std::string table = queue("HOST", Block{1, 1, 1, 1 + pick(3), b.shape().ct, 1, 1}, f.in, "ram", ", layout: flat", 1);
  on_[chip_].settings.push_back(
      cat(table, ": {prologue: false, epilogue: false, zero: false, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero}"));
  const std::string index = queue("HOST", Block{b.gr, 1, 1, 1, 1, 1, 1}, "RawUInt32");
  stream(index);
  emit("embedding", b, {table, index}, {f.in, "RawUInt32"}, f, cat("num_indices: ", 32 * b.m), {});
}

void NetlistMaker::tilizer() {
  Formats f = formats();
  f.in = one_of({"Float16_b", "Float16"});
  f.intermed = f.acc = f.in;
  f.out = f.in;
  const Block b = random_block(4);
  const std::string flat = queue("HOST", Block{1, 1, b.t, b.gr * b.m, b.gc * b.n, b.ur, b.uc}, f.in, "queue", ", layout: flat");
  stream(flat);
  emit("tilizer", b, {flat}, {f.in}, f, "", {});
}

// The k largest of each row. Where several cores have parts of a row, a further op may merge their results: these are sorted runs, so it
// has `kreduce`.
void NetlistMaker::topk() {
  Formats f;
  f.in = f.intermed = f.acc = "Float16_b";
  const int k = one_of({4, 8, 16, 32}), tiles = one_of({2, 4, 8});
  const bool merge = on_[chip_].count < 2 && chance(40);
  Block b{1, 1 + pick(2), 1, 1 + pick(2), 1, 1, 1};
  if (merge) b.gc = one_of({2, 4});
  const Shape3 in{1, b.shape().rt, b.gc * tiles};
  const std::string x = input_queue(block_of(in), "Float16_b"), index = queue("HOST", block_of(in), "UInt16");
  stream(index);
  auto sorted = [&](bool values, const std::string& numbers, const std::string& places, int row_tiles, bool runs) {
    f.out = values ? "Float16_b" : "UInt16";
    emit("topk", b, {numbers, places}, {"Float16_b", "UInt16"}, f,
         cat("m_k: ", row_tiles, ", u_kt: 1, k: ", k, ", sort: ", values ? "max" : "argmax", ", kreduce: ", runs), {});
    return cat("op", op_number_ - 1);
  };
  if (!merge) {
    sorted(chance(50), x, index, tiles, false);
    return;
  }
  const std::string numbers = sorted(true, x, index, tiles, false), places = sorted(false, x, index, tiles, false);
  const int runs = b.gc;
  b.gc = 1;
  sorted(chance(50), numbers, places, runs, true);
}

void NetlistMaker::integers() {
  Formats f{"Int8", "Int8", "Int8", "Int32"};
  Block b = random_block(4);
  const Shape3 out = b.shape();
  switch (pick(4)) {
    case 0: {
      const std::vector<std::string> in = {operand(0, out, "Int8", false), operand(1, out, "Int8", false)};
      f.out = one_of({"Int8", "Int32"});
      f.intermed = f.out;
      const std::string relu_int = chance(15) ? "relu_en: true, relu_mode: min, relu_threshold: 0" : "";
      return emit(one_of({"add", "multiply", "subtract", "maximum"}), b, in, {"Int8", "Int8"}, f, relu_int, {});
    }
    case 1: {
      const int m_k = 1 + pick(2);
      const std::vector<std::string> in = {operand(0, {out.t, out.rt, m_k}, "Int8", false), operand(1, {out.t, m_k, out.ct}, "Int8", true)};
      f.out = f.intermed = "Int32";
      return emit("matmul", b, in, {"Int8", "Int8"}, f, cat("m_k: ", m_k, ", u_kt: 1"), {});
    }
    case 2: {
      const std::vector<std::string> in = {operand(0, out, "Float32", false), operand(1, out, "Float32", false)};
      f.intermed = one_of({"Int8", "Int32"});
      return emit("quantization", b, in, {"Float32", "Float32"}, f, cat("zero_point: ", pick(5)), {});
    }
    default: {
      const std::string df = one_of({"Int32", "Int8"});
      const std::vector<std::string> in = {operand(0, out, df, false), operand(1, out, "Float32", false)};
      const bool back = chance(50);
      f.out = back ? "Float32" : "Int8";
      f.intermed = back ? "Int32" : "Int8";
      return emit(back ? "dequantization" : "requantization", b, in, {df, "Float32"}, f, cat("zero_point: ", pick(5)), {});
    }
  }
}

// A product of integers with its bias, scaled on its way out.
void NetlistMaker::quantized_matmul() {
  Formats f{"Int8", "Int8", "Int32", "Int32"};
  Block b = random_block(4);
  const Shape3 out = b.shape();
  const int m_k = 1 + pick(2);
  std::vector<std::string> in = {operand(0, {out.t, out.rt, m_k}, "Int8", false), operand(1, {out.t, m_k, out.ct}, "Int8", true)};
  std::vector<std::string> df = {"Int8", "Int8"};
  const bool bias = chance(50);
  if (bias) {
    in.push_back(operand(2, out, "Int32", false));
    df.push_back("Int32");
  }
  in.push_back(operand(in.size(), out, "Float32", false));
  df.push_back("Float32");
  const bool back = chance(50);
  f.out = back ? "Float32" : "Int8";
  emit("matmul", b, in, df, f,
       cat("m_k: ", m_k, ", u_kt: 1, ", bias ? "bias: true, " : "", back ? "dequant" : "requant", ": true, zero_point: ", pick(5)), {});
}

// Numbers scaled to integers and back within a fused op.
void NetlistMaker::fused_integers() {
  in_fused_ = true;
  Formats f{"Int8", "Int8", "Int8", "Int32"};
  Block b = random_block(2);
  const Shape3 out = b.shape();
  const std::string blocks = cat("mblock: [", b.m, ", ", b.n, "], ublock: [", b.ur, ", ", b.uc, "]");
  const std::string id = cat("f", op_number_), zero = cat("zero_point: ", pick(4), ", ");
  auto name = [&] { return cat("s", step_++); };
  std::vector<std::string> df;
  std::string steps;
  switch (pick(3)) {
    case 0:
      df = {"Int8", "Int8", "Float32"};
      steps = cat("        - ", name(), ": {type: ", one_of({"add", "multiply"}), ", inputs: [input0, input1], ", blocks,
                  ", output: dest}\n        - ", name(), ": {type: requantization, inputs: [input2, dest], ", zero, blocks,
                  ", output: output}\n");
      break;
    case 1:
      df = {one_of({"Int8", "Int32"}), "Float32"};
      f.out = "Float32";
      f.intermed = "Int32";
      steps = cat("        - ", name(), ": {type: dequantization, inputs: [input0, input1], ", zero, blocks, ", output: output}\n");
      break;
    default:
      df = {"Float32", "Float32"};
      steps = cat("        - ", name(), ": {type: quantization, inputs: [input0, input1], ", zero, blocks, ", output: output}\n");
      break;
  }
  std::vector<std::string> in;
  for (const auto& format : df) in.push_back(operand(in.size(), out, format, false));
  fused_ += cat("  ", id, ":\n    inputs: ", in.size(), "\n    intermediates: 0\n    schedules:\n      -\n", steps);
  emit("fused_op", b, in, df, f, cat("fused_op_id: ", id), {});
}

// Ops that hand on what they get.
void NetlistMaker::relay() {
  Formats f = formats();
  f.out = f.in;
  Block b = random_block(ublock_limit(f));
  const bool buffer = chance(50);
  if (buffer) b.m = 1;
  const std::vector<std::string> in = {operand(0, b.shape(), f.in, false)};
  emit(buffer ? "buffer" : "drainer", b, in, {f.in}, f, "", {});
}

// From the first chip to the second; ops there may read it.
void NetlistMaker::ethernet() {
  chip_ = 0;
  Formats f = formats();
  f.out = f.in;
  Block b = random_block(ublock_limit(f));
  b.gr = b.gc = 1;
  const std::vector<std::string> in = {operand(0, b.shape(), f.in, false)};
  emit("ethernet_datacopy", b, in, {f.in}, f, "ingress_channels: [0], egress_channels: [0], dest_device: 1", {});
}

// One to three schedules of elementwise steps, the first perhaps ending in a reduction that the next one broadcasts.
void NetlistMaker::fused() {
  in_fused_ = true;
  Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const Shape3 out = b.shape();
  const std::string blocks = cat("mblock: [", b.m, ", ", b.n, "], ublock: [", b.ur, ", ", b.uc, "]");
  std::vector<std::string> in, df;
  auto input = [&] {
    in.push_back(operand(in.size(), out, f.in, false));
    df.push_back(f.in);
    return cat("input", in.size() - 1);
  };
  std::vector<std::string> steps;
  std::string schedules;
  bool fresh = true;
  auto step = [&](const std::string& body) {
    schedules += cat(schedules.empty() || fresh ? "      -\n" : "", "        - s", step_++, ": {", body, "}\n"), fresh = false;
  };
  int buffers = 0;
  const std::string first = input();
  std::string running = first;
  if (chance(40)) {
    // Row maxima, taken off again: what softmax begins with.
    const std::string narrow = cat("mblock: [", b.m, ", 1], ublock: [", b.ur, ", 1]");
    step(cat("type: reduce, inputs: [", first, "], ", narrow, ", attributes: {dim: c, type: max, m_k: ", b.n, ", u_kt: ", b.uc,
             "}, output: intermed0"));
    fresh = true;
    const std::string again = input();
    step(cat("type: subtract, inputs: [", again, ", intermed0], input_1_tms: [{broadcast: {c: ", b.n * b.uc, "}}",
             chance(50) ? ", {tile_broadcast: c}" : "", "], pop_last: [intermed0], ", blocks, ", output: dest"));
    running = "dest";
    buffers = 1;
  }
  const int count = 1 + pick(3);
  for (int i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const bool to_dest = !last && chance(60);
    std::string target = last ? "output" : to_dest ? "dest" : cat("intermed", buffers);
    std::string pop = running.starts_with("intermed") ? cat("pop: [", running, "], ") : "";
    if (chance(50)) {
      const std::string other = input();
      // A maximum neither reads nor writes the destination register.
      const bool any = running != "dest" && target != "dest";
      step(cat("type: ", any ? one_of({"add", "multiply", "subtract", "maximum"}) : one_of({"add", "multiply", "subtract"}), ", inputs: [",
               running, ", ", other, "], ", pop, blocks, ", output: ", target));
    } else {
      const ops::DeviceOp& op = unary_type();
      const std::string sample = sample_attributes(op);
      const std::string extra = sample.empty() ? "" : cat("attributes: {", sample, "}, ");
      step(cat("type: ", op.name, ", inputs: [", running, "], ", extra, pop, blocks, ", output: ", target));
    }
    if (target.starts_with("intermed")) ++buffers;
    running = target;
  }
  fused_ += cat("  f", op_number_, ":\n    inputs: ", in.size(), "\n    intermediates: ", buffers, "\n    schedules:\n", schedules);
  emit("fused_op", b, in, df, f, cat("fused_op_id: f", op_number_, chance(15) ? cat(", approximate_mode: ", chance(50)) : std::string()),
       {false, true, true, one_of({"r", "c"})});
}

// A product in a buffer, and what comes after it in a schedule of its own.
void NetlistMaker::fused_matmul() {
  in_fused_ = true;
  Formats f = formats();
  Block b = random_block(ublock_limit(f));
  const Shape3 out = b.shape();
  const int m_k = 1 + pick(3), u_kt = 1 + pick(2);
  const std::string blocks = cat("mblock: [", b.m, ", ", b.n, "], ublock: [", b.ur, ", ", b.uc, "]");
  std::vector<std::string> in = {operand(0, {out.t, out.rt, m_k * u_kt}, f.in, false),
                                 operand(1, {out.t, m_k * u_kt, out.ct}, f.in, false)};
  const std::string id = cat("f", op_number_);
  auto name = [&] { return cat("s", step_++); };
  std::string steps = cat("      -\n        - ", name(), ": {type: matmul, inputs: [input0, input1], attributes: {m_k: ", m_k,
                          ", u_kt: ", u_kt, "}, ", blocks, ", output: intermed0}\n      -\n");
  std::string running = "intermed0";
  if (chance(60)) {
    in.push_back(operand(2, out, f.in, false));
    const std::string type = one_of({"add", "multiply", "subtract", "maximum"});
    running = type == "maximum" ? "intermed1" : "dest";
    steps += cat("        - ", name(), ": {type: ", type, ", inputs: [intermed0, input2], pop: [intermed0], ", blocks,
                 ", output: ", running, "}\n");
  }
  steps += cat("        - ", name(), ": {type: ", one_of({"nop", "gelu", "sigmoid", "square"}), ", inputs: [", running, "], ",
               running == "dest" ? "" : cat("pop: [", running, "], "), blocks, ", output: output}\n");
  fused_ += cat("  ", id, ":\n    inputs: ", in.size(), "\n    intermediates: 2\n    schedules:\n", steps);
  emit("fused_op", b, in, std::vector<std::string>(in.size(), f.in), f, cat("fused_op_id: ", id), {false, false, true, one_of({"r", "c"})});
}

}  // namespace buda::judge
