// SPDX-License-Identifier: Apache-2.0
// Reading netlists: every field arrives, and what is wrong is said with its place.
#include <buda/netlist/text/parse.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;
using samples::replaced;
using ::testing::HasSubstr;

TEST(ParseNetlist, Queues) {
  Netlist n = parsed(kSmall);
  ASSERT_EQ(n.queues.size(), 3u);
  const Queue& a = n.queues[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.kind, QueueKind::queue);
  EXPECT_TRUE(a.from_outside());
  EXPECT_EQ(a.entries, 4);
  EXPECT_EQ(a.block.mblock_n, 2);
  EXPECT_EQ(a.format, DataFormat::float16_b);
  EXPECT_EQ(a.buffers, (std::vector<BufferAddress>{{0, 0x10000000}}));
  EXPECT_EQ(a.shape(), (TileShape{1, 2, 4}));
  EXPECT_EQ(a.ublock_order, UblockOrder::r);
  EXPECT_EQ(n.queues[1].kind, QueueKind::ram);
  EXPECT_FALSE(n.queues[2].from_outside());
  EXPECT_EQ(n.queues[2].location, QueueLocation::host);
  EXPECT_EQ(n.queues[2].buffers, (std::vector<BufferAddress>{{0, 0}}));
  EXPECT_EQ(n.loc(a.places.of(Field::entries)), (SourceLoc{"net.yaml", 4, 42}));
}

TEST(ParseNetlist, RareQueueFields) {
  std::string text = replaced(kSmall, "loc: host, host: [0x0]",
                              "loc: host, host: [[2, 64]], input_tms: [hslice: 2, vstack: 2], tile_dim: [16, 32], layout: flat, alias: w, "
                              "read_ports: [1], write_ports: [0], ublock_order: c");
  const Queue q = parsed(text).queues[2];
  EXPECT_EQ(q.buffers, (std::vector<BufferAddress>{{2, 64}}));
  EXPECT_EQ(q.input_tms, (std::vector<Tm>{Tm::hslice(2), Tm::vstack(2)}));
  EXPECT_EQ(q.tile_dim, (TileDim{16, 32}));
  EXPECT_EQ(q.layout, QueueLayout::flat);
  EXPECT_EQ(q.alias, "w");
  EXPECT_EQ(q.read_ports, std::vector<std::int32_t>{1});
  EXPECT_EQ(q.write_ports, std::vector<std::int32_t>{0});
  EXPECT_EQ(q.ublock_order, UblockOrder::c);
}

TEST(ParseNetlist, Ops) {
  Netlist n = parsed(kSmall);
  ASSERT_EQ(n.graphs.size(), 1u);
  EXPECT_EQ(n.graphs[0].input_count, 2);
  ASSERT_EQ(n.graphs[0].ops.size(), 2u);
  const Op& mm = n.graphs[0].ops[0];
  EXPECT_EQ(mm.type, OpType::matmul);
  ASSERT_EQ(mm.inputs.size(), 2u);
  EXPECT_EQ(mm.inputs[1].name, "w");
  EXPECT_EQ(mm.inputs[1].format, DataFormat::bfp8_b);
  EXPECT_EQ(mm.inner_tiles(), 4);
  EXPECT_EQ(mm.fidelity, MathFidelity::hifi3);
  EXPECT_EQ(mm.buf_size_mb, 2);
  EXPECT_EQ(mm.single_buffer_mblocks(), 1);
  EXPECT_EQ(n.graphs[0].ops[1].grid_loc, (GridCoord{0, 1}));
}

