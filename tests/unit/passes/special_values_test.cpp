// SPDX-License-Identifier: Apache-2.0
// special-values: which selections among inputs go to the host, and which constants are noticed.
#include "values.hpp"

#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>

#include <gmock/gmock.h>

#include <functional>
#include <limits>

namespace buda::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct SpecialSelections : testing::Test, Bench {
  std::string moved(const std::function<void(Builder&)>& build) {
    Builder b("g");
    build(b);
    Graph graph = finished(b);
    run(kSpecialValues, graph);
    std::vector<std::string> names;
    for (NodeId id : graph.topological_order())
      if (graph.node(id).is_op() && graph::on_host(graph.node(id))) names.push_back(graph.node(id).name());
    return join(names, " ");
  }

  std::string told() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : sink.diagnostics()) out.push_back(cat(d.code, ": ", d.message));
    return join(out, "\n");
  }
};

TEST_F(SpecialSelections, OfInputsGoToTheHostWithWhatTheyAreMadeOf) {
  EXPECT_EQ(moved([](Builder& b) {
              auto x = b.input("x", {4, 40}), y = b.input("y", {40});
              auto c = called(b, "c", b.op("greater", {x, y}));
              auto chosen = called(b, "chosen", b.op("where", {c, x, y}));
              auto moved = called(b, "moved", b.op("reshape", {chosen}, {{"shape", std::vector<std::int64_t>{160}}}));
              auto most = called(b, "most", b.maximum(moved, b.constant(0.5f)));
              b.output("z", called(b, "e", b.exp(most)));
            }),
            "c chosen moved most");
  EXPECT_THAT(told(), HasSubstr("PA092: 'c' (greater) and 2 more run on the host"));
  EXPECT_THAT(sink.diagnostics().front().hint, HasSubstr("--value-range y=-1000:1000 keeps them on the device"));
}

TEST_F(SpecialSelections, OfWhatTheDeviceComputesStay) {
  EXPECT_EQ(moved([](Builder& b) {
              auto x = b.input("x", {4, 40});
              auto e = b.exp(x);
              b.output("y", b.maximum(e, b.constant(0.5f)));
              b.output("z", b.op("where", {b.input("c", {4, 40}, DType::boolean), e, b.constant(-std::numeric_limits<float>::infinity())}));
              b.output("w", b.maximum(x, e));
            }),
            "");
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(SpecialSelections, OfLongAxesStay) {
  const auto search = [](std::int64_t size) {
    return [size](Builder& b) { b.output("y", called(b, "place", b.op("argmax", {b.input("x", {1, size})}))); };
  };
  EXPECT_EQ(moved(search(4096)), "place");
  EXPECT_EQ(moved(search(4097)), "");
}

TEST_F(SpecialSelections, WithoutFallbackNothingMoves) {
  context.fallback.enabled = false;
  EXPECT_EQ(moved([](Builder& b) { b.output("y", b.maximum(b.input("x", {40}), b.constant(0.5f))); }), "");
}

TEST_F(SpecialSelections, ConstantsWithNaNAreNoticed) {
  EXPECT_EQ(moved([](Builder& b) {
              auto e = called(b, "e", b.exp(b.input("x", {3})));
              b.output("y", called(b, "sum", b.add(e, called(b, "none", b.constant(f32({3}, {1, kNaN, 2}))))));
            }),
            "");
  EXPECT_THAT(told(), HasSubstr("holds NaN, of which the device makes an infinity at 'sum' (add)"));
}

}  // namespace
}  // namespace buda::passes
