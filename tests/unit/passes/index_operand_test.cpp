// SPDX-License-Identifier: Apache-2.0
// Indices: which integers an op takes, which inputs get their range, and what is told of computed ones.
#include "values.hpp"

#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/passes/integers/index_operand.hpp>

#include <gmock/gmock.h>

namespace buda::passes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Move = ValueRef (*)(Builder&, ValueRef);

ValueRef as_it_is(Builder&, ValueRef i) { return i; }
ValueRef turned(Builder& b, ValueRef i) {
  return b.op("reshape", {b.op("transpose", {i}, {{"perm", std::vector<std::int64_t>{1, 0}}})},
              {{"shape", std::vector<std::int64_t>{3, 2}}});
}
ValueRef first_of_two(Builder& b, ValueRef i) {
  const auto both = b.op("concatenate", {i, i}, {{"dim", std::int64_t{0}}});
  return b.slice(both, 0, 0, 3);
}

struct Indices : testing::Test, Bench {
  // Rows of a table of 7 that an input of [3, 2] names.
  Graph rows(Move move, const std::string& promise = {}) {
    Builder b("g");
    const ValueRef x = b.input("x", Shape{7, 5}, DType::f32), i = b.input("i", Shape{3, 2}, DType::i64);
    if (!promise.empty()) b.node(i).tags[kValueRange] = promise;
    b.output("y", called(b, "rows", b.op("gather", {x, move(b, i)}, {{"dim", std::int64_t{0}}})));
    return finished(b);
  }
  static std::string range(const Graph& graph) {
    const Node& i = graph.node(graph.find("i"));
    return cat(graph::value_range_of(i), " ", graph::index_reader_of(i));
  }
  std::string told() const {
    std::string out;
    for (const Diagnostic& d : sink.diagnostics()) out += cat(d.code, ": ", d.message, '\n');
    return out;
  }
};

TEST_F(Indices, AreBoundedWhereTheyComeFromAnInput) {
  for (Move move : {as_it_is, turned}) {
    Graph graph = rows(move);
    run(kExactIntegers, graph);
    EXPECT_EQ(range(graph), "-7:6 rows");
    EXPECT_THAT(told(), IsEmpty());
  }
}

TEST_F(Indices, APromiseMayBeNarrower) {
  Graph graph = rows(as_it_is, "0:6");
  run(kExactIntegers, graph);
  EXPECT_EQ(range(graph), "0:6 ");
}

TEST_F(Indices, AWiderPromiseIsCut) {
  Graph graph = rows(as_it_is, "0:9");
  run(kExactIntegers, graph);
  EXPECT_EQ(range(graph), "0:6 rows");
}

TEST_F(Indices, APromiseOfNoLegalIndexIsAnError) {
  Graph graph = rows(as_it_is, "7:9");
  const auto done = bound_indices(graph);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.failure().diagnostics()[0].code, "PA081");
  EXPECT_THAT(done.failure().diagnostics()[0].message,
              HasSubstr("takes integers from -7 to 6 as indices, and all of 'i' are promised to be from 7 to 9"));
}

TEST_F(Indices, WhatPassesElementsOnInPartBoundsNothing) {
  Graph graph = rows(first_of_two);
  run(kExactIntegers, graph);
  EXPECT_EQ(range(graph), " ");
  EXPECT_THAT(told(), HasSubstr("PA082: 'rows' (gather) takes indices from -7 to 6, and "));
}

TEST_F(Indices, AStateIsNotTheUsers) {
  Graph graph = rows(as_it_is);
  graph.node(graph.find("i")).tags[graph::kLoopback] = "y";
  ASSERT_TRUE(bound_indices(graph));
  EXPECT_EQ(range(graph), " ");
}

TEST_F(Indices, ConstantsAreLegal) {
  Builder b("g");
  const ValueRef x = b.input("x", Shape{7, 5}, DType::f32);
  b.output("y", called(b, "rows",
                       b.op("gather", {x, b.constant(Tensor(Shape{2}, std::vector<std::int64_t>{3, 7}))}, {{"dim", std::int64_t{0}}})));
  Graph graph = finished(b);
  const auto done = bound_indices(graph);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.failure().diagnostics()[0].message, HasSubstr("index 7 lies outside [-7, 6]"));
}

TEST_F(Indices, OfDifferentSizesAreLegalForAll) {
  Builder b("g");
  const ValueRef x = b.input("x", Shape{7, 5}, DType::f32), i = b.input("i", Shape{4, 2}, DType::i64);
  const ValueRef y = b.op("gather_nd", {x, i});
  b.output("y", y);
  Graph graph = finished(b);
  const auto operand = index_operand(graph, graph.node(y.node));
  ASSERT_TRUE(operand);
  EXPECT_EQ(operand->legal, (IntegerRange{-5, 4}));
  EXPECT_EQ(operand->widest, (IntegerRange{-7, 6}));
  ASSERT_TRUE(bound_indices(graph));
  EXPECT_EQ(graph::value_range_of(graph.node(i.node)), "-7:6");
}

TEST_F(Indices, JoinsOfJoinsAreLookedAtOnce) {
  Builder b("g");
  const ValueRef x = b.input("x", Shape{7, 5}, DType::f32), i = b.input("i", Shape{1, 1}, DType::i64);
  ValueRef all = i;
  for (int join = 0; join < 20; ++join) all = b.op("concatenate", {all, all}, {{"dim", std::int64_t{0}}});
  b.output("y", b.op("gather", {x, all}, {{"dim", std::int64_t{0}}}));
  Graph graph = finished(b);
  ASSERT_TRUE(bound_indices(graph));
  EXPECT_EQ(graph::value_range_of(graph.node(i.node)), "-7:6");
}

TEST_F(Indices, LengthsAreBounded) {
  Builder b("g");
  const ValueRef x = b.input("x", Shape{7, 2, 5}, DType::f32), i = b.input("i", Shape{2}, DType::i64);
  b.output("y", b.op("reverse_sequence", {x, i}, {{"batch_dim", std::int64_t{1}}, {"time_dim", std::int64_t{0}}}));
  Graph graph = finished(b);
  ASSERT_TRUE(bound_indices(graph));
  EXPECT_EQ(graph::value_range_of(graph.node(i.node)), "0:7");
}

}  // namespace
}  // namespace buda::passes