// Every rarely used key and attribute of ops, read from one op; the op makes no sense.
TEST(ParseNetlist, RareOpFields) {
  std::string op =
      "x: {attributes: {kernel_broadcast: {input_0: 8}, kernel_broadcast_per_t: {input_1: 4}, single_tile: [2], bias: true, accumulate: "
      "true, "
      "z: 3, l1_acc: true, min_buffer_input: 1, sfpu_op: gelu, relu_mode: max, relu_en: true, relu_threshold: 1.5, requant: true, dequant: "
      "true, "
      "zero_point: -3, vector: c, approximate_mode: true, sfpu_execution_thread: pack, dim: r, type: max, p: 0.5, seed: 7, slope: 0.2, "
      "exp: -2, "
      "granularity: t, input0: [1, 2, 3], identity: true, num_index_tiles: 1, num_sparse_tiles: 2, num_columns: 3, sparse_tile_ptr_bits: "
      "4, "
      "sparse_ublock_idx_bits: 5, indices_len: 6, fracture_factor: 7, starting_row: 8, act_t: 9, num_nz_strips: [10], num_indices: 32, k: "
      "11, "
      "sort: argmax, kreduce: true, ingress_channels: [0], egress_channels: [1, 2], dest_device: 3, stoch_rnd_mode: all, fused_op_id: 12}, "
      "math_fidelity: HiFi2_A, type: matmul, grid_loc: [3, 4], grid_size: [1, 2], grid_transpose: true, inputs: [a, a, w], in_df: "
      "[Float16_b, "
      "Float16_b, Bfp8_b], acc_df: Float32, out_df: Float16, intermed_df: Lf8, ublock_order: c, buf_size_mb: 6, t: 3, mblock: [4, 5], "
      "ublock: "
      "[6, 7], tile_dim: [8, 32], untilize_output: true, gradient_op: true, overlay_size: 70000, input_buf_min_size_tiles: [1, 0, 2], "
      "input_dram_io_buf_size_tiles: [0, 3, 0], forked_dram_inputs: [{a: e}], input_0_tms: [broadcast: {r: 2}, transpose, pad: [1, 2, "
      "-.inf]], "
      "input_1_tms: [tile_broadcast: c, hstack: 2, vslice: 3], input_2_unpad: {rt: 1, ct: 2}, input_2_pad: {rt: 3, ct: 4, pad_value: "
      "+.inf}}\n";
  Netlist n = parsed(replaced(kSmall, "    e: {", "    " + op + "    e: {"));
  const Op& x = n.graphs[0].ops[1];
  const OpAttributes& a = x.attributes;
  EXPECT_EQ(x.inputs[0].kernel_broadcast, (KernelBroadcast{8, false}));
  EXPECT_EQ(x.inputs[1].kernel_broadcast, (KernelBroadcast{4, true}));
  EXPECT_EQ(x.inputs[2].kernel_broadcast, (KernelBroadcast{1, false}));
  EXPECT_TRUE(a.bias && a.accumulate && a.l1_acc && a.requant && a.dequant && a.identity && a.kreduce && a.approximate_mode);
  EXPECT_EQ(a.z, 3);
  EXPECT_EQ(a.min_buffer_input, 1);
  EXPECT_EQ(a.sfpu_op, "gelu");
  EXPECT_EQ(a.relu, (Relu{true, 1.5, ReluMode::max}));
  EXPECT_EQ(a.zero_point, -3);
  EXPECT_EQ(a.vector, VectorMode::c);
  EXPECT_EQ(a.sfpu_thread, SfpuThread::pack);
  EXPECT_EQ(a.reduce_dim, Dim::r);
  EXPECT_EQ(a.p, 0.5);
  EXPECT_EQ(a.seed, 7);
  EXPECT_EQ(a.slope, 0.2);
  EXPECT_EQ(a.exp, -2);
  EXPECT_EQ(a.granularity, Granularity::t);
  EXPECT_EQ(x.inputs[0].splice, (SpliceRange{1, 2, 3}));
  EXPECT_EQ(a.sparse, (SparseEncoding{1, 2, 3, 4, 5, 6, 7, 8, 9, {10}}));
  EXPECT_EQ(a.num_indices, 32);
  EXPECT_EQ(a.k, 11);
  EXPECT_EQ(a.sort, TopkSort::argmax);
  EXPECT_EQ(a.ingress_channels, std::vector<std::int32_t>{0});
  EXPECT_EQ(a.egress_channels, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(a.dest_device, 3);
  EXPECT_EQ(a.stochastic_rounding, StochasticRounding::all);
  EXPECT_EQ(a.fused_op_id, "12");
  EXPECT_EQ(x.fidelity, MathFidelity::hifi2);
  EXPECT_TRUE(x.grid_transpose && x.untilize_output && x.gradient_op);
  EXPECT_EQ(x.occupied(), (GridRect{{3, 4}, {2, 1}}));
  EXPECT_EQ(x.acc_format, DataFormat::float32);
  EXPECT_EQ(x.intermed_format, DataFormat::lf8);
  EXPECT_EQ(x.ublock_order, UblockOrder::c);
  EXPECT_EQ(x.single_buffer_mblocks(), 3);
  EXPECT_EQ(x.block, (BlockShape{3, 4, 5, 6, 7}));
  EXPECT_EQ(x.tile_dim, (TileDim{8, 32}));
  EXPECT_EQ(x.overlay_size, 70000);
  EXPECT_EQ(x.inputs[2].min_buffer_tiles, 2);
  EXPECT_EQ(x.inputs[1].dram_io_tiles, 3);
  EXPECT_EQ(x.inputs[0].forked_from, "e");
  EXPECT_TRUE(x.inputs[1].forked_from.empty());
  ASSERT_EQ(x.inputs[0].maps.tms.size(), 3u);
  EXPECT_EQ(x.inputs[0].maps.tms[1], Tm::transpose());
  EXPECT_EQ(x.inputs[0].maps.tms[2], Tm::pad(1, 2, -INFINITY));
  EXPECT_EQ(x.inputs[1].maps.tms, (std::vector<Tm>{Tm::tile_broadcast(Dim::c), Tm::hstack(2), Tm::vslice(3)}));
  EXPECT_EQ(x.inputs[2].maps.unpad, (Unpad{1, 2}));
  EXPECT_EQ(x.inputs[2].maps.pad, (Pad{3, 4, INFINITY}));
}

TEST(ParseNetlist, Programs) {
  Netlist n = parsed(kSmall);
  ASSERT_EQ(n.programs.size(), 1u);
  const auto& code = n.programs[0].instructions;
  ASSERT_EQ(code.size(), 8u);
  EXPECT_EQ(std::get<instruction::Param>(code[0].what).names, std::vector<std::string>{"$p_loops"});
  EXPECT_EQ(std::get<instruction::Var>(code[1].what).values[0], (std::pair<std::string, std::int32_t>{"$c_inputs", 2}));
  EXPECT_TRUE(std::get<instruction::Var>(code[2].what).is_static);
  EXPECT_EQ(std::get<instruction::Loop>(code[3].what).count, Value::of("$p_loops"));
  const auto& execute = std::get<instruction::Execute>(code[4].what);
  EXPECT_EQ(execute.graph, "fwd");
  ASSERT_EQ(execute.settings.size(), 2u);
  EXPECT_EQ(execute.settings[1].prologue, Value::number(1));
  EXPECT_EQ(execute.settings[1].wr_ptr_global, Value::of("$zero"));
  EXPECT_EQ(execute.settings[0].wr_ptr_global, std::nullopt);
  EXPECT_EQ(std::get<instruction::VarInst>(code[5].what),
            (instruction::VarInst{"$l", VarOp::incwrap, {Value::of("$c_inputs"), Value::number(8)}}));
  EXPECT_TRUE(std::holds_alternative<instruction::EndLoop>(code[7].what));
}

TEST(ParseNetlist, FusedOpsAndOtherSections) {
  std::string text = std::string(kSmall) + R"(fused_ops:
  7:
    inputs: 2
    intermediates: 1
    custom_kernel_path: my/kernel.cpp
    schedules:
      - - one: {type: add, inputs: [input0, input1], output: intermed0, mblock: [1, 1], ublock: [1, 2], input_1_tms: [tile_broadcast: r]}
        - two: {type: reduce, inputs: [intermed0], pop_last: [intermed0], output: dest, mblock: [1, 1], ublock: [1, 1], attributes: {dim: c, type: max, m_k: 1, u_kt: 2}}
      - - three: {type: quantization, inputs: [dest, input1], pop: [input1], zero_point: 2.5, output: output, mblock: [1, 1], ublock: [1, 1]}
test-config:
  io-config: {inputs: [a]}
)";
  Netlist n = parsed(text);
  ASSERT_EQ(n.fused_ops.size(), 1u);
  const FusedOp& f = n.fused_ops[0];
  EXPECT_EQ(f.id, "7");
  EXPECT_EQ(f.custom_kernel_path, "my/kernel.cpp");
  ASSERT_EQ(f.schedules.size(), 2u);
  ASSERT_EQ(f.schedules[0].size(), 2u);
  EXPECT_EQ(f.schedules[0][0].inputs[1].tms, std::vector<Tm>{Tm::tile_broadcast(Dim::r)});
  EXPECT_EQ(f.schedules[0][0].output, (SubOperand{SubOperand::Kind::intermed, 0}));
  EXPECT_EQ(f.schedules[0][1].pop_last, (std::vector<SubOperand>{{SubOperand::Kind::intermed, 0}}));
  EXPECT_EQ(f.schedules[0][1].attributes.reduce_dim, Dim::c);
  EXPECT_EQ(f.schedules[1][0].attributes.zero_point, 2.5);
  EXPECT_EQ(f.schedules[1][0].inputs[0].operand.kind, SubOperand::Kind::dest);
  ASSERT_EQ(n.other.size(), 1u);
  EXPECT_EQ(n.other[0].first, "test-config");
}

