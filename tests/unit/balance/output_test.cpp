// SPDX-License-Identifier: Apache-2.0
// What is written besides the netlist's ops: DRAM addresses, host plan, report.
#include <buda/balance/cost/cost.hpp>
#include <buda/balance/emit/plan_builder.hpp>
#include <buda/balance/emit/report.hpp>
#include <buda/balance/emit/report_summary.hpp>
#include <buda/balance/queues/dram.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/json.hpp>
#include <buda/ops/device/device_layout.hpp>

#include <limits>

namespace buda::balance {
namespace {

using host_plan::Transform;
using host_plan::TransformKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

netlist::Queue queue(std::int32_t entries, GridShape grid, std::int32_t tiles, DataFormat format = DataFormat::float16_b) {
  netlist::Queue q;
  q.name = "q";
  q.entries = entries;
  q.grid = grid;
  q.block.ublock_ct = tiles;
  q.format = format;
  return q;
}

TEST(Dram, BuffersHoldHeaderAndEntries) {
  // Header of 32 bytes and 3 entries of 2 tiles.
  EXPECT_EQ(buffer_bytes(queue(3, {1, 1}, 2), board("n150")), 32u + 3 * 2 * 2080);
  EXPECT_EQ(buffer_bytes(queue(1, {2, 2}, 1, DataFormat::bfp8_b), board("n150")), 32u + 1120);
  netlist::Queue huge = queue(1 << 30, {1, 1}, 1 << 30);
  huge.block.mblock_m = 1 << 20;
  EXPECT_EQ(buffer_bytes(huge, board("n150")), std::nullopt);
}

TEST(Dram, BuffersLieInTheirChannelsAndNothingOverlaps) {
  const auto& device = board("n150");
  DramAllocator dram(device);
  std::vector<std::pair<netlist::BufferAddress, std::uint64_t>> all;
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    netlist::Queue q = queue(static_cast<std::int32_t>(1 + rng.below(4)), {1, static_cast<std::int32_t>(1 + rng.below(4))},
                             static_cast<std::int32_t>(1 + rng.below(64)));
    const bool for_host = rng.below(4) == 0;
    std::vector<DramBank> channels;
    for (std::int64_t k = 0; k < q.grid.volume(); ++k) channels.push_back(static_cast<std::int32_t>(rng.below(6)));
    auto buffers = dram.allocate(q, channels, for_host, device);
    ASSERT_TRUE(buffers.ok());
    for (std::size_t k = 0; k < channels.size(); ++k) EXPECT_EQ((*buffers)[k].channel, for_host ? 0 : channels[k].channel);
    for (const auto& b : *buffers) all.emplace_back(b, *buffer_bytes(q, device));
  }
  std::set<std::int32_t> channels;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [a, size] = all[i];
    channels.insert(a.channel);
    EXPECT_EQ(a.address % 32, 0u);
    EXPECT_GE(a.address, device.dram.channels[static_cast<std::size_t>(a.channel)].lowest_usable);
    EXPECT_LE(a.address + size, device.dram.bank_bytes);
    for (std::size_t k = 0; k < i; ++k) {
      const auto& [b, other] = all[k];
      EXPECT_FALSE(a.channel == b.channel && a.address < b.address + other && b.address < a.address + size);
    }
  }
  EXPECT_EQ(channels.size(), 6u);
  std::uint64_t used = 0, sum = 0;
  for (auto u : dram.used()) used += u;
  for (const auto& [a, size] : all) sum += size;
  EXPECT_EQ(used, sum);
}

