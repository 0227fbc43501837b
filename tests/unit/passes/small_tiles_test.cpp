// SPDX-License-Identifier: Apache-2.0
// Heights of tiles by what is read of them.
#include "harness.hpp"

#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/tile_rows.hpp>

namespace buda::passes {
namespace {

// A device graph with values of one tile along r; `model_rows` of the output are read.
struct Net {
  Graph g{"net", graph::Level::device};

  NodeId value(const std::string& name, const std::string& op, std::vector<Edge> inputs, std::int64_t rows = 32, std::int64_t cols = 64) {
    NodeId id = g.add(name, op, std::move(inputs));
    g.node(id).outputs = {{DType::f32, Shape{1, 1, rows, cols}, std::nullopt}};
    return id;
  }
  NodeId output(const std::string& name, Edge from, std::int64_t model_rows) {
    NodeId id = g.add(name, "output", {std::move(from)});
    g.node(id).attrs["model_shape"] = std::vector<std::int64_t>{model_rows, 64};
    return id;
  }

  // "x=4 y=4": the nodes with a tag.
  std::string heights(bool small_tiles = true) {
    device::DeviceDescriptor d = wormhole_like();
    d.features.small_tiles = small_tiles;
    io::MemoryFileSystem files;
    CollectingSink sink;
    Host host(files, sink);
    PassContext context(host);
    context.device = &d;
    EXPECT_TRUE(run_pass(kSmallTiles, g, context));
    std::string out;
    for (NodeId id : g.ids())
      if (auto tag = g.node(id).tags.find(graph::kTileRows); tag != g.node(id).tags.end())
        out += cat(out.empty() ? "" : " ", g.node(id).name(), '=', tag->second);
    return out;
  }
};

TEST(SmallTiles, RowsThatOutputsReadGoBackThroughOpsOnRows) {
  Net n;
  auto x = n.value("x", "input", {});
  auto w = n.value("w", "parameter", {}, 64);
  auto b = n.value("b", "parameter", {});
  auto h = n.value("h", "matmul", {x, w, b});
  n.g.node(h).attrs["bias"] = true;
  auto e = n.value("e", "exp", {h});
  n.output("y", n.value("s", "add", {e, h}), 3);
  EXPECT_EQ(n.heights(false), "");
  EXPECT_EQ(n.heights(), "x=4 h=4 e=4 s=4");
}

TEST(SmallTiles, TheLargestNeedOfAClassCounts) {
  Net n;
  auto x = n.value("x", "input", {});
  auto e = n.value("e", "exp", {x});
  n.output("few", e, 1);
  n.output("many", n.value("t", "tanh", {x}), 9);
  EXPECT_EQ(n.heights(), "x=16 e=16 t=16");
}

TEST(SmallTiles, ManyRowsStay) {
  Net n;
  n.output("y", n.value("e", "exp", {n.value("x", "input", {})}), 17);
  EXPECT_EQ(n.heights(), "");
  Net tall;
  tall.output("y", tall.value("e", "exp", {tall.value("x", "input", {}, 64)}, 64), 2);
  EXPECT_EQ(tall.heights(), "");
}

// What is read of a second factor are all its rows, whatever is read of the product.
TEST(SmallTiles, SecondFactorsAreWhole) {
  Net n;
  auto x = n.value("x", "input", {}, 32, 32);
  auto k = n.value("k", "exp", {n.value("z", "input", {})});
  n.output("y", n.value("p", "matmul", {x, k}), 1);
  EXPECT_EQ(n.heights(), "x=1 p=1");
}

TEST(SmallTiles, OtherOpsAndRowManipulationsKeepTheirClassWhole) {
  Net n;
  auto x = n.value("x", "input", {});
  auto r = n.value("r", "reduce", {x}, 32, 32);
  n.g.node(r).attrs["dim"] = std::string("c");
  n.output("y", n.value("e", "exp", {r}, 32, 32), 1);
  EXPECT_EQ(n.heights(), "");
}

TEST(SmallTiles, ATransposeReadsAllRows) {
  Net n;
  auto x = n.value("x", "input", {}, 32, 32);
  auto e = n.value("e", "exp", {x}, 32, 32);
  Edge turned(e);
  turned.tms = {Tm::transpose()};
  n.output("y", n.value("t", "nop", {turned}, 32, 32), 1);
  EXPECT_EQ(n.heights(), "");
}

TEST(SmallTiles, StateHasOneHeight) {
  Net n;
  auto s = n.value("s", "input", {});
  auto t = n.value("t", "exp", {n.value("x", "input", {})});
  n.output("next", t, 2);
  n.output("y", n.value("e", "exp", {s}), 8);
  n.g.node(s).tags[graph::kLoopback] = "next";
  EXPECT_EQ(n.heights(), "s=8 x=8 t=8 e=8");
}

}  // namespace
}  // namespace buda::passes