TEST(ParseNetlist, ArchitecturesAreChosenByName) {
  std::string text = replaced(kSmall, "arch: wormhole_b0", "arch: [GRAYSKULL, wormhole_b0]");
  EXPECT_EQ(parsed(text, "Grayskull").arch, "grayskull");
  EXPECT_EQ(parsed(text, "wormhole_b0").archs, (std::vector<std::string>{"grayskull", "wormhole_b0"}));
  auto none = parse_netlist(text, "f");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.failure().diagnostics()[0].code, "NL007");
  auto other = parse_netlist(text, "f", {"blackhole"});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.failure().diagnostics()[0].message, HasSubstr("grayskull, wormhole_b0, not for blackhole"));
}

TEST(ParseNetlist, SeveralChipsMakeInstances) {
  std::string text = kSmall;
  for (const char* name : {"  a:", "  out:", "  w:"}) {
    auto at = text.find("target_device: 0", text.find(name));
    text.replace(at, 16, "target_device: [1, 3]");
  }
  text = replaced(text, "    target_device: 0\n", "    target_device: [1, 3]\n");
  text = replaced(text, "      - param:", "      - allocate_queue: [out]\n      - param:");
  Netlist n = parsed(text);
  ASSERT_EQ(n.queues.size(), 6u);
  EXPECT_EQ(n.queues[1].name, "a.3");
  EXPECT_EQ(n.queues[1].target_device, 3);
  // Host queues belong to the first chip; the second lies behind the first: 4 entries of 4 tiles of 2080 bytes, and a header of 32.
  EXPECT_EQ(n.queues[5].name, "out.3");
  EXPECT_EQ(n.queues[5].input, "e.3");
  EXPECT_EQ(n.queues[5].target_device, 1);
  EXPECT_EQ(n.queues[5].buffers[0].address, 4u * 4 * 2080 + 32);
  ASSERT_EQ(n.graphs.size(), 2u);
  EXPECT_EQ(n.graphs[1].name, "fwd.3");
  EXPECT_EQ(n.graphs[1].ops[1].name, "e.3");
  EXPECT_EQ(n.graphs[1].ops[1].inputs[0].name, "mm.3");
  EXPECT_EQ(n.graphs[1].ops[0].inputs[1].name, "w.3");
  const auto& code = n.programs[0].instructions;
  EXPECT_EQ(std::get<instruction::Allocate>(code[0].what).queues, (std::vector<std::string>{"out.1", "out.3"}));
  EXPECT_EQ(std::get<instruction::Execute>(code[6].what).graph, "fwd.3");
  EXPECT_EQ(std::get<instruction::Execute>(code[6].what).settings[0].queue, "a.3");
}

