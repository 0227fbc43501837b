// SPDX-License-Identifier: Apache-2.0
// Netlists of merged models: names, and queues that become dynamic.
#include <buda/image/merge_netlist.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace buda::image {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// x -> first -> mid -> second -> out, in two epochs of one program.
std::string text() {
  const std::string queue =
      "entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], df: Float16_b, target_device: 0, loc: dram, dram: ";
  const std::string op =
      "grid_loc: [0, 0], grid_size: [1, 1], in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, "
      "math_fidelity: "
      "HiFi3, t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2";
  return "devices: {arch: wormhole_b0}\nqueues:\n"
         "  x: {type: queue, input: HOST, " +
         queue +
         "[[0, 0x20000000]]}\n"
         "  mid: {type: queue, input: first, " +
         queue +
         "[[1, 0x20000000]]}\n"
         "  out: {type: queue, input: second, " +
         queue +
         "[[2, 0x20000000]]}\n"
         "graphs:\n"
         "  g0:\n    target_device: 0\n    input_count: 1\n    first: {type: nop, inputs: [x], " +
         op +
         "}\n"
         "  g1:\n    target_device: 0\n    input_count: 1\n    second: {type: nop, inputs: [mid], " +
         op +
         "}\n"
         "programs:\n  - run:\n    - param: [$p_loop_count]\n    - staticvar: {$lx: 0, $gx: 0, $lm: 0, $gm: 0}\n    - loop: $p_loop_count\n"
         "    - execute: {graph_name: g0, queue_settings: {x: {rd_ptr_local: $lx, rd_ptr_global: $gx}}}\n"
         "    - varinst: [$lx, incwrap, 1, 8]\n    - varinst: [$gx, incwrap, 1, 8]\n"
         "    - execute: {graph_name: g1, queue_settings: {mid: {rd_ptr_local: $lm, rd_ptr_global: $gm}}}\n"
         "    - varinst: [$lm, incwrap, 1, 8]\n    - varinst: [$gm, incwrap, 1, 8]\n    - endloop\n";
}

netlist::Netlist parsed(const std::string& text) {
  auto n = netlist::parse_netlist(text, "n.yaml");
  if (!n) ADD_FAILURE() << n.failure().diagnostics().front().message;
  return n ? std::move(*n) : netlist::Netlist{};
}

TEST(MergeNetlist, QueuesBetweenGraphsOfAProgramBecomeDynamic) {
  netlist::Netlist n = parsed(text());
  make_dynamic(n, {"x", "out"});
  EXPECT_THAT(dynamic_queues(n), ElementsAre("mid"));
  const std::string written = netlist::write_netlist(n);
  EXPECT_THAT(written, HasSubstr("- staticvar: [$lx, $gx]"));
  EXPECT_THAT(written, HasSubstr("- var: [$lm, $gm]"));
  EXPECT_LT(written.find("allocate_queue"), written.find("loop:"));
  EXPECT_LT(written.find("endloop"), written.find("deallocate_queue"));
  netlist::Netlist again = parsed(written);
  make_dynamic(again, {"x", "out"});
  EXPECT_EQ(again, parsed(written)) << "once is enough";
}

// Each of these keeps data, or a pointer, from run to run.
TEST(MergeNetlist, OtherQueuesStayStatic) {
  auto dynamic = [](const std::string& from, const std::string& to, std::set<std::string> kept = {"x", "out"}) {
    const std::string changed = replaced(text(), from, to);
    if (!from.empty()) EXPECT_NE(changed, text()) << from;
    netlist::Netlist n = parsed(changed);
    const netlist::Netlist before = n;
    make_dynamic(n, kept);
    EXPECT_EQ(dynamic_queues(n).empty(), n == before);
    return dynamic_queues(n);
  };
  EXPECT_THAT(dynamic("", "", {"x", "mid", "out"}), IsEmpty()) << "the host uses it";
  EXPECT_THAT(dynamic("mid: {type: queue", "mid: {type: ram"), IsEmpty());
  EXPECT_THAT(dynamic("mid: {rd_ptr_local: $lm, rd_ptr_global: $gm}", "mid: {rd_ptr_local: $lx, rd_ptr_global: $gm}"), IsEmpty())
      << "a pointer is that of x, too";
  EXPECT_THAT(dynamic("varinst: [$lx, incwrap, 1, 8]", "varinst: [$lx, incwrap, $lm, 8]"), IsEmpty()) << "x is moved by its pointer";
  EXPECT_THAT(dynamic("mid: {rd_ptr_local: $lm, rd_ptr_global: $gm}", "mid: {rd_ptr_local: $lm, rd_ptr_global: 0}"), IsEmpty());
  EXPECT_THAT(dynamic("- endloop\n", "- endloop\n  - more:\n    - execute: {graph_name: g1, queue_settings: {mid: {}}}\n"), IsEmpty())
      << "a second program reads it";
  // Read before it is written: what the run before has left.
  std::string swapped = replaced(replaced(replaced(text(), "graph_name: g0", "graph_name: gX"), "graph_name: g1", "graph_name: g0"),
                                 "graph_name: gX", "graph_name: g1");
  swapped = replaced(replaced(replaced(swapped, "{x: {rd_ptr_local: $lx, rd_ptr_global: $gx}}", "{A}"),
                              "{mid: {rd_ptr_local: $lm, rd_ptr_global: $gm}}", "{x: {rd_ptr_local: $lx, rd_ptr_global: $gx}}"),
                     "{A}", "{mid: {rd_ptr_local: $lm, rd_ptr_global: $gm}}");
  netlist::Netlist n = parsed(swapped);
  make_dynamic(n, {"x", "out"});
  EXPECT_THAT(dynamic_queues(n), IsEmpty());
}

TEST(MergeNetlist, EveryNameGetsThePrefix) {
  netlist::Netlist n = parsed(text());
  make_dynamic(n, {"x", "out"});
  const netlist::Netlist plain = n;
  rename_parts(n, "model_0_", 0);
  const std::string written = netlist::write_netlist(n);
  for (const char* name : {"x", "mid", "out", "g0", "g1", "first", "second"})
    EXPECT_THAT(written, HasSubstr(std::string("model_0_") + name));
  EXPECT_THAT(written, HasSubstr("input: HOST"));
  // Without the prefix it is what it was: nothing was forgotten, nothing was renamed twice.
  EXPECT_EQ(replaced(written, "model_0_", ""), netlist::write_netlist(plain));
  EXPECT_EQ(parsed(written), n);
  netlist::Netlist second = parsed(text());
  rename_parts(second, "model_1_", 0);
  const netlist::Netlist both = joined({n, second});
  EXPECT_EQ(both.queues.size(), 6u);
  EXPECT_EQ(parsed(netlist::write_netlist(both)), both);
}

}  // namespace
}  // namespace buda::image
