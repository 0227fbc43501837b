// Netlists are made backwards: first an op with the blocks of its output, then what each of its inputs has to look like, then manipulations
// that lead there, undone one by one, and last a queue with the shape that is left.
#include "generator.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>
#include <vector>

namespace buda::judge {
namespace {

struct Shape {
  int t = 1, rt = 1, ct = 1;
};

struct Block {
  int gr = 1, gc = 1, t = 1, m = 1, n = 1, ur = 1, uc = 1;
  Shape shape() const { return {t, gr * m * ur, gc * n * uc}; }
  std::string text() const {
    return cat("grid_size: [", gr, ", ", gc, "], t: ", t, ", mblock: [", m, ", ", n, "], ublock: [", ur, ", ", uc, "]");
  }
};

struct Formats {
  std::string in, out, intermed, acc;
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : rng_(seed) {}

  std::string run() {
    inputs_ = 1 + pick(2);
    loops_ = 1 + pick(2);
    const int ops = 1 + pick(3);
    for (int i = 0; i < ops; ++i) add_op(i);
    std::string text = cat("devices: {arch: wormhole_b0}\nqueues:\n", queues_,
                           "graphs:\n  g:\n    target_device: 0\n    input_count: ", inputs_, "\n", ops_);
    text += cat("programs:\n  - run:\n    - var: {$c_inputs: ", inputs_, ", $c_zero: 0, $c_loops: ", loops_,
                "}\n    - staticvar: {$l: 0, $g: 0}\n    - loop: $c_loops\n", "    - execute: {graph_name: g, queue_settings: {",
                join(settings_, ", "), "}}\n", "    - varinst: [$l, incwrap, $c_inputs, ", 2 * entries(), "]\n",
                "    - varinst: [$g, incwrap, $c_inputs, ", 2 * entries(), "]\n    - endloop\n");
    if (!fused_.empty()) text += cat("fused_ops:\n", fused_);
    return text;
  }