TEST(ParseNetlist, InstancesAreBounded) {
  std::string chips;
  for (int i = 0; i < 300; ++i) chips += (i ? "," : "") + std::to_string(i);
  auto result = parse_netlist(replaced(kSmall, "    target_device: 0\n", "    target_device: [" + chips + "]\n"), "f");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.failure().diagnostics()[0].message, HasSubstr("300 chips"));
}

TEST(ParseNetlist, RepeatedKeysAreReadInTurnAndReported) {
  std::string text = replaced(kSmall, "attributes: {m_k: 2, u_kt: 2}",
                              "attributes: {m_k: 9, u_kt: 2, m_k: 2, kernel_broadcast: {input_0: 1}, kernel_broadcast: {input_1: 2}}");
  Netlist n = parsed(text);
  const Op& mm = n.graphs[0].ops[0];
  EXPECT_EQ(mm.attributes.m_k, 2);
  EXPECT_EQ(mm.inputs[0].kernel_broadcast.tiles, 1);
  EXPECT_EQ(mm.inputs[1].kernel_broadcast.tiles, 2);
  ASSERT_EQ(n.findings.size(), 2u);
  EXPECT_EQ(n.findings[0].code, "NL008");
  EXPECT_EQ(n.findings[0].severity, Severity::warning);
}