TEST(Dram, BuffersLieInTheHalfThatWasChosen) {
  const auto& device = board("n150");
  ASSERT_EQ(halves_of_channel(device), 2);
  ASSERT_EQ(halves_of_channel(board("e150")), 1);
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  DramAllocator dram(device);
  const DramRoom before = dram.room();
  ASSERT_EQ(before.halves.size(), 2 * before.channels.size());
  for (std::size_t c = 0; c < before.channels.size(); ++c)
    EXPECT_EQ(before.halves[2 * c] + before.halves[2 * c + 1], before.channels[c]) << c;
  const std::vector<DramBank> banks{{3, 1}, {3, 0}, {2, 1}, {3, 1}};
  const netlist::Queue four = queue(2, {1, 4}, 8);
  const auto buffers = dram.allocate(four, banks, false, device);
  ASSERT_TRUE(buffers.ok());
  for (std::size_t i = 0; i < banks.size(); ++i) {
    EXPECT_EQ((*buffers)[i].channel, banks[i].channel);
    EXPECT_EQ((*buffers)[i].address >= kGiB ? 1 : 0, banks[i].half) << i;
  }
  EXPECT_EQ(dram.room().halves[2 * 3 + 1], before.halves[2 * 3 + 1] - 2 * *buffer_bytes(four, device));
  // What is larger than a half lies where there is room.
  const netlist::Queue large = queue(1, {1, 1}, 600'000);
  ASSERT_GT(*buffer_bytes(large, device), kGiB);
  EXPECT_EQ(dram.allocate(large, std::vector<DramBank>{{4, 1}}, false, device)->front().channel, 4);
}

TEST(Dram, TheHostWindowIsForQueuesOfTheHost) {
  const auto& device = board("n150");
  DramAllocator dram(device);
  const auto& w = *device.dram.host_window;
  auto inside = [&](const netlist::BufferAddress& b) {
    return b.channel == w.channel && b.address >= w.begin && b.address < w.begin + w.size;
  };
  const std::vector<DramBank> channel{w.channel};
  EXPECT_TRUE(inside(dram.allocate(queue(2, {1, 1}, 1), channel, true, device)->front()));
  for (int i = 0; i < 12; ++i) EXPECT_FALSE(inside(dram.allocate(queue(2, {1, 1}, 1), channel, false, device)->front()));
  // What is larger than the window goes elsewhere.
  EXPECT_FALSE(inside(dram.allocate(queue(1, {1, 1}, 150000), channel, true, device)->front()));
}

TEST(Dram, AFullChipIsReportedWithChannelAndNumbers) {
  const auto& device = board("e75");
  DramAllocator dram(device);
  Diagnostic found;
  for (int i = 0; i < 100 && found.code.empty(); ++i)
    if (auto r = dram.allocate(queue(1, {1, 1}, 200000), std::vector<DramBank>{3}, false, device); !r.ok())
      found = r.failure().diagnostics().front();
  EXPECT_EQ(found.fault, Fault::fit);
  EXPECT_THAT(
      found.message,
      HasSubstr(
          "queue 'q': buffer 1 of 1 (1 entry of 200000 tiles in Float16_b) needs 416000032 bytes; the largest free block, in channel "));
  EXPECT_EQ(found.data.size(), 4u);
}

// ---- host plan

TEST(Plan, StepsLeadToTheDeviceAndBack) {
  auto to = steps_to_device({7, 10}, {1, 1, 32, 32});
  ASSERT_TRUE(to.ok());
  EXPECT_THAT(*to, ElementsAre(Transform{TransformKind::reshape, {1, 1, 7, 10}, 0}, Transform{TransformKind::pad, {0, 0, 25, 22}, 0}));
  auto back = steps_from_device({1, 1, 32, 32}, {7, 10});
  ASSERT_TRUE(back.ok());
  EXPECT_THAT(*back, ElementsAre(Transform{TransformKind::narrow, {1, 1, 7, 10}, 0}, Transform{TransformKind::reshape, {7, 10}, 0}));
  EXPECT_TRUE(steps_to_device({1, 2, 32, 64}, {1, 2, 32, 64})->empty());
  EXPECT_FALSE(steps_to_device({40, 10}, {1, 1, 32, 32}).ok());
  EXPECT_FALSE(steps_to_device({2, 1, 8, 8}, {1, 1, 32, 32}).ok());
  EXPECT_FALSE(steps_from_device({1, 1, 32, 32}, {2, 2, 2, 2}).ok());
}

TEST(Plan, StepsDoWhatTheOpsModuleDoes) {
  // An independent implementation of the same padding.
  std::vector<float> values(2 * 3 * 5 * 40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Tensor model(Shape{2, 3, 5, 40}, values);
  Shape device{2, 3, 32, 64};
  auto padded = host_plan::apply_transforms(model, *steps_to_device(model.shape(), device));
  ASSERT_TRUE(padded.ok());
  EXPECT_EQ(*padded, *ops::to_device(model, device));
  EXPECT_EQ(*host_plan::apply_transforms(*padded, *steps_from_device(device, model.shape())), model);
  const auto wrong = host_plan::apply_transforms(model, {{host_plan::TransformKind::reshape, {7, 7, 7}, 0}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().diagnostics().front().code, "HP001");
}

PlanFiles files() {
  return {"net.yaml", "net.safetensors", [](const std::string& path) { return "../" + path; },
          [](const std::string& path) { return path == "out/net.safetensors"; }};
}

TEST(Plan, NamesTensorsQueuesAndFiles) {
  DeviceGraph g("mlp");
  auto x = g.input("x", {1, 1, 32, 64}, {1, 50});
  auto y = g.linear("fc 1", x, 32, 64, 32);
  g.output("y", y, {1, 10});
  auto& weight = g.graph.node(g.graph.find("fc 1.weight"));
  weight.value->source = graph::TensorSource{"in/w.safetensors", "weight"};
  auto balanced = balance_with(g.graph, "n150");
  ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
  auto built = build_plan(balanced->graph, balanced->problem, balanced->built.queues, files());
  ASSERT_TRUE(built.ok()) << text_of(built.failure());
  const host_plan::HostPlan& plan = built->plan;
  EXPECT_EQ(plan.model, "mlp");
  EXPECT_EQ(plan.device, "n150");
  EXPECT_EQ(plan.arch, "wormhole_b0");
  ASSERT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.inputs[0].name, "x");
  EXPECT_EQ(plan.inputs[0].dtype, "F32");
  EXPECT_THAT(plan.inputs[0].shape, ElementsAre(1, 50));
  EXPECT_EQ(plan.inputs[0].transforms.size(), 2u);
  EXPECT_EQ(plan.outputs[0].queue, "y");
  ASSERT_EQ(plan.parameters.size(), 2u);
  EXPECT_EQ(plan.parameters[0].name, "fc 1.weight");
  EXPECT_EQ(plan.parameters[0].queue, "fc_1.weight");
  EXPECT_EQ(plan.parameters[0].file, "../in/w.safetensors");
  EXPECT_EQ(plan.parameters[0].tensor, "weight");
  EXPECT_EQ(plan.parameters[1].file, "net.safetensors");
  EXPECT_EQ(plan.parameters[1].tensor, "fc 1.bias");
  EXPECT_EQ(built->tensors.size(), 1u);
  ASSERT_EQ(plan.segments.size(), 1u);
  EXPECT_EQ(plan.segments[0].file, "net.yaml");
  EXPECT_THAT(plan.segments[0].programs, ElementsAre("run_fwd_0"));
}

// What lies bare in a file, as weights do in the model's, remains there.
TEST(Plan, RefersIntoFilesThatAreNoTensorFiles) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64});
  g.output("y", g.linear("fc", x, 32, 64, 32));
  g.graph.node(g.graph.find("fc.weight")).value->source = graph::TensorSource{"in/m.onnx", "", RawPlace{128, 20'000}};
  g.graph.node(g.graph.find("fc.bias")).value->source = graph::TensorSource{"in/m.onnx", "", RawPlace{64, 20'000}};
  auto balanced = balance_with(g.graph, "n150");
  ASSERT_TRUE(balanced.ok());
  auto built = build_plan(balanced->graph, balanced->problem, balanced->built.queues, files());
  ASSERT_TRUE(built.ok());
  EXPECT_TRUE(built->tensors.empty());
  const host_plan::PlanParameter& weight = built->plan.parameters[0];
  EXPECT_EQ(weight.file, "../in/m.onnx");
  EXPECT_EQ(weight.tensor, "");
  EXPECT_EQ(weight.dtype, "F32");
  EXPECT_EQ(weight.offset, 128);
  EXPECT_EQ(weight.file_size, 20'000);
}

TEST(Plan, TensorsOfAFileThatIsReplacedAreWrittenAgain) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64});
  g.output("y", g.linear("fc", x, 32, 64, 32));
  g.graph.node(g.graph.find("fc.weight")).value->source = graph::TensorSource{"out/net.safetensors", "w"};
  auto balanced = balance_with(g.graph, "n150");
  ASSERT_TRUE(balanced.ok());
  auto built = build_plan(balanced->graph, balanced->problem, balanced->built.queues, files());
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(built->tensors.size(), 2u);
}

TEST(Plan, ShapesThatDoNotLieInTheirNodesAreErrors) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64}, {40, 40});
  g.output("y", g.op("e", "exp", {x}, {1, 1, 32, 64}), {3, 32, 64});
  auto balanced = balance_with(g.graph, "n150");
  ASSERT_TRUE(balanced.ok());
  auto built = build_plan(balanced->graph, balanced->problem, balanced->built.queues, files());
  ASSERT_FALSE(built.ok());
  ASSERT_EQ(built.failure().diagnostics().size(), 2u);
  EXPECT_EQ(built.failure().diagnostics()[0].node, "x");
  EXPECT_EQ(built.failure().diagnostics()[0].code, "BL018");
  EXPECT_THAT(built.failure().diagnostics()[1].message, HasSubstr("node 'y'"));
  g.graph.node(g.graph.find("x")).attrs["model_shape"] = std::string("wide");
  auto again = balance_with(g.graph, "n150");
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(build_plan(again->graph, again->problem, again->built.queues, files()).ok());
}