 private:
  int pick(int n) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(n))); }
  bool chance(int percent) { return pick(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + pick(static_cast<int>(list.size())));
  }
  int entries() const { return inputs_ * loops_; }
  int divisor(int n) {
    int d = 0;
    do d = 1 + pick(n);
    while (n % d != 0);
    return d;
  }

  // A block with this shape.
  Block block_of(Shape s) {
    Block b;
    b.t = s.t;
    b.gr = std::min(divisor(s.rt), 4);
    while (s.rt % b.gr != 0) --b.gr;
    b.gc = std::min(divisor(s.ct), 4);
    while (s.ct % b.gc != 0) --b.gc;
    b.ur = divisor(s.rt / b.gr);
    b.uc = divisor(s.ct / b.gc);
    b.m = s.rt / b.gr / b.ur;
    b.n = s.ct / b.gc / b.uc;
    return b;
  }

  Block random_block(int most_ublock = 4) {
    Block b;
    b.gr = 1 + pick(2);
    b.gc = 1 + pick(2);
    b.t = one_of({1, 1, 2, 3, 4});
    b.m = 1 + pick(3);
    b.n = 1 + pick(3);
    do {
      b.ur = 1 + pick(2);
      b.uc = 1 + pick(2);
    } while (b.ur * b.uc > most_ublock);
    return b;
  }

  std::string queue(const std::string& input, const Block& b, const std::string& df, const std::string& kind = "queue",
                    const std::string& more = "", int slots = 0) {
    const std::string name = cat(input == "HOST" ? "in" : "out", queue_number_++);
    std::vector<std::string> buffers;
    for (int i = 0; i < b.gr * b.gc; ++i) {
      buffers.push_back(cat("[", address_ % 6, ", ", 0x10000000 + address_ / 6 * 0x200000, "]"));
      ++address_;
    }
    queues_ += cat("  ", name, ": {type: ", kind, ", input: ", input, ", entries: ", slots > 0 ? slots : entries(), ", ", b.text(),
                   ", ublock_order: ", one_of({"r", "c"}), ", df: ", df, ", target_device: 0, loc: dram, dram: [", join(buffers, ", "), "]",
                   more, "}\n");
    return name;
  }

  void stream(const std::string& name) {
    settings_.push_back(cat(name, ": {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, rd_ptr_global: $g}"));
  }
  void constant(const std::string& name) {
    settings_.push_back(
        cat(name, ": {prologue: ", chance(50), ", epilogue: false, zero: false, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero}"));
  }

  std::string input_queue(const Block& b, const std::string& df, const std::string& more = "") {
    const bool ram = chance(30);
    const std::string name = queue("HOST", b, df, ram ? "ram" : "queue", more, ram ? 1 : 0);
    if (ram) {
      constant(name);
    } else {
      stream(name);
    }
    return name;
  }

  // A producer and manipulations that make `wanted` of it; the latter go into `maps_` for input number i.
  std::string operand(std::size_t i, Shape wanted, const std::string& df, bool may_transpose, bool maps = true) {
    std::vector<std::string> tms;
    Shape s = wanted;
    if (maps && chance(10) && s.rt > 1) {
      maps_ += cat(", input_", i, "_pad: {rt: 1, ct: 0, pad_value: ", one_of({"0.0", "1.0", "-0.5"}), "}");
      --s.rt;
    }
    const int count = maps ? pick(4) : 0;
    bool transposed = false;
    for (int k = 0; k < count; ++k) {
      const int n = 2 + pick(2);
      switch (pick(8)) {
        case 0:
          if (s.rt % n == 0) s.rt /= n, tms.push_back(cat("broadcast: {r: ", n, "}"));
          break;
        case 1:
          if (s.ct % n == 0) s.ct /= n, tms.push_back(cat("broadcast: {c: ", n, "}"));
          break;
        case 2:
          if (s.t > 1) tms.push_back(cat("broadcast: {z: ", s.t, "}")), s.t = 1;
          break;
        case 3:
          if (s.t % n == 0 && s.ct * n <= 12) s.t /= n, s.ct *= n, tms.push_back(cat("hslice: ", n));
          break;
        case 4:
          if (s.t % n == 0 && s.rt * n <= 12) s.t /= n, s.rt *= n, tms.push_back(cat("vslice: ", n));
          break;
        case 5:
          if (s.ct % n == 0 && s.t * n <= 8) s.t *= n, s.ct /= n, tms.push_back(cat("hstack: ", n));
          break;
        case 6:
          if (s.rt % n == 0 && s.t * n <= 8) s.t *= n, s.rt /= n, tms.push_back(cat("vstack: ", n));
          break;
        default:
          if (may_transpose && !transposed) std::swap(s.rt, s.ct), tms.push_back("transpose"), transposed = true;
          break;
      }
    }
    std::reverse(tms.begin(), tms.end());
    if (maps && chance(8)) {
      maps_ += cat(", input_", i, "_unpad: {rt: 1, ct: 0}");
      ++s.rt;
    }
    if (!tms.empty()) {
      std::vector<std::string> items;
      for (const auto& tm : tms) items.push_back(tm == "transpose" ? tm : cat("{", tm, "}"));
      maps_ += cat(", input_", i, "_tms: [", join(items, ", "), "]");
    }
    // An op before that happens to have this shape and format.
    for (const auto& made : made_)
      if (made.df == df && made.shape.t == s.t && made.shape.rt == s.rt && made.shape.ct == s.ct && chance(70)) return made.name;
    return input_queue(block_of(s), df);
  }

  Formats formats() {
    Formats f;
    const bool a = chance(20);
    auto one = [&] { return a ? one_of({"Float16", "Bfp8"}) : one_of({"Float16_b", "Float16_b", "Bfp8_b", "Float32"}); };
    f.in = one();
    f.out = one();
    f.intermed = a ? "Float16" : one_of({"Float16_b", "Float16_b", "Bfp8_b"});
    f.acc = a ? "Float16" : one_of({"Float16_b", "Float16_b", "Float32"});
    if (f.acc == "Float32") f.intermed = "Float32";
    return f;
  }

  struct Made {
    std::string name, df;
    Shape shape;
  };

  void emit(const std::string& type, const Block& b, const std::vector<std::string>& inputs, const std::vector<std::string>& in_df,
            const Formats& f, const std::string& attributes, const std::string& order = "r") {
    const std::string name = cat("op", op_number_);
    ops_ += cat("    ", name, ": {type: ", type, ", grid_loc: [", 2 * op_number_, ", 0], ", b.text(), ", inputs: [", join(inputs, ", "),
                "], in_df: [", join(in_df, ", "), "], out_df: ", f.out, ", intermed_df: ", f.intermed, ", acc_df: ", f.acc,
                ", math_fidelity: ", f.acc == "Int32" ? "HiFi4" : one_of({"LoFi", "HiFi2", "HiFi2_B", "HiFi3", "HiFi4", "HiFi4"}),
                ", ublock_order: ", order, ", buf_size_mb: ", b.t % 2 == 0 ? 4 : 2,
                attributes.empty() ? "" : cat(", attributes: {", attributes, "}"), maps_, "}\n");
    ++op_number_;
    maps_.clear();
    queue(name, block_of(b.shape()), f.out);
    made_.push_back({name, f.out, b.shape()});
  }

  std::string relu() {
    return chance(20) ? cat("relu_en: true, relu_mode: ", one_of({"min", "max"}), ", relu_threshold: ", one_of({"0.0", "0.5"})) : "";
  }
  static std::string listed(std::initializer_list<std::string> parts) {
    std::vector<std::string> there;
    for (const auto& p : parts)
      if (!p.empty()) there.push_back(p);
    return join(there, ", ");
  }
  std::string order() { return one_of({"r", "c"}); }
  int limit(const Formats& f) { return f.acc == "Float32" || f.acc == "Int32" ? 4 : 8; }

  void add_op(int) {
    switch (pick(14)) {
      case 0:
      case 1:
        return binary();
      case 2:
      case 3:
        return unary();
      case 4:
      case 5:
        return matmul();
      case 6:
        return sparse();
      case 7:
        return depthwise();
      case 8:
        return reduce();
      case 9:
        return splice();
      case 10:
        return chance(50) ? embedding() : tilizer();
      case 11:
        return topk();
      case 12:
        return integers();
      default:
        return fused();
    }
  }

  void binary() {
    const Formats f = formats();
    const Block b = random_block(limit(f));
    const std::vector<std::string> in = {operand(0, b.shape(), f.in, true), operand(1, b.shape(), f.in, false)};
    emit(one_of({"add", "subtract", "multiply", "maximum"}), b, in, {f.in, f.in}, f, relu(), order());
  }

  void unary() {
    const Formats f = formats();
    const Block b = random_block(limit(f));
    const std::string type = one_of({"nop", "datacopy", "exp", "log", "sqrt", "gelu", "gelu_derivative", "reciprocal", "sigmoid", "tanh",
                                     "square", "power", "sine", "cosine", "lrelu", "abs", "dropout"});
    std::string extra;
    if (type == "power") extra = cat("exp: ", 1 + pick(4));
    if (type == "lrelu") extra = "slope: 0.1";
    if (type == "dropout") extra = cat("p: 0.25, seed: ", pick(100));
    if (extra.empty() && type != "nop" && type != "datacopy" && chance(20)) extra = cat("vector: ", one_of({"r", "c", "rc"}));
    const std::vector<std::string> in = {operand(0, b.shape(), f.in, true)};
    emit(type, b, in, {f.in}, f, listed({extra, relu()}), order());
  }

  void matmul() {
    Formats f = formats();
    Block b = random_block(limit(f));
    const int m_k = 1 + pick(3), u_kt = 1 + pick(2);
    const int z = chance(15) ? 2 : 1;
    const Shape out = b.shape();
    std::vector<std::string> in = {operand(0, {out.t * z, out.rt, m_k * u_kt}, f.in, false),
                                   operand(1, {out.t * z, m_k * u_kt, out.ct}, f.in, true)};
    std::vector<std::string> df = {f.in, f.in};
    const bool bias = chance(30);
    if (bias) {
      in.push_back(operand(2, out, f.in, false));
      df.push_back(f.in);
    }
    emit("matmul", b, in, df, f,
         listed({cat("m_k: ", m_k, ", u_kt: ", u_kt), bias ? "bias: true" : "", z > 1 ? "accumulate: true, z: 2" : "", relu(),
                 chance(10) ? "sfpu_op: gelu" : ""}));
  }

  void sparse() {
    const Formats f = formats();
    Block b = random_block(limit(f));
    const int m_k = 1 + pick(3), u_kt = 1 + pick(3), act_t = chance(30) ? b.t : 1, tiles = 2 + pick(6);
    const Shape out = b.shape();
    std::vector<std::string> in = {input_queue(Block{b.gr, 1, 1, 1, tiles, 1, 1}, f.in),
                                   operand(1, {act_t, m_k * u_kt, out.ct}, f.in, false),
                                   queue("HOST", Block{b.gr, 1, 1, 1, 2, 1, 1}, "RawUInt32", "ram", "", 1)};
    constant(in[2]);
    std::vector<std::string> df = {f.in, f.in, "RawUInt32"};
    const bool bias = chance(25);
    if (bias) {
      in.push_back(operand(3, out, f.in, false));
      df.push_back(f.in);
    }
    emit("matmul", b, in, df, f,
         listed({cat("m_k: ", m_k, ", u_kt: ", u_kt, ", identity: true, num_index_tiles: 2, num_sparse_tiles: ", tiles,
                     ", sparse_tile_ptr_bits: ", 5 + pick(5), ", act_t: ", act_t, ", fracture_factor: 1"),
                 chance(50) ? cat("sparse_ublock_idx_bits: ", 3 + pick(4)) : "", bias ? "bias: true" : ""}));
  }

  void depthwise() {
    const Formats f = formats();
    Block b = random_block(limit(f));
    const int m_k = 1 + pick(3);
    const Shape out = b.shape();
    const std::vector<std::string> in = {operand(0, {out.t, out.rt, out.ct * m_k}, f.in, false),
                                         operand(1, {out.t, m_k, out.ct}, f.in, false)};
    emit("depthwise", b, in, {f.in, f.in}, f, cat("m_k: ", m_k, ", u_kt: 1"));
  }

  void reduce() {
    Formats f = formats();
    if (f.in == "Float16" || f.in == "Bfp8") f.acc = "Float16";
    Block b = random_block(limit(f));
    const std::string dim = one_of({"r", "c", "z"});
    const int k = 1 + pick(4);
    if (dim == "r") b.m = b.ur = 1;
    if (dim == "c") b.n = b.uc = 1;
    if (dim == "z") f.intermed = f.out = f.in;
    Shape in = b.shape();
    if (dim == "r") in.rt = b.gr * k;
    if (dim == "c") in.ct = b.gc * k;
    if (dim == "z") in.t *= k;
    const std::vector<std::string> inputs = {operand(0, in, f.in, false)};
    emit("reduce", b, inputs, {f.in}, f,
         dim == "z" ? cat("dim: z, type: max, z: ", k) : cat("dim: ", dim, ", type: max, m_k: ", k, ", u_kt: 1"));
  }

  void splice() {
    const Formats f = formats();
    Block b = random_block(limit(f));
    const bool by_t = chance(40);
    const int count = 1 + pick(3);
    std::vector<std::string> in, df;
    std::vector<std::string> ranges = {by_t ? "granularity: t" : "granularity: ublock"};
    int total = 0;
    std::vector<int> lengths;
    for (int i = 0; i < count; ++i) lengths.push_back(1 + pick(2)), total += lengths.back();
    // The output holds one or two rounds.
    const int rounds = 1 + pick(2);
    if (by_t) {
      b.t = total * rounds;
    } else {
      b.m = total * rounds;
      b.n = 1;
    }
    for (int i = 0; i < count; ++i) {
      const int index = pick(2), stride = pick(2), each = index + lengths[static_cast<std::size_t>(i)] + stride;
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
    emit("splice", b, in, df, f, join(ranges, ", "), by_t ? "r" : order());
  }

  void embedding() {
    Formats f = formats();
    f.in = one_of({"Float16_b", "Float16"});
    f.out = f.in;
    f.intermed = f.acc = f.in;
    Block b = random_block(4);
    b.ur = b.t = 1;
    const std::string table = input_queue(Block{1, 1, 1, 1 + pick(3), b.shape().ct, 1, 1}, f.in, ", layout: flat");
    const std::string index = queue("HOST", Block{b.gr, 1, 1, 1, 1, 1, 1}, "RawUInt32");
    stream(index);
    emit("embedding", b, {table, index}, {f.in, "RawUInt32"}, f, cat("num_indices: ", 32 * b.m));
  }

  void tilizer() {
    Formats f = formats();
    f.in = one_of({"Float16_b", "Float16"});
    f.intermed = f.acc = f.in;
    f.out = f.in;
    const Block b = random_block(4);
    const std::string flat = queue("HOST", Block{1, 1, b.t, b.gr * b.m, b.gc * b.n, b.ur, b.uc}, f.in, "queue", ", layout: flat");
    stream(flat);
    emit("tilizer", b, {flat}, {f.in}, f, "");
  }

  void topk() {
    Formats f;
    f.in = f.intermed = f.acc = "Float16_b";
    const int k = one_of({4, 8, 16, 32}), tiles = one_of({2, 4, 8});
    const bool values = chance(50);
    f.out = values ? "Float16_b" : "UInt16";
    Block b{1, 1 + pick(2), 1, 1 + pick(2), 1, 1, 1};
    const Shape in{1, b.shape().rt, b.gc * tiles};
    const std::string x = input_queue(block_of(in), "Float16_b"), index = queue("HOST", block_of(in), "UInt16");
    stream(index);
    emit("topk", b, {x, index}, {"Float16_b", "UInt16"}, f,
         cat("m_k: ", tiles, ", u_kt: 1, k: ", k, ", sort: ", values ? "max" : "argmax", ", kreduce: false"));
  }

  void integers() {
    Formats f{"Int8", "Int8", "Int8", "Int32"};
    Block b = random_block(4);
    const Shape out = b.shape();
    switch (pick(4)) {
      case 0: {
        const std::vector<std::string> in = {operand(0, out, "Int8", false), operand(1, out, "Int8", false)};
        f.out = one_of({"Int8", "Int32"});
        f.intermed = f.out;
        return emit(one_of({"add", "multiply", "subtract", "maximum"}), b, in, {"Int8", "Int8"}, f, "");
      }
      case 1: {
        const int m_k = 1 + pick(2);
        const std::vector<std::string> in = {operand(0, {out.t, out.rt, m_k}, "Int8", false),
                                             operand(1, {out.t, m_k, out.ct}, "Int8", true)};
        f.out = f.intermed = "Int32";
        return emit("matmul", b, in, {"Int8", "Int8"}, f, cat("m_k: ", m_k, ", u_kt: 1"));
      }
      case 2: {
        const std::vector<std::string> in = {operand(0, out, "Float32", false), operand(1, out, "Float32", false)};
        f.intermed = one_of({"Int8", "Int32"});
        return emit("quantization", b, in, {"Float32", "Float32"}, f, cat("zero_point: ", pick(5)));
      }
      default: {
        const std::string df = one_of({"Int32", "Int8"});
        const std::vector<std::string> in = {operand(0, out, df, false), operand(1, out, "Float32", false)};
        const bool back = chance(50);
        f.out = back ? "Float32" : "Int8";
        f.intermed = back ? "Int32" : "Int8";
        return emit(back ? "dequantization" : "requantization", b, in, {df, "Float32"}, f, cat("zero_point: ", pick(5)));
      }
    }
  }

  // One to three schedules of elementwise steps, the first perhaps ending in a reduction that the next one broadcasts.
  void fused() {
    Formats f = formats();
    Block b = random_block(limit(f));
    const Shape out = b.shape();
    const std::string blocks = cat("mblock: [", b.m, ", ", b.n, "], ublock: [", b.ur, ", ", b.uc, "]");
    std::vector<std::string> in, df;
    auto input = [&] {
      in.push_back(operand(in.size(), out, f.in, false));
      df.push_back(f.in);
      return cat("input", in.size() - 1);
    };
    std::vector<std::string> steps;
    std::string schedules;
    auto step = [&](const std::string& body) {
      schedules += cat(schedules.empty() || fresh_ ? "      -\n" : "", "        - s", step_++, ": {", body, "}\n"), fresh_ = false;
    };
    fresh_ = true;
    int buffers = 0;
    const std::string first = input();
    std::string running = first;
    if (chance(40)) {
      // Row maxima, taken off again: what softmax begins with.
      const std::string narrow = cat("mblock: [", b.m, ", 1], ublock: [", b.ur, ", 1]");
      step(cat("type: reduce, inputs: [", first, "], ", narrow, ", attributes: {dim: c, type: max, m_k: ", b.n, ", u_kt: ", b.uc,
               "}, output: intermed0"));
      fresh_ = true;
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
        step(cat("type: ", one_of({"add", "multiply", "subtract"}), ", inputs: [", running, ", ", other, "], ", pop, blocks,
                 ", output: ", target));
      } else {
        step(cat("type: ", one_of({"nop", "exp", "sigmoid", "tanh", "square", "abs", "gelu"}), ", inputs: [", running, "], ", pop, blocks,
                 ", output: ", target));
      }
      if (target.starts_with("intermed")) ++buffers;
      running = target;
    }
    fused_ += cat("  f", op_number_, ":\n    inputs: ", in.size(), "\n    intermediates: ", buffers, "\n    schedules:\n", schedules);
    emit("fused_op", b, in, df, f, cat("fused_op_id: f", op_number_), order());
  }

  Rng rng_;
  int inputs_ = 1, loops_ = 1, queue_number_ = 0, op_number_ = 0, address_ = 0, step_ = 0;
  bool fresh_ = true;
  std::string queues_, ops_, fused_, maps_;
  std::vector<std::string> settings_;
  std::vector<Made> made_;
};

}  // namespace