TEST(ParseNetlist, NoneMeansNoManipulations) {
  for (const char* none : {"None", "", "[]"}) {
    std::string text =
        replaced(kSmall, "attributes: {m_k: 2, u_kt: 2}}", std::string("input_1_tms: ") + none + ", attributes: {m_k: 2, u_kt: 2}}");
    EXPECT_TRUE(parsed(text).graphs[0].ops[0].inputs[1].maps.tms.empty()) << none;
  }
}

// An edit of the sample and what is said of it. The error's place is where `^` stands in `to`, or behind the text `behind`.
struct Bad {
  const char* from;
  const char* to;
  const char* code;
  const char* words;
  const char* behind = nullptr;
};
void PrintTo(const Bad& b, std::ostream* os) { *os << b.to; }

class BadNetlist : public ::testing::TestWithParam<Bad> {};

TEST_P(BadNetlist, IsRefusedAtItsPlace) {
  const Bad& bad = GetParam();
  std::string text = replaced(kSmall, bad.from, bad.to);
  std::size_t at = text.find('^');
  if (at != std::string::npos) {
    text.erase(at, 1);
  } else {
    ASSERT_NE(bad.behind, nullptr);
    at = text.find(bad.behind) + std::string(bad.behind).size();
  }
  auto result = parse_netlist(text, "net.yaml");
  // What leaves the reader something to go on with comes with the netlist.
  const auto& found = result.ok() ? result->findings : result.failure().diagnostics();
  ASSERT_FALSE(found.empty());
  const Diagnostic& d = found.front();
  EXPECT_EQ(d.severity, Severity::error);
  EXPECT_EQ(d.code, bad.code) << d.message;
  EXPECT_THAT(d.message + "|" + d.hint, HasSubstr(bad.words));
  EXPECT_EQ(d.loc.file, "net.yaml");
  EXPECT_EQ(d.loc.line, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) << d.message;
  EXPECT_EQ(d.loc.column, at - text.rfind('\n', at - 1)) << d.message;
}

constexpr const char* kQueue = "queues:\n  a: ";
constexpr const char* kGraph = "  fwd:\n    ";
constexpr const char* kOp = "    mm: ";

