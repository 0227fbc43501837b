// SPDX-License-Identifier: Apache-2.0
// Inputs in flat layout: tilizers and embeddings.
#include <buda/base/rng.hpp>

#include "unit/pipes/check/damage.hpp"
#include "unit/pipes/interchip/ring.hpp"

#include <algorithm>
#include <array>

namespace buda::pipes {
namespace {

// A queue of rows, cut into `q_rows` x `q_cols` buffers, and a tilizer on `rows` x `cols` cores.
std::string tilizer(int q_rows, int q_cols, int rows, int cols, const std::string& order, int t = 1, int ublock_rt = 1, int m = 4,
                    int n = 4) {
  auto shape = [&](int down, int across, const std::string& more) {
    return cat("grid_size: [", down, ", ", across, "], t: ", t, ", mblock: [", m / down, ", ", n / across, "], ublock: [", ublock_rt,
               ", 2], ublock_order: ", order, more);
  };
  std::string op = op_text("tile", "tilizer", "rows", 1, "grid_loc: [0, 0]", shape(rows, cols, ", buf_size_mb: 2"));
  return netlist_text(queue_text("rows", "HOST", shape(q_rows, q_cols, ", layout: flat"), q_rows * q_cols, 0x20000000) +
                          queue_text("out", "tile", shape(rows, cols, ""), rows * cols, 0x40000000),
                      op, 4);
}

// The rows that a pipe lists, as first and count of each run.
std::vector<std::pair<std::int64_t, std::int64_t>> rows_of(const Built& b, GridCoord worker) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  auto pipes = b.feeding(b.input("tile", worker, 0));
  if (pipes.size() != 1) return out;
  BufferIndex buffers(b.graph.buffers);
  std::vector<Id> list;
  for (std::int64_t i = 0; i < pipes.front()->repeats(); ++i)
    list.insert(list.end(), pipes.front()->inputs.begin(), pipes.front()->inputs.end());
  for (Id id : list) {
    auto row = static_cast<std::int64_t>(id - buffers.find(id)->id), count = buffers.find(id)->scatter_gather_num_tiles;
    if (!out.empty() && out.back().first + out.back().second == row) {
      out.back().second += count;
    } else {
      out.emplace_back(row, count);
    }
  }
  return out;
}

// 4 x 4 ublocks of 1 x 2 tiles: 128 rows of 256 datums in one buffer, 512 bytes each. A core of 2 x 2 takes 64 rows of 2 pieces of 128
// bytes, strip by strip: 32 rows of its first piece, the same rows of its second.
TEST(Rows, OneBufferForFourCores) {
  Built b(tilizer(1, 1, 2, 2, "r"));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  for (GridCoord worker : {GridCoord{0, 0}, GridCoord{0, 1}, GridCoord{1, 0}, GridCoord{1, 1}})
    EXPECT_EQ(rows_of(b, worker), (Runs{{0, 32}, {0, 64}, {32, 32}}));
  const Buffer* queue = b.buffer("rows", BufferType::dram_io);
  EXPECT_TRUE(queue->rows.hw_tilize);
  EXPECT_EQ(queue->tile_size, 128);
  EXPECT_EQ(queue->size_tiles, 128 * 4);
  EXPECT_EQ(queue->untilized.c, 2);
  EXPECT_EQ(queue->rows.table_core_c_div, 2);
  EXPECT_EQ(queue->rows.tilize_mblock_n_loop_num_rows, 32);
  EXPECT_EQ(b.input("tile", {0, 1}, 0)->rows.tilize_row_col_offset, 2 * 128);
  EXPECT_EQ(b.input("tile", {1, 0}, 0)->rows.tilize_row_col_offset, 64 * 512);
  EXPECT_EQ(b.input("tile", {1, 1}, 0)->rows.tilize_row_col_offset, 64 * 512 + 2 * 128);
}

TEST(Rows, ColumnByColumn) {
  Built b(tilizer(1, 1, 2, 2, "c"));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(rows_of(b, {0, 0}), (Runs{{0, 64}, {0, 64}}));
}

// With one column of pieces rows follow each other in memory, and are read 32 at a time.
TEST(Rows, OneColumnIsReadInBlocks) {
  Built b(tilizer(1, 1, 2, 1, "r", 2, 1, 4, 1));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  EXPECT_EQ(b.buffer("rows", BufferType::dram_io)->scatter_gather_num_tiles, 32);
  using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(rows_of(b, {1, 0}), (Runs{{0, 64}, {128, 64}}));
}

TEST(Rows, EveryBlocking) {
  Rng rng(31);
  for (int round = 0; round < 60; ++round) {
    auto pick = [&](std::initializer_list<int> list) { return *(list.begin() + rng.below(list.size())); };
    int q_rows = pick({1, 2}), q_cols = pick({1, 2}), rows = q_rows * pick({1, 2}), cols = q_cols * pick({1, 2}), rt = pick({1, 2});
    std::string text = tilizer(q_rows, q_cols, rows, cols, rng.below(2) == 0 ? "r" : "c", pick({1, 3}), rt);
    Built b(text);
    ASSERT_TRUE(b.ok()) << b.problem << text;
    ASSERT_EQ(b.check(), "") << text;
  }
}

TEST(Rows, BuffersThatCoresCannotShareAreRefused) {
  Built b(tilizer(2, 1, 1, 1, "r"));
  EXPECT_NE(b.problem.find("cannot share 2x1 buffers of rows"), std::string::npos) << b.problem;
}

TEST(Rows, OtherOpsTakeTiles) {
  std::string text = tilizer(1, 1, 1, 1, "r");
  text.replace(text.find("type: tilizer"), 13, "type: nop");
  Built b(text);
  EXPECT_NE(b.problem.find("holds rows of datums, and the op takes tiles [PP014]"), std::string::npos) << b.problem;
}

TEST(Rows, DamageIsCaught) {
  Built b(tilizer(1, 1, 2, 2, "r"));
  ASSERT_TRUE(b.ok()) << b.problem;
  auto damaged = [&](auto change) {
    PipeGraph graph = b.graph;
    for (Buffer& buffer : graph.buffers) change(buffer);
    for (Pipe& pipe : graph.pipes) change(pipe);
    return b.check(graph);
  };
  struct {
    std::function<void(Buffer&)> buffer;
    std::function<void(Pipe&)> pipe;
  } nothing{[](Buffer&) {}, [](Pipe&) {}};
  auto check = [&](const char* what, std::function<void(Buffer&)> buffer, std::function<void(Pipe&)> pipe) {
    auto change = [&](auto& item) {
      if constexpr (std::is_same_v<std::decay_t<decltype(item)>, Buffer>)
        buffer(item);
      else
        pipe(item);
    };
    EXPECT_NE(damaged(change), "") << what;
  };
  check(
      "the place of a core's part",
      [](Buffer& x) {
        if (x.rows.tilize_row_col_offset == 256) x.rows.tilize_row_col_offset = 0;
      },
      nothing.pipe);
  check(
      "rows before the next column",
      [](Buffer& x) {
        if (x.rows.hw_tilize) x.rows.tilize_mblock_n_loop_num_rows = 64;
      },
      nothing.pipe);
  check(
      "columns",
      [](Buffer& x) {
        if (x.rows.hw_tilize) x.untilized.c = 4;
      },
      nothing.pipe);
  check(
      "cores across",
      [](Buffer& x) {
        if (x.rows.hw_tilize) x.rows.table_core_c_div = 1;
      },
      nothing.pipe);
  check("a row twice", nothing.buffer, [](Pipe& p) {
    if (p.inputs.size() > 2) p.inputs[1] = p.inputs[0];
  });
  check("a row less", nothing.buffer, [](Pipe& p) {
    if (p.inputs.size() > 2) p.inputs.pop_back();
  });
  check("a row more", nothing.buffer, [](Pipe& p) {
    if (p.inputs.size() > 2) p.inputs.push_back(p.inputs[0]);
  });
}

// 64 rows of a table of 256 datums, looked up on two cores that share its columns.
std::string embedding(int cols) {
  std::string op = cat(
      "    look: {type: embedding, grid_loc: [0, 0], grid_size: [1, ", cols, "], inputs: [table, numbers], t: 1, mblock: [2, ", 4 / cols,
      "], ublock: [1, 2], ublock_order: r, buf_size_mb: 2, in_df: [Float16_b, RawUInt32], out_df: Float16_b,"
      " intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, untilize_output: false, attributes: {num_indices: 64}}\n");
  std::string numbers = queue_text("numbers", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x30000000);
  numbers.replace(numbers.find("df: Float16_b"), 13, "df: RawUInt32");
  return netlist_text(
      queue_text("table", "HOST", "grid_size: [1, 1], t: 1, mblock: [3, 4], ublock: [1, 2], layout: flat", 1, 0x20000000,
                 "type: ram, entries: 1") +
          numbers +
          queue_text("out", "look", cat("grid_size: [1, ", cols, "], t: 1, mblock: [2, ", 4 / cols, "], ublock: [1, 2]"), cols, 0x40000000),
      op, 2, "table: {prologue: false, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}");
}

// Rows of chip 0 for four tilizers of chip 1.
class RowsFromAnotherChip : public DamageTest {
 protected:
  RowsFromAnotherChip() : DamageTest(base()) {}
  static const Built& base() {
    static const Built built(
        cat("devices: {arch: [wormhole_b0]}\nqueues:\n",
            queue_text("rows", "HOST", "grid_size: [1, 1], t: 1, mblock: [4, 4], ublock: [1, 2], layout: flat", 1, 0x20000000),
            on_chip(1, queue_text("out", "op", "grid_size: [2, 2], t: 1, mblock: [2, 2], ublock: [1, 2]", 4, 0x30000000)),
            "graphs:\n  b:\n    target_device: 1\n    input_count: 2\n",
            op_text("op", "tilizer", "rows", 1, "grid_loc: [0, 0], grid_size: [2, 2]",
                    "t: 1, mblock: [2, 2], ublock: [1, 2], ublock_order: r, buf_size_mb: 2"),
            "programs:\n  - p:\n    - execute: {graph_name: b, queue_settings: {}}\n"),
        "n300");
    return built;
  }
  // The relay that reads the rows of the last core, which do not begin at byte 0.
  Buffer& relay() {
    return buffer([](const Buffer& b) { return b.type == BufferType::relay && b.rows.tilize_row_col_offset > 0; });
  }
};

TEST_F(RowsFromAnotherChip, EachCoreHasItsWay) {
  EXPECT_EQ(base().check(), "");
  EXPECT_EQ(std::count_if(graph_.buffers.begin(), graph_.buffers.end(), [](const Buffer& b) { return b.type == BufferType::relay; }), 4);
  for (const Buffer& b : graph_.buffers) {
    EXPECT_FALSE(b.type == BufferType::ethernet_relay && b.is_scatter) << "pieces are known by their place in the list";
    if (b.type == BufferType::relay) {
      EXPECT_EQ(b.tile_size, 128) << "a row of two tiles";
    }
  }
}
TEST_F(RowsFromAnotherChip, ReadFromAnotherPlace) {
  relay().rows.tilize_row_col_offset = 0;
  expect_caught("PC016");
}
TEST_F(RowsFromAnotherChip, PiecesOfAnotherSize) {
  relay().tile_size *= 2;
  expect_caught("PC016");
}
TEST_F(RowsFromAnotherChip, RowsInAnotherOrder) {
  Id id = relay().id;
  auto& inputs = pipe([&](const Pipe& p) { return p.outputs.front().front() == id; }).inputs;
  std::swap(inputs.front(), inputs.back());
  expect_caught("PC013");
}
TEST_F(RowsFromAnotherChip, ForAnotherCore) {
  auto is_last = [](const Pipe& p) { return p.ethernet_chan.has_value() && !p.ethernet_pipe; };
  BufferIndex index(graph_.buffers);
  std::vector<Pipe*> last;
  for (Pipe& p : graph_.pipes)
    if (is_last(p) && index.find(p.outputs.front().front())->type == BufferType::unpacker) last.push_back(&p);
  ASSERT_EQ(last.size(), 4u);
  std::swap(last[0]->outputs, last[1]->outputs);
  expect_caught();
}

TEST(Rows, ATableIsReadWhereItsRowsAreWanted) {
  std::string text = embedding(1);
  text.replace(text.find("target_device: 0"), 16, "target_device: 1");
  Built b(text, "n300");
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.diagnostics.front().code, "PP001");
  EXPECT_NE(b.problem.find("an embedding table on another chip"), std::string::npos) << b.problem;
}

TEST(Rows, LookedUp) {
  for (int cols : {1, 2}) {
    Built b(embedding(cols));
    ASSERT_TRUE(b.ok()) << b.problem;
    EXPECT_EQ(b.check(), "");
    const Buffer* table = b.buffer("table", BufferType::dram_io);
    EXPECT_TRUE(table->rows.embedding_table);
    EXPECT_EQ(table->size_tiles, 4 * 64);
    const Buffer* numbers = b.buffer("numbers", BufferType::dram_io);
    EXPECT_TRUE(numbers->rows.embedding_index);
    EXPECT_EQ(numbers->rows.indices_per_tile, 1024);
    EXPECT_EQ(numbers->rows.indices_per_input, 64);
    auto pipes = b.feeding(b.input("look", {0, cols - 1}, 0));
    ASSERT_EQ(pipes.size(), 1u);
    EXPECT_EQ(static_cast<int>(pipes.front()->inputs.size()) * pipes.front()->repeats(), 64 * 4 / cols);
    EXPECT_EQ(b.feeding(b.input("look", {0, 0}, 1)).front()->outputs.front().size(), static_cast<std::size_t>(cols))
        << "one row shares the numbers";
  }
}

}  // namespace
}  // namespace buda::pipes