// A graph built in memory may be placed before its parameters have values; a plan has them.
TEST(Plan, ParametersWithoutValuesAreErrors) {
  DeviceGraph g;
  g.with_values = false;
  auto x = g.input("x", {1, 1, 32, 64});
  g.output("y", g.linear("fc", x, 32, 64, 32));
  auto balanced = balance_with(g.graph, "n150");
  ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
  auto built = build_plan(balanced->graph, balanced->problem, balanced->built.queues, files());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.failure().diagnostics().front().code, "BL019");
  EXPECT_EQ(built.failure().diagnostics().front().message, "parameter 'fc.weight' has no value");
}

TEST(Plan, TheHostReshapesWhereTheGraphSaysSo) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64}, {1, 1, 8, 8});
  g.graph.node(x).attrs["view_shape"] = std::vector<std::int64_t>{1, 64};
  g.output("y", g.op("e", "exp", {x}, {1, 1, 32, 64}), {4, 16});
  g.graph.node(g.graph.find_output("y")).attrs["view_shape"] = std::vector<std::int64_t>{64};
  auto balanced = balance_with(g.graph, "n150");
  ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
  auto built = build_plan(balanced->graph, balanced->problem, balanced->built.queues, files());
  ASSERT_TRUE(built.ok()) << text_of(built.failure());
  const host_plan::PlanTensor& in = built->plan.inputs[0];
  const host_plan::PlanTensor& out = built->plan.outputs[0];
  EXPECT_THAT(in.shape, ElementsAre(1, 1, 8, 8));
  EXPECT_THAT(out.shape, ElementsAre(4, 16));
  EXPECT_EQ(*host_plan::shape_after(Shape(in.shape), in.transforms), (Shape{1, 1, 32, 64}));
  EXPECT_EQ(*host_plan::shape_after(Shape{1, 1, 32, 64}, out.transforms), (Shape{4, 16}));
  // Element 9 of the model's stands in the first row.
  std::vector<float> v(64);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  auto pushed = host_plan::apply_transforms(Tensor(Shape{1, 1, 8, 8}, v), in.transforms);
  ASSERT_TRUE(pushed.ok());
  EXPECT_EQ(pushed->as<float>()[9], 9);
  g.graph.node(x).attrs["view_shape"] = std::vector<std::int64_t>{1, 63};
  auto again = balance_with(g.graph, "n150");
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(build_plan(again->graph, again->problem, again->built.queues, files()).ok());
}