INSTANTIATE_TEST_SUITE_P(Fields, BadNetlist,
                         ::testing::Values(Bad{"entries: 4", "entires: 4", "NL002", "'entries' is missing", kQueue},
                                           Bad{"t: 1, mblock: [1, 2]", "t: 1, tt: ^1, mblock: [1, 2]", "NL001", "'tt' is unknown"},
                                           Bad{"type: queue", "type: ^qeue", "NL003", "did you mean 'queue'?"},
                                           Bad{"entries: 4", "entries: ^four", "NL003", "an integer, not the string 'four'"},
                                           Bad{"entries: 4", "entries: ^-4", "NL004", "at least 0"},
                                           Bad{"entries: 4", "entries: ^99999999999", "NL004", "99999999999"},
                                           Bad{"t: 1,", "t: ^0,", "NL004", "between 1 and 1048576"},
                                           Bad{"mblock: [1, 2]", "mblock: ^[1]", "NL003", "two numbers, not one of 1"},
                                           Bad{"mblock: [1, 2], ublock: [2, 2]", "mblock: [1000000, 1000000], ublock: [1000000, 2]",
                                               "NL004", "more tiles than any memory", kQueue},
                                           Bad{"df: Float16_b", "df: ^float16_b", "NL003", "did you mean 'Float16_b'?"},
                                           Bad{"loc: dram, dram: [[0, 0x10000000]]", "loc: dram", "NL002", "'dram' is missing", kQueue},
                                           Bad{"[[0, 0x10000000]]", "[^0x10000000]", "NL003", "[channel, address]"},
                                           Bad{"[[0, 0x10000000]]", "[[0, ^high]]", "NL003", "bytes, not the string 'high'"},
                                           Bad{"arch: wormhole_b0", "arch: ^wormhole_bo", "NL003", "did you mean 'wormhole_b0'?"},
                                           Bad{"arch: wormhole_b0", "arch: ^[]", "NL004", "empty list"},
                                           Bad{"arch: wormhole_b0", "arch: wormhole_b0\n  chips: ^2", "NL001", "'chips'"}));

INSTANTIATE_TEST_SUITE_P(
    Graphs, BadNetlist,
    ::testing::Values(Bad{"input_count: 2", "input_count: ^0", "NL004", "at least 1"},
                      Bad{"    input_count: 2\n", "", "NL002", "'input_count' is missing", kGraph},
                      Bad{"type: matmul", "type: ^matmull", "NL003", "did you mean 'matmul'?"},
                      Bad{"    e: {", "    mm: ^{", "NL009", "duplicate"},
                      Bad{"in_df: [Float16_b, Bfp8_b]", "in_df: ^[Float16_b]", "NL010", "1 formats for 2 inputs"},
                      Bad{"buf_size_mb: 2, ", "", "NL002", "'buf_size_mb' is missing", kOp},
                      Bad{"grid_loc: [0, 0], ", "", "NL002", "'grid_loc' is missing", kOp},
                      Bad{"attributes: {m_k: 2", "attributes: {mk: ^2", "NL001", "did you mean 'm_k'?"},
                      Bad{"attributes: {m_k: 2", "input_2_tms: ^[], attributes: {m_k: 2", "NL004", "there are 2 inputs"},
                      Bad{"attributes: {m_k: 2", "input_1_tm: ^[], attributes: {m_k: 2", "NL001", "input_N_tms"},
                      Bad{"attributes: {m_k: 2", "input_1_tms: [^flip], attributes: {m_k: 2", "NL005", "'flip'"},
                      Bad{"attributes: {m_k: 2", "input_1_tms: [broadcast: ^{r: 2, c: 3}], attributes: {m_k: 2", "NL005",
                          "one broadcast per dimension"},
                      Bad{"attributes: {m_k: 2", "input_1_tms: [hslice: ^0], attributes: {m_k: 2", "NL004", "'hslice' is 0"}));

INSTANTIATE_TEST_SUITE_P(Programs, BadNetlist,
                         ::testing::Values(Bad{"- loop: $p_loops", "- lop: ^$p_loops", "NL006", "did you mean 'loop'?"},
                                           Bad{"- loop: $p_loops", "- loop: ^0", "NL006", "at least once"},
                                           Bad{"[$l, incwrap, $c_inputs, 8]", "^[$l, incwrap, $c_inputs]", "NL006", "2 arguments, not 1"},
                                           Bad{"incwrap, $c_inputs, 8", "^incrwap, $c_inputs, 8", "NL003", "did you mean 'incwrap'?"},
                                           Bad{"[$l, $g]", "[^l, $g]", "NL006", "$name, not the string 'l'"},
                                           Bad{"- endloop", "- ^endprogram", "NL006", "'endprogram'"},
                                           Bad{"rd_ptr_local: $l", "rd_ptr_locl: ^$l", "NL001", "did you mean 'rd_ptr_local'?"}));

