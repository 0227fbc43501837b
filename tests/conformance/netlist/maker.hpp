// SPDX-License-Identifier: Apache-2.0
// Random netlists are made backwards: first an op with the blocks of its output, then what each of its inputs has to look like, then
// manipulations that lead there, undone one by one, and last a queue with the shape that is left, or an op before that happens to have it.
#pragma once

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/tensor/data_format.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace buda::judge {

struct Shape3 {
  int t = 1, rt = 1, ct = 1;
  friend bool operator==(const Shape3&, const Shape3&) = default;
};

struct Block {
  int gr = 1, gc = 1, t = 1, m = 1, n = 1, ur = 1, uc = 1;
  Shape3 shape() const { return {t, gr * m * ur, gc * n * uc}; }
  std::string text() const {
    return cat("grid_size: [", gr, ", ", gc, "], t: ", t, ", mblock: [", m, ", ", n, "], ublock: [", ur, ", ", uc, "]");
  }
};

struct Formats {
  std::string in, out, intermed, acc;
};

class NetlistMaker {
 public:
  explicit NetlistMaker(std::uint64_t seed) : rng_(seed) {}
  std::string run();

 private:
  struct Chip {
    std::string ops;
    std::vector<std::string> settings;
    int count = 0;  // ops
  };
  struct Made {
    std::string name, df;
    Shape3 shape;
    TileDim tile;
  };
  // A queue of the host that more ops may read.
  struct Shared {
    std::string name, df, reader;  // the op that reads it first
    Shape3 shape;
    TileDim tile;
    int chip = 0;
  };
  // What may be done to an op beside its type.
  struct Freedom {
    bool gradient = false, untilize = false, store_maps = true;
    std::string order = "r";
  };

  // Dice.
  int pick(int n) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(n))); }
  bool chance(int percent) { return pick(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + pick(static_cast<int>(list.size())));
  }
  std::string one_of(std::initializer_list<const char*> list) { return *(list.begin() + pick(static_cast<int>(list.size()))); }
  int divisor(int n);

  // Blocks and formats.
  int entries() const { return inputs_ * loops_; }
  Block block_of(Shape3 s);
  Block random_block(int most_ublock = 4);
  Formats formats();
  static int ublock_limit(const Formats& f) { return f.acc == "Float32" || f.acc == "Int32" ? 4 : 8; }
  static std::string listed(std::initializer_list<std::string> parts);
  static std::string tile_text(TileDim tile) { return tile == TileDim{} ? "" : cat(", tile_dim: [", tile.rows, ", ", tile.cols, "]"); }

  // Queues and inputs.
  std::string queue(const std::string& input, const Block& b, const std::string& df, const std::string& kind = "queue",
                    const std::string& more = "", int slots = 0, TileDim tile = {});
  void stream(const std::string& name);
  void constant(const std::string& name);
  std::string input_queue(const Block& b, const std::string& df, const std::string& more = "", TileDim tile = {});
  std::string operand(std::size_t i, Shape3 wanted, const std::string& df, bool may_transpose, bool maps = true, TileDim tile = {});

  // Ops.
  void emit(const std::string& type, const Block& b, const std::vector<std::string>& inputs, const std::vector<std::string>& in_df,
            Formats f, std::string attributes, Freedom free, TileDim tile = {});
  std::string relu();
  void add_op();
  void small_tile_op();
  void binary();
  void kernel_broadcast();
  void kernel_broadcast_matmul();
  void unary();
  const ops::DeviceOp& unary_type();
  void matmul();
  void sparse();
  void sparse_words();
  void depthwise();
  void reduce();
  void splice();
  void embedding();
  void tilizer();
  void topk();
  void integers();
  void quantized_matmul();
  void relay();
  void ethernet();
  void fused();
  void fused_matmul();
  void fused_integers();
  void second_view();

  Rng rng_;
  int inputs_ = 1, loops_ = 1, queue_number_ = 0, op_number_ = 0, address_ = 0, host_address_ = 0, step_ = 0;
  int chips_ = 1, chip_ = 0;
  bool in_fused_ = false;  // no manipulation pads the inputs of fused ops
  TileDim tile_;           // of all ops of a netlist with small tiles
  std::string queues_, fused_, maps_, view_graph_, view_program_;
  Chip on_[2];
  std::vector<Made> made_;
  std::vector<Shared> shared_;
};

}  // namespace buda::judge