// ---- report

TEST(Report, ReadsBackAndAddsUp) {
  auto balanced = balance_with(perceptron(64, {128, 256, 64}), "n150");
  ASSERT_TRUE(balanced.ok());
  const PlacementReport& r = balanced->report;
  auto node = io::parse_json(report_text(r), "report.json");
  ASSERT_TRUE(node.ok());
  auto back = schema::read<PlacementReport>(*node);
  ASSERT_TRUE(back.ok()) << text_of(back.failure());
  EXPECT_EQ(*back, r);
  EXPECT_EQ(r.totals.ops, 2);
  EXPECT_EQ(r.totals.epochs, 1);
  EXPECT_EQ(r.totals.chip_cores, 72);
  EXPECT_EQ(r.totals.most_cores, 2);
  std::uint64_t queues = 0, channels = 0;
  for (const auto& q : r.queues) queues += q.bytes;
  for (const auto& c : r.totals.dram) {
    channels += c.used;
    EXPECT_LE(c.used, c.capacity);
  }
  EXPECT_EQ(queues, channels);
  std::int64_t busiest = 0;
  for (const auto& c : r.epochs[0].channels) busiest = std::max(busiest, static_cast<std::int64_t>(c.read + c.written + c.after));
  const auto& paths = r.epochs[0].paths;
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[0].kind, "DRAM");
  EXPECT_EQ(paths[0].bytes, busiest);
  EXPECT_EQ(paths[1].kind, "NoC");
  EXPECT_EQ(paths[2].kind, "port");
  const ReportOp& op = r.epochs[0].ops[0];
  EXPECT_EQ(op.resources.front().resource, "l1");
  std::uint64_t parts = 0;
  for (const auto& p : op.resources.front().parts) parts += p.amount;
  EXPECT_EQ(parts, op.resources.front().used);
  EXPECT_THAT(op.resident_inputs, ElementsAre(1, 2));
  // One input at a time goes through both ops, after the change to the epoch, and after parameters are loaded.
  const ReportEpoch& epoch = r.epochs[0];
  EXPECT_GT(epoch.hidden, 0);  // the first op is done before the second
  EXPECT_GT(epoch.cycles, epoch.change + epoch.ops[0].cycles.kernel + epoch.ops[1].cycles.kernel);
  EXPECT_LT(epoch.cycles, epoch.change + epoch.hidden + 3 * (epoch.ops[0].cycles.limiter + epoch.ops[1].cycles.limiter));
  EXPECT_NEAR(r.totals.inputs_per_second, 1e9 / static_cast<double>(r.totals.cycles), 1e9 / static_cast<double>(r.totals.cycles) * 0.01);
  const std::vector<std::string> table = report_table(r), summary = report_summary(r);
  EXPECT_EQ(table.size(), 3 + summary.size());  // a heading and a line per op
  EXPECT_TRUE(std::equal(summary.begin(), summary.end(), table.begin() + 3));
}