TEST(ParseNetlist, AMissingSectionNamesTheOneThatMayBeMeant) {
  auto result = parse_netlist(replaced(kSmall, "queues:", "queue:"), "net.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().diagnostics()[0].code, "NL002");
  EXPECT_EQ(result.failure().diagnostics()[0].hint, "is 'queue' meant to be it?");
}

// YAML readers take no longer keys than 1024 characters, unless they are announced.
TEST(ParseNetlist, LongNamesAreRefused) {
  const std::string name(256, 'x');
  for (const std::string& text :
       {cat(kSmall, '\n', name, ": 1\n"), cat(kSmall, "\n'", name, "\n"), replaced(kSmall, "  a:", cat("  ", name, ":"))}) {
    const auto refused = parse_netlist(text, "net.yaml", {});
    ASSERT_FALSE(refused);
    const Diagnostic& d = refused.failure().diagnostics().front();
    EXPECT_EQ(d.code, "NL004");
    EXPECT_NE(d.message.find("at most 255 are possible"), std::string::npos) << d.message;
  }
}

TEST(ParseNetlist, AVersionIsLookedForAtTheVeryStart) {
  std::string text = std::string("# buda.netlist/2\n") + kSmall;
  auto result = parse_netlist(text, "net.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().diagnostics()[0].code, "NL011");
  EXPECT_TRUE(parse_netlist(std::string("# buda.netlist/1\n") + kSmall, "net.yaml").ok());
}

TEST(ParseNetlist, AllErrorsAreCollectedInOrderUpToABound) {
  std::string text = replaced(replaced(replaced(kSmall, "type: exp", "type: expo"), "entries: 4", "entries: x"), "- endloop", "- stop");
  auto result = parse_netlist(text, "net.yaml");
  ASSERT_FALSE(result.ok());
  const auto& all = result.failure().diagnostics();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].loc.line, 4u);
  EXPECT_EQ(all[1].loc.line, 12u);
  EXPECT_EQ(all[2].loc.line, 24u);
  EXPECT_EQ(all[1].node, "e");

  std::string many = "devices: {arch: grayskull}\nqueues:\n";
  for (int i = 0; i < 1100; ++i) many += "  q" + std::to_string(i) + ": {}\n";
  auto bounded = parse_netlist(many + "graphs: {}\n", "net.yaml");
  ASSERT_FALSE(bounded.ok());
  EXPECT_EQ(bounded.failure().diagnostics().size(), 1000u);
}

TEST(ParseNetlist, AnyTextEndsInDiagnostics) {
  for (const char* text :
       {"", "# nothing", "[]", "a", "devices", "devices: 1\nqueues: 2\ngraphs: 3\nprograms: 4\nfused_ops: 5\n",
        "devices: {arch: grayskull}\nqueues:\n  a:\n  b: []\ngraphs:\n  g:\n  h: [1]\n  i: {x: {}}\nprograms: [1, {a: 1}, {b: [c, {}]}]\n"
        "fused_ops: {1: {schedules: [1, [2, {a: 3}]]}, 2: 0}\n"}) {
    auto result = parse_netlist(text, "net.yaml");
    EXPECT_FALSE(result.ok()) << text;
    EXPECT_FALSE(result.ok() || result.failure().empty()) << text;
  }
}

// Cut anywhere, or with any byte replaced, a netlist is read or refused, and a read one can be written.
TEST(ParseNetlist, DamagedTextIsReadOrRefused) {
  std::string text = kSmall;
  for (std::size_t cut = 0; cut < text.size(); cut += 7) {
    auto result = parse_netlist(text.substr(0, cut), "net.yaml");
    EXPECT_TRUE(result.ok() || !result.failure().empty());
  }
  for (std::size_t at = 0; at < text.size(); at += 5) {
    std::string damaged = text;
    damaged[at] = "{}[],:$0-\n"[at % 10];
    auto result = parse_netlist(damaged, "net.yaml");
    EXPECT_TRUE(result.ok() || !result.failure().empty());
  }
}

