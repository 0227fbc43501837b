// SPDX-License-Identifier: Apache-2.0
// docs/ops has a page for each op type. With BUDA_UPDATE_DOCS=1 in the environment the pages are written anew.
#include "op_docs.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/ops/table/device_op.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace buda::netlist {
namespace {

class OpDocs : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    source_ = source;
  }
  std::string text(const std::string& path) {
    auto bytes = fs_->read(source_ + path);
    EXPECT_TRUE(bytes.ok()) << path;
    return bytes.ok() ? std::string(bytes->view()) : std::string();
  }
  // The page, or its new text.
  void expect_page(const std::string& name, const std::string& wanted) {
    const std::string path = cat("/docs/ops/", name, ".md");
    if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
      ASSERT_TRUE(fs_->make_directories(source_ + "/docs/ops").ok());
      ASSERT_TRUE(fs_->write(source_ + path, wanted).ok());
    }
    EXPECT_EQ(text(path), wanted) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.op_pages`";
  }
  std::string source_;
  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
};

// "-2.0"
std::string with_point(double value) {
  const std::string text = cat(value);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

// The example of an SFPU op, which differs from that of any other in the type, its attributes and the range of its input.
std::string sfpu_example(const ops::DeviceOp& op) {
  std::vector<std::string> attributes;
  for (const ops::OwnAttribute& own : op.attributes) attributes.push_back(cat(own.key, ": ", own.sample));
  const std::string more = attributes.empty() ? "" : cat(",\n      attributes: {", join(attributes, ", "), "}");
  return cat("# buda.netlist/1\n# ", op.meaning, R"(
devices:
  arch: wormhole_b0

queues:
  a:   {input: HOST, type: queue, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x10000000]]}
  out: {input: op, type: queue, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2], ublock_order: r, df: Float16_b, target_device: 0, loc: host, host: [0x0]}

graphs:
  fwd:
    target_device: 0
    input_count: 2
    op: {type: )",
             op.name, R"(, grid_loc: [0, 0], grid_size: [1, 1], inputs: [a],
      t: 1, mblock: [1, 2], ublock: [2, 2], ublock_order: r, buf_size_mb: 2, in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3)",
             more, R"(}

programs:
  - run:
      - param: [$p_loops]
      - var: {$c_inputs: 2, $c_wrap: 8, $c_zero: 0}
      - staticvar: [$read, $pop]
      - loop: $p_loops
      - execute: {graph_name: fwd, queue_settings: {
            a: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $read, rd_ptr_global: $pop}}}
      - varinst: [$read, incwrap, $c_inputs, $c_wrap]
      - varinst: [$pop, incwrap, $c_inputs, $c_wrap]
      - endloop

test-config:
  io-config: {inputs: [a], outputs: [out]}
  stimulus-config: {type: Uniform, uniform_lower_bound: )",
             with_point(op.sample_min), ", uniform_upper_bound: ", with_point(op.sample_max), R"(}
  comparison-config: {type: AllCloseHw, atol: 0.05, rtol: 0.15, check_pct: 0.95, check_pcc: 0.99}
)");
}

TEST_F(OpDocs, ExamplesOfSfpuOpsAreAlike) {
  for (const ops::DeviceOp& op : ops::device_ops()) {
    if (op.op_class != OpClass::sfpu) continue;
    const std::string path = cat("/share/examples/netlists/", op.name, ".yaml");
    if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
      ASSERT_TRUE(fs_->write(source_ + path, sfpu_example(op)).ok());
    }
    EXPECT_EQ(text(path), sfpu_example(op)) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.op_pages`";
  }
}

TEST_F(OpDocs, CoverEveryTypeOnce) {
  ASSERT_EQ(all_op_docs().size(), all_op_types().size());
  for (std::size_t i = 0; i < all_op_types().size(); ++i) EXPECT_EQ(all_op_docs()[i].type, all_op_types()[i].type);
}

TEST_F(OpDocs, NameRulesThatExist) {
  for (const OpDoc& doc : all_op_docs())
    for (auto code : doc.rules)
      EXPECT_TRUE(std::any_of(netlist_rules().begin(), netlist_rules().end(), [&](const Rule& r) { return r.code == code; }))
          << op_type_name(doc.type) << ' ' << code;
}

TEST_F(OpDocs, HaveExamplesWithSuchAnOp) {
  for (const OpDoc& doc : all_op_docs()) {
    std::vector<std::string_view> names = doc.more_examples;
    names.push_back(doc.example);
    for (auto name : names) {
      auto netlist = parse_netlist(text(cat("/share/examples/netlists/", name, ".yaml")), cat(name, ".yaml"));
      ASSERT_TRUE(netlist.ok()) << name;
      bool found = false;
      for (const Graph& g : netlist->graphs)
        for (const Op& op : g.ops) found = found || op.type == doc.type;
      EXPECT_TRUE(found) << name;
    }
  }
}

TEST_F(OpDocs, AreThePagesOfTheDocumentation) {
  std::string index =
      "# Op types of netlists\n\nWritten by `unit_op_pages` (tests/unit/op_pages) from `core/buda/ops/table/device_ops.def`, its own "
      "`op_docs.cpp`, and `model/op_attributes.cpp` and `check/rules.cpp` of `core/buda/netlist`, like the pages themselves; do not "
      "edit.\n\n| type | output |\n|---|---|\n";
  for (const OpDoc& doc : all_op_docs()) {
    const std::string name(op_type_name(doc.type));
    index += cat("| [", name, "](", name, ".md) | ", ops::device_op(doc.type).meaning, " |\n");
    expect_page(name, op_page(doc, text(cat("/share/examples/netlists/", doc.example, ".yaml"))));
  }
  expect_page("README", index);
}

}  // namespace
}  // namespace buda::netlist