TEST(Report, SummaryHasTheFactsOfTheReport) {
  auto balanced = balance_with(perceptron(64, {128, 256, 64}), "n150");
  ASSERT_TRUE(balanced.ok());
  const PlacementReport& r = balanced->report;
  std::uint64_t parameters = 0, dram = 0, capacity = 0;
  for (const auto& q : r.queues) parameters += q.role == "parameter" || q.role == "constant" ? q.bytes : 0;
  for (const auto& c : r.totals.dram) dram += c.used, capacity += c.capacity;
  EXPECT_GT(parameters, 0u);
  EXPECT_EQ(r.totals.parameter_bytes, parameters);
  const auto& ops = r.epochs[0].ops;
  // Parameters are loaded before the first input.
  const ReportOp& slowest = ops[0].cycles.kernel >= ops[1].cycles.kernel ? ops[0] : ops[1];
  EXPECT_EQ(r.totals.bottleneck_op, slowest.name);
  EXPECT_EQ(r.totals.limiter, "kernel");
  const ReportBound &schedule = *r.totals.schedule_bound, &any = *r.totals.universal_bound;
  // A core that computes all the time loads its program in between; DRAM does not wait for that.
  EXPECT_EQ(any.limiter, "slowest op");
  EXPECT_EQ(schedule.cycles, any.cycles);
  EXPECT_THAT(report_summary(r), ElementsAre("perceptron on n150: 2 ops in 1 epoch, at most 2 of 72 cores in use",
                                             cat("estimate: ", r.totals.inputs_per_second, " inputs/s (", r.totals.cycles,
                                                 " cycles for an input), limited by ", limiter_text(r)),
                                             HasSubstr("throughput: --microbatch 64 gives about "),
                                             cat("lower bound: ", any.cycles, " cycles for any plan, because of the ", any.limiter,
                                                 " (the estimate is ", any.gap, " % above it)"),
                                             cat(bytes_text(parameters), " of parameters; queues use ", bytes_text(dram), " of ",
                                                 bytes_text(capacity), " of DRAM")));
}

