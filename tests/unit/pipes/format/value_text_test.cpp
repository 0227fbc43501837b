// SPDX-License-Identifier: Apache-2.0
// Values of pipegen files as text, and the consistency of the graph that they make.
#include <buda/pipes/format/consistency.hpp>
#include <buda/pipes/format/value_text.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace buda::pipes {
namespace {

using ::testing::ElementsAre;

template <class T>
T value_of(std::string_view text) {
  T out{};
  const Expectation expected = parse_value(text, out);
  EXPECT_FALSE(expected.has_value()) << text << ": expected " << expected.value_or("");
  return out;
}

template <class T>
std::string expectation_of(std::string_view text) {
  T out{};
  return parse_value(text, out).value_or("nothing else");
}

TEST(ValueText, Integers) {
  EXPECT_EQ(value_of<std::int32_t>("-5"), -5);
  EXPECT_EQ(value_of<Id>("0xFf"), 255u);
  EXPECT_EQ(expectation_of<std::int32_t>("2147483648"), "an integer from -2147483648 to 2147483647");
  EXPECT_EQ(expectation_of<Id>("-1"), "an integer from 0 to 18446744073709551615");
  EXPECT_NE(expectation_of<std::int64_t>("0x"), "nothing else");
  EXPECT_NE(expectation_of<std::int64_t>("1 "), "nothing else");
  EXPECT_TRUE(value_of<bool>("1"));
  EXPECT_EQ(expectation_of<bool>("true"), "0 or 1");
}

TEST(ValueText, Lists) {
  EXPECT_THAT(value_of<std::vector<Id>>("[ 1, 0x2 ,3]"), ElementsAre(1, 2, 3));
  EXPECT_TRUE(value_of<std::vector<Id>>("[]").empty());
  EXPECT_THAT(value_of<std::vector<std::vector<Id>>>("[1, 2]"), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(value_of<std::vector<std::vector<Id>>>("[[1], [2, 3]]"), ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  EXPECT_THAT(value_of<std::vector<CoreCoord>>("[0, 1, 2]"), ElementsAre(CoreCoord{0, {1, 2}}));
  EXPECT_THAT(value_of<std::vector<CoreCoord>>("[[0, 1, 2], [1, 3, 4]]"), ElementsAre(CoreCoord{0, {1, 2}}, CoreCoord{1, {3, 4}}));
  for (const char* text : {"", "1", "[1", "[1]]", "[1, x]", "[1,, 2]"})
    EXPECT_EQ(expectation_of<std::vector<std::int32_t>>(text), "a list [a, b, …] of integers from -2147483648 to 2147483647") << text;
  EXPECT_NE(expectation_of<std::vector<CoreCoord>>("[0, 1]"), "nothing else");
}

TEST(ValueText, Names) {
  EXPECT_EQ(value_of<BufferType>("ethernet_relay"), BufferType::ethernet_relay);
  EXPECT_THAT(expectation_of<BufferType>("queue"), ::testing::HasSubstr("unpacker"));
  EXPECT_EQ(value_of<PrefetchType>("-1"), PrefetchType::none);
  EXPECT_EQ(expectation_of<PrefetchType>("2"), "-1, 0 or 1");
}

// Codes of all errors of a graph.
std::vector<std::string> codes_of(const PipeGraph& graph) {
  PlacedGraph placed{graph, std::vector<FilePlace>(graph.buffers.size(), {2, 1}), std::vector<FilePlace>(graph.pipes.size(), {7, 1})};
  FileErrors errors("pipegen.yaml");
  check_consistency(placed, errors);
  std::vector<std::string> out;
  const Failure failure = errors.take();
  for (const Diagnostic& d : failure.diagnostics()) out.push_back(d.code);
  return out;
}

PipeGraph two_buffers() {
  PipeGraph g;
  g.buffers.resize(2);
  g.buffers[0].id = kFirstId;
  g.buffers[1].id = kFirstId + kIdStep;
  Pipe& p = g.pipes.emplace_back();
  p.id = 7;
  p.inputs = {kFirstId};
  p.outputs = {{kFirstId + kIdStep}};
  p.mcast_core.resize(1);
  return g;
}

TEST(Consistency, OfBuffersAndPipes) {
  EXPECT_TRUE(codes_of(two_buffers()).empty());
  EXPECT_THAT(codes_of({}), ElementsAre("PG002"));
  PipeGraph g = two_buffers();
  g.buffers[0].size_tiles = -1;
  EXPECT_THAT(codes_of(g), ElementsAre("PG008"));
  g = two_buffers();
  g.buffers.push_back(g.buffers[0]);
  g.pipes.push_back(g.pipes[0]);
  EXPECT_THAT(codes_of(g), ElementsAre("PG009", "PG009"));
  g = two_buffers();
  g.pipes[0].inputs = {kFirstId + 1};
  g.pipes[0].mcast_core.clear();
  EXPECT_THAT(codes_of(g), ElementsAre("PG010", "PG010"));
}

TEST(FileErrors, KeepsTheFirstTwenty) {
  FileErrors errors("pipegen.yaml");
  for (int i = 0; i < 30; ++i) errors.add("PG001", {1, 1}, "wrong");
  EXPECT_TRUE(errors.full());
  EXPECT_EQ(errors.take().diagnostics().size(), 20u);
}

}  // namespace
}  // namespace buda::pipes
