// SPDX-License-Identifier: Apache-2.0
// Which of a netlist's programs comes first.
#include <buda/runtime/programs/program_order.hpp>

#include <buda/base/text.hpp>

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

using netlist::QueueKind;
using testing::ElementsAre;

struct Maker {
  netlist::Netlist netlist;

  void queue(const std::string& name, const std::string& writer, QueueKind kind = QueueKind::queue) {
    netlist::Queue q;
    q.name = name;
    q.input = writer;
    q.kind = kind;
    netlist.queues.push_back(q);
  }
  // A program `name` with a graph of one op, `name`, that reads these queues.
  void program(const std::string& name, const std::vector<std::string>& reads) {
    netlist::Graph g;
    g.name = cat("graph_", name);
    netlist::Op op;
    op.name = name;
    for (const auto& r : reads) op.inputs.emplace_back().name = r;
    g.ops.push_back(op);
    netlist.graphs.push_back(g);
    netlist::Program p;
    p.name = name;
    p.instructions.push_back({netlist::instruction::Execute{g.name, {}}, {}});
    netlist.programs.push_back(p);
  }
  std::vector<std::string> order() const {
    std::vector<std::string> out;
    for (const auto* p : program_order(netlist)) out.push_back(p->name);
    return out;
  }
};

TEST(ProgramOrder, FileOrderWhereNothingIsInTheWay) {
  Maker m;
  m.queue("q0", "HOST");
  m.queue("q1", "b");
  m.program("b", {"q0"});
  m.program("c", {"q1"});
  m.program("a", {"q1"});
  EXPECT_THAT(m.order(), ElementsAre("b", "c", "a"));
}

TEST(ProgramOrder, WhoFillsAQueueComesFirst) {
  Maker m;
  m.queue("from_a", "a");
  m.queue("from_b", "b");
  m.queue("from_c", "c");
  m.queue("from_e", "e");
  m.program("a", {"from_b"});
  m.program("b", {"from_c"});
  m.program("c", {});
  m.program("d", {"from_e"});
  m.program("e", {"from_a"});
  EXPECT_THAT(m.order(), ElementsAre("c", "b", "a", "e", "d"));
}

TEST(ProgramOrder, CyclesStayInFileOrder) {
  Maker m;
  m.queue("from_a", "a");
  m.queue("from_b", "b");
  m.queue("from_c", "c");
  m.program("a", {"from_b", "from_c"});
  m.program("b", {"from_a"});
  m.program("c", {});
  EXPECT_THAT(m.order(), ElementsAre("c", "a", "b"));
}

TEST(ProgramOrder, RamsOrderNothing) {
  Maker m;
  m.queue("weights", "optimizer", QueueKind::ram);
  m.program("forward", {"weights"});
  m.program("optimizer", {});
  EXPECT_THAT(m.order(), ElementsAre("forward", "optimizer"));
}

TEST(ProgramOrder, LongChains) {
  Maker m;
  constexpr int kPrograms = 20000;
  for (int i = 0; i < kPrograms; ++i) {
    m.queue(cat("q", i), cat("p", i));
    m.program(cat("p", i), i + 1 < kPrograms ? std::vector<std::string>{cat("q", i + 1)} : std::vector<std::string>{});
  }
  const auto order = m.order();
  EXPECT_EQ(order.front(), cat("p", kPrograms - 1));
  EXPECT_EQ(order.back(), "p0");
}

}  // namespace
}  // namespace buda::runtime::test