TEST(Report, RatesHaveThreeDigits) {
  EXPECT_EQ(cat(three_digits(21.7349)), "21.7");
  EXPECT_EQ(cat(three_digits(62345.6)), "62300");
  EXPECT_EQ(cat(three_digits(0.0123456)), "0.0123");
  EXPECT_EQ(three_digits(std::numeric_limits<double>::infinity()), 0);
}

TEST(Report, TheLimiterIsNamedAfterTheResource) {
  EXPECT_EQ(limiter_name({300, {10, 20}, 30, 300}), "kernel");
  EXPECT_EQ(limiter_name({30, {10, 200}, 30, 200}), "input 1");
  EXPECT_EQ(limiter_name({30, {10, 20}, 100, 100}), "output");
}

// What the buffers between ops take is no time of a single op.
TEST(Report, SummaryGivesTheIntervalThatBuffersAllow) {
  PlacementReport r;
  ReportEpoch epoch;
  epoch.graph = "fwd_0_0";
  epoch.interval = 10492;
  epoch.limiter = kBetweenOps;
  epoch.ops.emplace_back();
  epoch.ops[0].name = "exp";
  epoch.ops[0].cycles.limiter = 7184;
  r.epochs.push_back(epoch);
  r.totals.ops = 1;
  r.totals.bottleneck_op = "exp";
  r.totals.limiter = kBetweenOps;
  r.microbatch = 8;
  EXPECT_THAT(report_summary(r)[1], HasSubstr("limited by the buffers between ops in epoch fwd_0_0 (10492 cycles)"));
}

// The limiter is what most of the cycles are.
TEST(Report, SummaryNamesWhatCostsMost) {
  PlacementReport r;
  ReportEpoch epoch;
  epoch.graph = "fwd_0_0";
  epoch.interval = 100;
  epoch.change = 5000;
  epoch.cycles = 5000 + 900;
  epoch.ops.emplace_back();
  epoch.ops[0].name = "exp";
  epoch.ops[0].cycles.limiter = 100;
  r.epochs = {epoch, epoch};
  r.totals.ops = 2;
  r.totals.bottleneck_op = "exp";
  r.totals.limiter = "kernel";
  EXPECT_EQ(limiter_text(r), "the changes of epochs (10000 cycles)");
  r.epochs[0].change = r.epochs[1].change = 400;
  EXPECT_EQ(limiter_text(r), "the time of the first input, which passes the ops one after the other (11000 cycles)");
  r.microbatch = 51;
  EXPECT_EQ(limiter_text(r), "the kernel of op 'exp' (100 cycles)");
}

TEST(Report, SummaryNamesBothBoundsWhereTheyDiffer) {
  PlacementReport r;
  r.totals.ops = 1;
  r.totals.cycles = 500;
  r.totals.schedule_bound = {430, 16.3, ""};
  r.totals.universal_bound = {500, 0, "cores"};
  EXPECT_THAT(report_summary(r),
              Contains("lower bound: 430 cycles for plans with this order of ops (the estimate is 16.3 % above it), 500 for "
                       "any plan, because of the cores (the estimate reaches it)"));
  r.totals.schedule_bound->cycles = 500;
  EXPECT_THAT(report_summary(r), Contains("lower bound: 500 cycles for any plan, because of the cores (the estimate reaches it)"));
}

