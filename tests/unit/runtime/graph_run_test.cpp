// Graphs without a chip.
#include <buda/io/memory_file_system.hpp>
#include <buda/ops/builder.hpp>
#include <buda/runtime/graph_run.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::runtime {
namespace {

class GraphRunTest : public testing::Test {
 protected:
  GraphRunTest() : host_(files_, sink_) {}
  io::MemoryFileSystem files_;
  CollectingSink sink_;
  Host host_;
};

TEST_F(GraphRunTest, BatchesAsAnImageDoes) {
  ops::Builder b("m");
  auto x = b.input("x", {2, 3});
  auto w = b.parameter("w", Tensor(Shape{3, 1}, std::vector<float>{1, 10, 100}));
  b.output("y", b.matmul(x, w));
  auto graph = b.finish();
  ASSERT_TRUE(graph) << graph.failure().diagnostics().front().message;
  auto one = run_graph(*graph, {{"x", Tensor(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})}}, host_);
  ASSERT_TRUE(one) << one.failure().diagnostics().front().message;
  EXPECT_EQ(one->outputs.at("y"), Tensor(Shape{2, 1}, std::vector<float>{321, 654}));
  EXPECT_EQ(one->batches.rows, 0);
  auto three = run_graph(*graph, {{"x", Tensor(Shape{3, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9})}}, host_);
  ASSERT_TRUE(three);
  EXPECT_EQ(three->outputs.at("y"), Tensor(Shape{3, 1}, std::vector<float>{321, 654, 987}));
  EXPECT_EQ(three->batches.count, 2);
  auto wrong = run_graph(*graph, {{"x", Tensor(Shape{2, 2}, std::vector<float>(4))}}, host_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().diagnostics().front().code, "RT021");
}

}  // namespace
}  // namespace buda::runtime
