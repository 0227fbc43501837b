// SPDX-License-Identifier: Apache-2.0
// The drawing of a placement: where its rectangles lie, and what they say.
#include <buda/balance/emit/placement_picture.hpp>

#include "unit/balance/fixture.hpp"

#include <cstdio>

namespace buda::balance {
namespace {

using ::testing::HasSubstr;

ReportOp placed_op(const std::string& name, GridCoord at, GridShape grid, std::int64_t cycles) {
  ReportOp op;
  op.name = op.node = name;
  op.type = "matmul";
  op.grid_loc = at;
  op.grid = grid;
  op.cycles = {cycles, {cycles / 2}, 1, cycles};
  return op;
}

PlacementReport report_of(std::vector<std::vector<ReportOp>> epochs, const std::string& device) {
  PlacementReport out;
  out.model = "net";
  out.device = device;
  for (auto& ops : epochs) {
    ReportEpoch epoch;
    epoch.graph = cat("fwd_0_", out.epochs.size());
    epoch.ops = std::move(ops);
    out.epochs.push_back(std::move(epoch));
  }
  return out;
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  bool overlaps(const Box& o) const { return x < o.x + o.width && o.x < x + width && y < o.y + o.height && o.y < y + height; }
};

// The rectangles whose tooltip begins with `title`. Of the others no number is read: a picture has thousands of them.
std::vector<Box> boxes_of(const std::string& svg, const std::string& title) {
  std::vector<Box> out;
  for (std::size_t at = svg.find("<rect x="); at != std::string::npos; at = svg.find("<rect x=", at + 1)) {
    const std::size_t end = svg.find('>', at);
    if (svg.compare(end + 1, title.size() + 7, "<title>" + title) != 0) continue;
    Box box;
    const char* format = "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"";
    if (std::sscanf(svg.substr(at, end - at).c_str(), format, &box.x, &box.y, &box.width, &box.height) == 4) out.push_back(box);
  }
  return out;
}

Box only_box(const std::string& svg, const std::string& title) {
  std::vector<Box> found = boxes_of(svg, title);
  EXPECT_EQ(found.size(), 1u) << title;
  return found.empty() ? Box{} : found.front();
}

TEST(PlacementPicture, RectanglesFollowGridAndPlace) {
  ReportOp turned = placed_op("turned", {4, 0}, {1, 3}, 50);
  turned.transposed = true;
  const std::string svg = placement_svg(
      report_of({{placed_op("one", {0, 0}, {1, 1}, 123456), placed_op("wide", {1, 2}, {2, 3}, 24691), turned}}, "n150"), board("n150"));
  const Box one = only_box(svg, "one:"), wide = only_box(svg, "wide:"), tall = only_box(svg, "turned:");
  // Two pixels of each rectangle are the gap to its neighbours.
  const double cell_x = one.width + 2, cell_y = one.height + 2;
  EXPECT_EQ(wide.x - one.x, 2 * cell_x);
  EXPECT_EQ(wide.y - one.y, cell_y);
  EXPECT_EQ(wide.width + 2, 3 * cell_x);
  EXPECT_EQ(wide.height + 2, 2 * cell_y);
  EXPECT_EQ(tall.width, one.width);
  EXPECT_EQ(tall.height + 2, 3 * cell_y);
  EXPECT_THAT(svg, HasSubstr(">2x3 20 %<"));
  EXPECT_THAT(svg, HasSubstr(">kernel 123k<"));
}

TEST(PlacementPicture, HarvestedRowsLieWhereTheChipHasThem) {
  device::DeviceDescriptor device = board("n150");
  const std::string last = placement_svg(report_of({{placed_op("a", {8, 0}, {1, 1}, 1)}}, "n150"), device);
  EXPECT_GT(only_box(last, "harvested row").y, only_box(last, "a:").y);
  // The second row of workers is gone: an op of two rows reaches over the strip.
  device.workers.y = {1, 3, 4};
  device.harvested_y = {2};
  const std::string svg =
      placement_svg(report_of({{placed_op("a", {0, 0}, {2, 1}, 1), placed_op("b", {0, 1}, {1, 1}, 1)}}, "n150"), device);
  const Box strip = only_box(svg, "harvested row"), over = only_box(svg, "a:"), above = only_box(svg, "b:");
  EXPECT_TRUE(strip.overlaps(over));
  EXPECT_FALSE(strip.overlaps(above));
  EXPECT_GT(over.height, 2 * above.height + strip.height);
}

TEST(PlacementPicture, AHundredEpochsAreARowOfPanelsBelowAnother) {
  const auto& device = board("e150");
  std::vector<std::vector<ReportOp>> epochs;
  for (int e = 0; e < 100; ++e) epochs.push_back({placed_op("op" + std::to_string(e), {0, 0}, device.grid(), 1 + e)});
  const std::string svg = placement_svg(report_of(std::move(epochs), "e150"), device);
  Box page;
  ASSERT_EQ(std::sscanf(svg.c_str() + svg.find("width="), "width=\"%lf\" height=\"%lf\"", &page.width, &page.height), 2);
  EXPECT_LE(page.width, 2000);
  std::vector<Box> all;
  for (int e = 0; e < 100; ++e) {
    const Box box = only_box(svg, "op" + std::to_string(e) + ":");
    EXPECT_LE(box.x + box.width, page.width);
    EXPECT_LE(box.y + box.height, page.height);
    for (const Box& other : all) EXPECT_FALSE(box.overlaps(other));
    all.push_back(box);
  }
  EXPECT_THAT(svg, HasSubstr(">epoch 99: fwd_0_99<"));
}

TEST(PlacementPicture, CountsTheQueuesOfAnOp) {
  auto balanced = balance_with(perceptron(64, {128, 256, 64}), "n150");
  ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
  const PlacementReport& report = balanced->report;
  const std::string svg = placement_svg(report, board("n150"));
  for (const ReportQueue& q : report.queues) {
    EXPECT_EQ(q.channels.size(), static_cast<std::size_t>(q.grid.volume()));
    EXPECT_THAT(svg, HasSubstr(cat(q.writer.empty() ? "\nreads " : "\nwrites ", q.name, ": ", q.role)));
  }
  for (const ReportOp& op : report.epochs[0].ops) EXPECT_EQ(boxes_of(svg, op.name + ":").size(), 1u);
}

TEST(PlacementPicture, NamesAreEscapedAndCut) {
  const std::string svg =
      placement_svg(report_of({{placed_op("a<b>&c_with_a_name_that_is_wider_than_its_core", {0, 0}, {1, 1}, 1)}}, "n150"), board("n150"));
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;b&gt;&amp;c_with_a_name_that_is_wider_than_its_core: matmul"));
  EXPECT_THAT(svg, HasSubstr(">…n_its_core<"));
}

}  // namespace
}  // namespace buda::balance
