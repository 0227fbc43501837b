// SPDX-License-Identifier: Apache-2.0
// Which pipes share a route.
#include <buda/pipes/interchip/assign_routes.hpp>

#include "unit/pipes/interchip/links.hpp"

namespace buda::pipes {
namespace {

// Groups as "first+count:routes", or the error's code.
std::string groups(const std::vector<InterChipPipe>& pipes, std::int32_t links) {
  const device::DeviceDescriptor chips = mesh_of(2);
  RouteAllocator routes(chips, parallel_links(links));
  auto assigned = assign_routes(pipes, routes, {}, chips);
  if (!assigned) return assigned.failure().diagnostics().front().code;
  std::string out;
  for (const RouteGroup& g : *assigned) out += cat(out.empty() ? "" : " ", g.first, '+', g.count, ':', g.routes.size());
  return out;
}

TEST(AssignRoutes, PipesOfAnEdgeShareWhereLinksAreFew) {
  const std::vector<InterChipPipe> edge = {pipe_between(0, 1, {{1}}), pipe_between(0, 2, {{2}}), pipe_between(0, 3, {{3}})};
  EXPECT_EQ(groups(edge, 1), "0+3:1");
  EXPECT_EQ(groups(edge, 2), "0+1:1 1+2:1");
  EXPECT_EQ(groups(edge, 5), "0+1:1 1+1:1 2+1:1");
}

TEST(AssignRoutes, EdgesDoNotShare) {
  const std::vector<InterChipPipe> edges = {pipe_between(0, 1, {{1}}), pipe_between(0, 2, {{2}}), pipe_between(1, 3, {{3}})};
  EXPECT_EQ(groups(edges, 1), "PP036");
  EXPECT_EQ(groups(edges, 2), "0+2:1 2+1:1") << "each edge has a route before one has two";
}

TEST(AssignRoutes, RowPiecesDoNotShare) {
  std::vector<InterChipPipe> edge = {pipe_between(0, 1, {{1}}), pipe_between(0, 2, {{2}})};
  for (InterChipPipe& p : edge) p.transfer.rows = Transfer::RowPieces{0, 8};
  EXPECT_EQ(groups(edge, 1), "PP036");
  EXPECT_EQ(groups(edge, 2), "0+1:1 1+1:1");
}

TEST(AssignRoutes, ReceiversGetRoutesOfTheirOwnFromWhatIsLeft) {
  const std::vector<InterChipPipe> edge = {pipe_between(0, 1, {{1}, {2}, {3}})};
  EXPECT_EQ(groups(edge, 3), "0+1:3");
  EXPECT_EQ(groups(edge, 2), "0+1:1") << "all of them or none";
  const std::vector<InterChipPipe> same = {pipe_between(0, 1, {{1}, {2}}), pipe_between(0, 2, {{1}, {2}})};
  EXPECT_EQ(groups(same, 8), "0+1:1 1+1:1") << "two pipes have rounds for the same receivers";
}

TEST(AssignRoutes, RoutesThatAreKnown) {
  const ChipRoute fixed = {{0, 3, 1, 3}};
  std::vector<InterChipPipe> pipes = {pipe_between(0, 1, {{1}}), pipe_between(1, 2, {{2}})};
  pipes[0].transfer.fixed_route = &fixed;
  pipes[1].transfer.to = 0;
  const device::DeviceDescriptor chips = mesh_of(2);
  RouteAllocator links(chips, parallel_links(1));
  auto assigned = assign_routes(pipes, links, {}, chips);
  ASSERT_TRUE(assigned.ok());
  EXPECT_EQ(assigned->front().routes.front(), fixed);
  EXPECT_TRUE(assigned->back().routes.front().empty()) << "from an ethernet core to a queue of its chip";
  EXPECT_EQ(*links.free_streams(0, 0), 1);
}

}  // namespace
}  // namespace buda::pipes