// What one iteration is, and what more batches in an epoch would give.
TEST(Report, SummaryCountsRowsOfBatches) {
  PlacementReport r;
  ReportEpoch epoch;
  epoch.graph = "fwd_0_0";
  epoch.interval = 1000;
  epoch.change = 4000;
  epoch.hidden = 1000;
  epoch.cycles = 4000 + 2000;
  epoch.ops.emplace_back();
  epoch.ops[0].name = r.totals.bottleneck_op = "exp";
  r.epochs = {epoch};
  r.totals.ops = 1;
  r.totals.cycles = 6000;
  r.totals.inputs_per_second = 1e6;
  r.batch = 6;
  EXPECT_THAT(report_summary(r)[1], HasSubstr("1000000 inputs/s (6000 cycles for a batch of 6 inputs)"));
  // 64 * 6000 cycles in 5000 + 2000 + 63 * 1000 = 70,000.
  EXPECT_THAT(report_summary(r)[2], HasSubstr("--microbatch 64 gives about 5490000 inputs/s"));
  r.epochs[0].interval = 5500;
  EXPECT_THAT(report_summary(r)[2], Not(HasSubstr("--microbatch")));
  r.totals.idle_chips = 1;
  EXPECT_THAT(report_summary(r), Contains("1 chip of the device is idle: --num-chips 0 uses all"));
  r.microbatch = 16;
  r.batch = 16;
  EXPECT_THAT(report_summary(r)[1], HasSubstr("for a microbatch of 16 inputs)"));
  r.batch = 16 * 6;
  EXPECT_THAT(report_summary(r)[1], HasSubstr("for a microbatch of 16 batches of 6 inputs)"));
}

TEST(Report, SummaryOfAModelThatTheHostExecutes) {
  PlacementReport r;
  r.model = "m";
  r.device = "n150";
  EXPECT_THAT(report_summary(r), ElementsAre("m on n150: no op on the chip, the host executes the whole model"));
}

TEST(Report, CountsInputsNotBatches) {
  auto shape = [](graph::Graph& g, graph::NodeId id, std::int64_t rows) {
    g.node(id).attrs["model_shape"] = std::vector<std::int64_t>{rows, 64};
  };
  graph::Graph g = perceptron(64, {64, 64});
  shape(g, g.inputs()[0], 64);
  shape(g, g.outputs()[0], 64);
  auto batch = balance_with(g, "n150");
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->report.batch, 64);
  const double runs = 1e9 / static_cast<double>(batch->report.totals.cycles);
  EXPECT_NEAR(batch->report.totals.inputs_per_second, 64 * runs, 64 * runs * 0.01);
  EXPECT_THAT(report_summary(batch->report)[1], HasSubstr(" cycles for a batch of 64 inputs), limited by"));
  // Sizes that differ are no batch.
  shape(g, g.outputs()[0], 32);
  auto other = balance_with(g, "n150");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->report.batch, 1);
}

TEST(Cost, OfTransfersFollowsWhereAnInputIs) {
  const auto& device = board("n150");
  netlist::Op op;
  op.type = netlist::OpType::add;
  op.block = {2, 3, 2, 2, 4};
  op.inputs.resize(2);
  op.inputs[0].format = op.inputs[1].format = op.out_format = DataFormat::float16_b;
  // From DRAM and from a neighbour an input of 96 tiles takes its bytes over half a link, which is less than a channel gives.
  Traffic near, far;
  far.input_from_dram = {true, false};
  EXPECT_NEAR(estimate(op, 1e6, near, device).inputs[0], 96 * 2080 / 16.0, 0.01);
  EXPECT_NEAR(estimate(op, 1e6, far, device).inputs[0], 96 * 2080 / 16.0, 0.01);
  EXPECT_EQ(estimate(op, 1e6, near, device).dram_bytes, 0);
  EXPECT_EQ(estimate(op, 1e6, far, device).dram_bytes, 96 * 2080);
  EXPECT_EQ(estimate(op, 1e6, far, device).noc_bytes, 96 * 2080);
  EXPECT_NEAR(estimate(op, 1e6, far, device).inputs[1], 96 * 2080 / 16.0, 0.01);
  EXPECT_EQ(estimate(op, 1e6, far, device).limiter(), 1e6);
}

}  // namespace
}  // namespace buda::balance