std::string random_netlist(std::uint64_t seed) { return Maker(seed).run(); }

std::string with_fault(const std::string& text, std::uint64_t seed) {
  Rng rng(seed);
  std::string out = text;
  // Words and numbers of the text.
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t i = 0; i < text.size();) {
    auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '$'; };
    std::size_t j = i;
    while (j < text.size() && part(text[j])) ++j;
    if (j > i) words.emplace_back(i, j - i);
    i = std::max(j, i + 1);
  }
  const auto [at, length] = words[static_cast<std::size_t>(rng.below(words.size()))];
  const std::string word = text.substr(at, length);
  const char* names[] = {"Float16", "Bfp8_b", "Int8", "RawUInt32", "matmul", "nop", "in0", "op0",       "out1", "true", "transpose",
                         "queue",   "ram",    "r",    "c",         "None",   "[",   "}",   "intermed0", "dest", "$l"};
  const char* numbers[] = {"0", "1", "2", "3", "7", "31", "64", "1000", "-1", "65536", "2147483647", "99999999999", "0.5", "1e30", "nan"};
  const bool number = parse_double(word).has_value();
  switch (rng.below(5)) {
    case 0:
    case 1:
    case 2: {
      const auto& [there, size] = words[static_cast<std::size_t>(rng.below(words.size()))];
      std::string other = text.substr(there, size);
      if (rng.below(3) == 0) other = names[rng.below(std::size(names))];
      if (number) other = numbers[rng.below(std::size(numbers))];
      return out.replace(at, length, other);
    }
    case 3:
      return out.erase(at, length);
    default: {
      const std::size_t begin = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size() - 1) + 1;
      if (rng.below(2) == 0) return out.erase(begin, end - begin);
      return out.insert(begin, text.substr(begin, end - begin));
    }
  }
}

}  // namespace buda::judge