// What the original reads, although it is odd.
TEST(ParseNetlist, TakesWhatTheOriginalTakes) {
  // Booleans of YAML 1.1.
  EXPECT_FALSE(parsed(replaced(kSmall, "e: {type: exp,", "e: {untilize_output: No, type: exp,")).graphs[0].ops[1].untilize_output);
  EXPECT_TRUE(parsed(replaced(kSmall, "e: {type: exp,", "e: {untilize_output: yes, type: exp,")).graphs[0].ops[1].untilize_output);
  // An op without acc_df.
  auto netlist = parsed(replaced(kSmall, "acc_df: Float16_b, ", ""));
  EXPECT_EQ(netlist.graphs[0].ops[0].acc_format, DataFormat::float16_b);
  ASSERT_EQ(netlist.findings.size(), 1u);
  EXPECT_EQ(netlist.findings[0].code, "NL016");
  EXPECT_EQ(netlist.findings[0].severity, Severity::warning);
  // A number of a graph, a section and a program that stand twice.
  netlist = parsed(replaced(kSmall, "    input_count: 2\n", "    input_count: 2\n    input_count: 5\n"));
  EXPECT_EQ(netlist.graphs[0].input_count, 5);
  ASSERT_EQ(netlist.findings.size(), 1u);
  EXPECT_EQ(netlist.findings[0].code, "NL008");
  netlist = parsed(std::string(kSmall) + "programs:\n  - run:\n      - var: [$x]\n");
  ASSERT_EQ(netlist.programs.size(), 1u);
  EXPECT_EQ(netlist.programs[0].instructions.size(), 1u);
  EXPECT_EQ(netlist.findings.size(), 2u);
}

TEST(ParseNetlist, GoesOnBehindATypeThatDoesNotExist) {
  auto netlist = parsed(replaced(kSmall, "type: exp", "type: exq"));
  ASSERT_EQ(netlist.findings.size(), 1u);
  EXPECT_EQ(netlist.findings[0].code, "NL003");
  EXPECT_EQ(netlist.findings[0].severity, Severity::error);
  EXPECT_EQ(netlist.findings[0].hint, "did you mean 'exp'?");
  EXPECT_EQ(netlist.graphs[0].ops[1].type, OpType::nop);
}

TEST(ParseNetlist, KnowsWhereEverythingStands) {
  auto netlist = parsed(replaced(kSmall, "attributes: {m_k: 2, u_kt: 2}", "attributes: {m_k: 2,\n      u_kt: 2}"));
  const Op& mm = netlist.graphs[0].ops[0];
  EXPECT_EQ(mm.places.of_attribute(attribute_number("u_kt")).line, 12u);
  EXPECT_EQ(mm.places.of_attribute(attribute_number("u_kt")).column, 13u);
  EXPECT_EQ(mm.places.of_attribute(attribute_number("bias")).line, mm.places.of(Field::attributes).line);
  EXPECT_EQ(mm.places.of(Field::inputs, 1).column, mm.places.of(Field::inputs, 0).column + 3);
  EXPECT_EQ(netlist.queues[0].places.of(Field::buffers, 0).column, netlist.queues[0].places.of(Field::buffers).column + 1);
  EXPECT_EQ(attribute_number("no such"), -1);
  EXPECT_NE(attribute_number("input0"), attribute_number("input1"));
}

TEST(ParseNetlist, KeepsListsOfChipsWhenAsked) {
  std::string text = kSmall;
  for (int i = 0; i < 3; ++i) text = replaced(text, "target_device: 0,", "target_device: [0, 1],");
  text = replaced(text, "    target_device: 0\n", "    target_device: [0, 1]\n");
  auto kept = parse_netlist(text, "net.yaml", {.arch = "", .any_arch = false, .keep_instances = true});
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->queues.size(), 3u);
  EXPECT_EQ(kept->queues[0].instances, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(kept->graphs[0].instances, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(parsed(text).queues.size(), 6u);
  // A list of one chip makes an instance too.
  EXPECT_EQ(parsed(replaced(kSmall, "Bfp8_b, target_device: 0", "Bfp8_b, target_device: [0]")).queues[1].name, "w.0");
}

}  // namespace
}  // namespace buda::netlist
