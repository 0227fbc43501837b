// SPDX-License-Identifier: Apache-2.0
// exact-integers: what stays on the device means what it meant, and what would be rounded is not left there.
#include "values.hpp"

#include <buda/graph/tags/placement.hpp>
#include <buda/passes/integers/digit_parts.hpp>
#include <buda/passes/integers/exact_limits.hpp>
#include <buda/passes/integers/integer_range.hpp>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;

struct IntegerCase {
  std::string op;
  std::vector<Shape> shapes;
  DType dtype = DType::i32;
  IntegerRange first, others;
  graph::AttrMap attrs = {};
  bool on_device = true;
};

std::ostream& operator<<(std::ostream& out, const IntegerCase& c) {
  return out << c.op << ' ' << dtype_name(c.dtype) << ' ' << c.first.text() << ", " << c.others.text();
}

// Numbers of a range, its ends and neighbours of the ends among them.
Tensor numbers_of(const IntegerRange& range, const Shape& shape, DType dtype, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::int64_t> v(static_cast<std::size_t>(*shape.volume()));
  for (std::int64_t& x : v) {
    const auto width = static_cast<std::uint64_t>(range.most - range.least) + 1;
    x = range.least + static_cast<std::int64_t>(rng.below(width));
  }
  if (!v.empty()) v.front() = range.least;
  if (v.size() > 1) v.back() = range.most;
  return Tensor(shape, std::move(v)).cast(dtype);
}

bool is_computed_on_host(const Graph& graph) {
  for (const NodeId id : graph.ids())
    if (const Node& n = graph.node(id); n.is_op() && graph::on_host(n) && !n.tags.contains(kDigits)) return true;
  return false;
}

class Integers : public testing::TestWithParam<IntegerCase> {};

TEST_P(Integers, AreExact) {
  const IntegerCase& c = GetParam();
  for (const bool wide : {true, false}) {
    Bench bench;
    bench.device = wide ? wormhole_like() : grayskull_like();
    bench.context.decompositions = &plugin_decompositions();
    Builder b("g");
    NamedTensors inputs;
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < c.shapes.size(); ++i) {
      const std::string name = cat('x', i);
      const IntegerRange& range = i == 0 ? c.first : c.others;
      const ValueRef x = b.input(name, c.shapes[i], c.dtype);
      b.node(x).tags[kValueRange] = cat(range.least, ':', range.most);
      edges.emplace_back(x);
      inputs.emplace(name, numbers_of(range, c.shapes[i], c.dtype, 7 + i));
    }
    const ValueRef y = called(b, "y", b.op(c.op, edges, c.attrs));
    for (std::uint32_t port = 0; port < b.node(y).outputs.size(); ++port) b.output(cat("out", port), ValueRef(y.node, port));
    Graph graph = finished(b);
    const NamedTensors before = evaluated(graph, inputs);
    bench.run(kExactIntegers, graph);
    for (const auto& [name, tensor] : evaluated(graph, inputs)) EXPECT_EQ(tensor, before.at(name)) << c << " " << name;
    if (wide) EXPECT_EQ(is_computed_on_host(graph), !c.on_device) << c;
    bench.run(kDecompose, graph);
    for (const auto& [name, tensor] : evaluated(graph, inputs)) EXPECT_EQ(tensor, before.at(name)) << c << " decomposed " << name;
  }
}

constexpr IntegerRange kSmall{-100, 100}, kOperand{-2047, 2047}, kIds{0, 50256}, kLarge{-1000000, 1000000}, kHuge{-2000000000, 2000000000};

// Who reads the low digit only takes the high one along when it goes; others then split the value anew.
TEST(ExactIntegers, DigitsThatAreGoneAreMadeAnew) {
  Bench bench;
  bench.device = wormhole_like();
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  const Edge x = b.input("x", {3, 5}, DType::i16);
  b.node(x.source).tags[kValueRange] = "0:32767";
  const Edge turned = b.op("transpose", {x}, {{"perm", Dims{1, 0}}});
  b.output("narrow", b.op("cast", {turned}, {{"dtype", std::string("I8")}}));
  b.output("twice", b.op("concatenate", {x, x}, {{"dim", std::int64_t{0}}}));
  Graph graph = finished(b);
  const NamedTensors inputs{{"x", numbers_of({0, 32767}, {3, 5}, DType::i16, 7)}};
  const NamedTensors before = evaluated(graph, inputs);
  bench.run(kExactIntegers, graph);
  EXPECT_EQ(evaluated(graph, inputs), before);
}

INSTANTIATE_TEST_SUITE_P(Compared, Integers,
                         testing::Values(IntegerCase{"equal", {{7, 13}, {13}}, DType::i32, kIds, kIds},
                                         IntegerCase{"less", {{7, 13}, {13}}, DType::i64, kLarge, kLarge},
                                         IntegerCase{"greater", {{7, 13}, {7, 13}}, DType::i64, kOperand, kLarge},
                                         IntegerCase{"less_equal", {{7, 13}, {}}, DType::u16, {0, 65535}, {0, 65535}},
                                         IntegerCase{"greater_equal", {{7, 13}, {7, 1}}, DType::i64, kHuge, kSmall},
                                         IntegerCase{"equal", {{7, 13}, {13}}, DType::i32, kHuge, kHuge, {}, false}));

INSTANTIATE_TEST_SUITE_P(Computed, Integers,
                         testing::Values(IntegerCase{"add", {{37}, {37}}, DType::i32, kIds, kIds},
                                         IntegerCase{"subtract", {{37}, {37}}, DType::i32, kIds, kOperand},
                                         IntegerCase{"add", {{37}, {37}}, DType::u8, {0, 255}, {0, 255}},
                                         IntegerCase{"subtract", {{37}, {37}}, DType::i16, {-32768, 32767}, {-32768, 32767}},
                                         IntegerCase{"add", {{37}, {37}}, DType::u16, {0, 65535}, {0, 65535}},
                                         IntegerCase{"add", {{37}, {37}}, DType::i32, {-2147483648LL, 2147483647}, kHuge, {}, false},
                                         IntegerCase{"multiply", {{37}, {37}}, DType::i32, {0, 45}, {-45, 45}},
                                         IntegerCase{"multiply", {{37}, {37}}, DType::i32, {-2047, 2047}, {0, 1}},
                                         IntegerCase{"multiply", {{37}, {37}}, DType::u8, {0, 255}, {0, 255}},
                                         IntegerCase{"multiply", {{99}, {99}}, DType::i8, {-128, 127}, {-128, 127}},
                                         IntegerCase{"multiply", {{99}, {99}}, DType::u16, {0, 65535}, {0, 65535}},
                                         IntegerCase{"multiply", {{99}, {99}}, DType::i16, {-32768, 32767}, {-32768, 32767}},
                                         IntegerCase{"multiply", {{7, 13}, {13}}, DType::i32, kOperand, {-511, 511}},
                                         IntegerCase{"multiply", {{7, 1}, {13}}, DType::i64, kIds, {-20, 20}},
                                         IntegerCase{"multiply", {{99}, {}}, DType::i64, {-1000, 1000}, {997, 997}},
                                         IntegerCase{"multiply", {{37}, {37}}, DType::i32, kIds, kIds, {}, false},
                                         IntegerCase{"negative", {{37}}, DType::i8, {-128, 127}, {}},
                                         IntegerCase{"negative", {{37}}, DType::u16, {0, 65535}, {}},
                                         IntegerCase{"abs", {{37}}, DType::i16, {-32768, 32767}, {}},
                                         IntegerCase{"add", {{99}, {99}}, DType::i32, {-2048, 2048}, {-2048, 2048}},
                                         IntegerCase{"less", {{99}, {99}}, DType::i32, {-2048, 2048}, {-2048, 2048}},
                                         IntegerCase{"negative", {{37}}, DType::i32, kIds, {}},
                                         IntegerCase{"abs", {{37}}, DType::i64, kLarge, {}},
                                         IntegerCase{"maximum", {{37}, {37}}, DType::i32, kLarge, kIds},
                                         IntegerCase{"minimum", {{37}, {37}}, DType::i32, kOperand, kIds},
                                         IntegerCase{"clip", {{37}}, DType::i32, kIds, {}, {{"min", 3000.0}, {"max", 40001.0}}},
                                         IntegerCase{"clip", {{37}}, DType::i64, {0, 15}, {}, {{"min", 1044.0}, {"max", 1e9}}},
                                         IntegerCase{"clip", {{37}}, DType::i32, kSmall, {}, {{"min", -1e9}, {"max", -1031.0}}},
                                         IntegerCase{"negative", {{7, 13065}}, DType::i32, kSmall, {}, {}, false},
                                         IntegerCase{"equal", {{13065}, {13065}}, DType::i32, kIds, kIds, {}, false},
                                         IntegerCase{"relu", {{37}}, DType::i32, kLarge, {}},
                                         IntegerCase{"shift_left", {{37}, {37}}, DType::i32, kSmall, {0, 11}, {}, false}));

INSTANTIATE_TEST_SUITE_P(Converted, Integers,
                         testing::Values(IntegerCase{"cast", {{99}}, DType::i32, kLarge, {}, {{"dtype", std::string("U8")}}},
                                         IntegerCase{"cast", {{99}}, DType::i64, kOperand, {}, {{"dtype", std::string("I8")}}},
                                         IntegerCase{"cast", {{99}}, DType::i32, kLarge, {}, {{"dtype", std::string("I16")}}},
                                         IntegerCase{"cast", {{99}}, DType::i16, {-32768, 32767}, {}, {{"dtype", std::string("U16")}}},
                                         IntegerCase{"cast", {{99}}, DType::i32, kSmall, {}, {{"dtype", std::string("U32")}}, false}));

INSTANTIATE_TEST_SUITE_P(OfBits, Integers,
                         testing::Values(IntegerCase{"bitwise_and", {{99}, {99}}, DType::i32, {0, 2000}, {0, 300}},
                                         IntegerCase{"bitwise_or", {{99}, {99}}, DType::i64, kIds, kSmall},
                                         IntegerCase{"bitwise_xor", {{7, 13}, {13}}, DType::i64, {-2048, 2048}, kOperand},
                                         IntegerCase{"bitwise_and", {{99}, {99}}, DType::i8, {-128, 127}, {-128, 127}},
                                         IntegerCase{"bitwise_xor", {{99}, {99}}, DType::u16, {0, 65535}, {0, 65535}},
                                         IntegerCase{"bitwise_or", {{99}, {99}}, DType::i16, {-32768, 32767}, {-32768, 32767}},
                                         IntegerCase{"bitwise_xor", {{99}, {99}}, DType::i32, {0, 0}, {0, 1}},
                                         IntegerCase{"bitwise_not", {{99}}, DType::u8, {0, 255}, {}},
                                         IntegerCase{"bitwise_not", {{99}}, DType::u16, {0, 65535}, {}},
                                         IntegerCase{"bitwise_not", {{99}}, DType::i64, kLarge, {}},
                                         IntegerCase{"bitwise_and", {{99}, {99}}, DType::i64, kHuge, kSmall, {}, false}));

INSTANTIATE_TEST_SUITE_P(Divided, Integers,
                         testing::Values(IntegerCase{"divide", {{99}, {99}}, DType::i32, kOperand, {-9, 9}},
                                         IntegerCase{"divide", {{99}, {99}}, DType::i64, kOperand, kOperand},
                                         IntegerCase{"divide", {{99}, {99}}, DType::u8, {0, 255}, {0, 255}},
                                         IntegerCase{"divide", {{99}, {99}}, DType::i8, {-128, -127}, {-2, -1}},
                                         IntegerCase{"divide", {{99}, {}}, DType::i16, {-32768, -32760}, {-1, -1}},
                                         IntegerCase{"remainder", {{99}, {99}}, DType::i64, kOperand, kSmall},
                                         IntegerCase{"remainder", {{99}, {99}}, DType::i8, {-128, 127}, {-9, 9}},
                                         IntegerCase{"modulo", {{99}, {99}}, DType::i16, kOperand, kSmall},
                                         IntegerCase{"modulo", {{99}, {}}, DType::i32, {0, 2000}, {64, 64}},
                                         IntegerCase{"divide", {{99}, {99}}, DType::i32, kIds, kSmall},
                                         IntegerCase{"divide", {{99}, {99}}, DType::i32, {-2048, 2048}, {-2048, 2048}},
                                         IntegerCase{"modulo", {{99}, {99}}, DType::i32, {-2048, 2048}, {0, 2048}},
                                         IntegerCase{"remainder", {{7, 1}, {7, 13}}, DType::i64, {-65536, 65536}, {-65536, 65536}},
                                         IntegerCase{"modulo", {{13}, {7, 13}}, DType::i64, {-65536, 65536}, {-1024, 1024}},
                                         IntegerCase{"divide", {{99}, {}}, DType::i64, {-65536, 65536}, {5003, 5003}},
                                         IntegerCase{"divide", {{99}, {99}}, DType::u16, {0, 65535}, {0, 65535}},
                                         IntegerCase{"divide", {{99}, {99}}, DType::i32, kHuge, kSmall, {}, false},
                                         IntegerCase{"power", {{99}, {99}}, DType::i32, {-5, 5}, {0, 5}, {}, false}));

INSTANTIATE_TEST_SUITE_P(
    Moved, Integers,
    testing::Values(IntegerCase{"transpose", {{7, 13}}, DType::i32, kIds, {}, {{"perm", Dims{1, 0}}}},
                    IntegerCase{"concatenate", {{7, 13}, {7, 5}}, DType::i32, kOperand, kIds, {{"dim", std::int64_t{1}}}},
                    IntegerCase{
                        "pad", {{7, 13}}, DType::i32, kIds, {}, {{"before", Dims{1, 0}}, {"after", Dims{0, 2}}, {"value", -3001.0}}},
                    IntegerCase{"gather", {{97, 3}, {11}}, DType::i64, {0, 96}, {-97, 96}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"gather", {{3001, 3}, {11}}, DType::i64, kIds, {-3001, 3000}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"gather_elements", {{3, 997}, {3, 997}}, DType::i64, kSmall, {-3, 2}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"gather_elements", {{2, 1009, 3}, {5, 997, 3}}, DType::i32, kIds, {-2, 1}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"gather_elements", {{31, 37}, {31, 37}}, DType::i32, {-256, 256}, {-31, 30}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"gather_elements", {{33, 997}, {3, 997}}, DType::i64, kSmall, {-3, 2}, {{"dim", std::int64_t{0}}}, false},
                    IntegerCase{"gather_nd", {{5, 31, 37}, {11, 3}}, DType::i64, kIds, {-5, 4}, {}},
                    IntegerCase{"gather_elements", {{3, 960}, {3, 960}}, DType::i64, kSmall, {-3, 2}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"gather_elements", {{5, 2999}, {5, 3}}, DType::i64, kSmall, {-2999, 2998}, {{"dim", std::int64_t{1}}}},
                    IntegerCase{"tile", {{2, 4099}}, DType::i8, kSmall, {}, {{"repeats", Dims{2, 2}}}, false},
                    IntegerCase{"tile", {{2, 4099}}, DType::i8, kSmall, {}, {{"repeats", Dims{2, 1}}}},
                    IntegerCase{"gather", {{10, 4760}, {8}}, DType::i32, kSmall, {-10, 9}, {{"dim", std::int64_t{0}}}, false},
                    IntegerCase{"gather", {{10, 4864}, {8}}, DType::i32, kSmall, {-10, 9}, {{"dim", std::int64_t{0}}}},
                    IntegerCase{"reshape", {{7, 13}}, DType::i64, kHuge, {}, {{"shape", Dims{91}}}, false}));

// Places and updates are of one range here; several updates meet.
graph::AttrMap putting(std::string reduction) { return {{"dim", std::int64_t{1}}, {"reduction", std::move(reduction)}}; }
graph::AttrMap putting_rows(std::string reduction) { return {{"reduction", std::move(reduction)}}; }

INSTANTIATE_TEST_SUITE_P(
    Put, Integers,
    testing::Values(IntegerCase{"scatter_elements", {{5, 13}, {5, 7}, {5, 7}}, DType::i64, kIds, {-13, 12}, putting("add")},
                    IntegerCase{"scatter_elements", {{5, 13}, {3, 7}, {3, 7}}, DType::i64, {-2047, 2047}, {0, 12}, putting("add")},
                    IntegerCase{"scatter_elements", {{5, 13}, {5, 3}, {5, 3}}, DType::i64, {-30, 30}, {-3, 12}, putting("mul")},
                    IntegerCase{"scatter_elements", {{5, 13}, {5, 7}, {5, 7}}, DType::i32, kLarge, {-13, 12}, putting("max")},
                    IntegerCase{"scatter_elements", {{5, 13}, {5, 7}, {5, 7}}, DType::i32, kIds, {-13, 12}, putting("min")},
                    IntegerCase{"scatter_nd", {{97, 3}, {7, 1}, {7, 3}}, DType::i32, kLarge, {0, 96}, putting_rows("add")},
                    IntegerCase{"scatter_nd", {{97, 3}, {7, 1}, {7, 3}}, DType::i64, kLarge, {0, 96}, putting_rows("max")},
                    IntegerCase{"scatter_nd", {{5, 2257}, {3, 1}, {3, 2257}}, DType::i32, {-4, 4}, {0, 4}, putting_rows("max")},
                    IntegerCase{"scatter_elements", {{997, 13}, {997, 3}, {997, 3}}, DType::i64, kIds, {-13, 12}, putting("none")},
                    IntegerCase{"scatter_elements", {{997, 5}, {991, 2}, {991, 2}}, DType::i32, kSmall, {-5, 4}, putting("add")},
                    IntegerCase{"scatter_elements", {{997, 5}, {997, 2}, {997, 2}}, DType::i32, {-30, 30}, {-3, 4}, putting("mul")},
                    IntegerCase{"scatter_elements", {{301, 67}, {301, 3}, {301, 3}}, DType::i64, kSmall, {-67, 66}, putting("none")},
                    IntegerCase{"scatter_elements", {{997, 99}, {997, 37}, {997, 37}}, DType::i64, kIds, {0, 98}, putting("max"), false},
                    IntegerCase{"scatter_elements", {{5, 99}, {5, 37}, {5, 37}}, DType::i64, kIds, {0, 98}, putting("add"), false}));

INSTANTIATE_TEST_SUITE_P(
    Found, Integers,
    testing::Values(
        IntegerCase{"argmax", {{3, 5003}}, DType::i32, kSmall, {}},
        IntegerCase{"argmin", {{3, 5003}}, DType::i32, kIds, {}, {{"last", true}}},
        IntegerCase{"argmax", {{31, 3}}, DType::i64, kLarge, {}, {{"dim", std::int64_t{0}}, {"keep_dims", false}}},
        IntegerCase{"topk", {{3, 41}}, DType::i32, kIds, {}, {{"k", std::int64_t{5}}}},
        IntegerCase{"topk", {{3, 41}}, DType::i64, kSmall, {}, {{"k", std::int64_t{3}}, {"largest", false}}},
        IntegerCase{"topk", {{3, 67}}, DType::i64, {-5, 5}, {}, {{"k", std::int64_t{43}}}},
        IntegerCase{"topk", {{67, 3}}, DType::i32, kIds, {}, {{"k", std::int64_t{67}}, {"largest", false}, {"dim", std::int64_t{0}}}},
        IntegerCase{"topk", {{997, 67}}, DType::i64, kSmall, {}, {{"k", std::int64_t{43}}}, false},
        IntegerCase{"topk", {{67, 37}}, DType::i64, kIds, {}, {{"k", std::int64_t{42}}, {"dim", std::int64_t{-2}}}},
        IntegerCase{"topk", {{13, 67}}, DType::i32, kLarge, {}, {{"k", std::int64_t{42}}, {"largest", false}}},
        IntegerCase{"one_hot", {{11}, {2}}, DType::i64, {-5, 4}, {122, 1201}, {{"depth", std::int64_t{5}}}},
        IntegerCase{"one_hot", {{11}, {2}}, DType::i32, {-3001, 3000}, {-40001, 1201}, {{"depth", std::int64_t{3001}}}},
        IntegerCase{"reduce_max", {{13, 67, 5, 3}}, DType::i32, kIds, {}, {{"dims", Dims{0}}}, false},
        IntegerCase{"reduce_min", {{13, 67, 5, 3}}, DType::i32, kIds, {}, {{"dims", Dims{2}}}},
        IntegerCase{"reduce_max", {{3, 41}}, DType::i32, kIds, {}, {{"dims", Dims{1}}}},
        IntegerCase{"reduce_min", {{3, 41}}, DType::i32, kLarge, {}, {{"dims", Dims{0}}, {"keep_dims", false}}},
        IntegerCase{"reduce_sum", {{3, 41}}, DType::i32, {-20, 20}, {}, {{"dims", Dims{1}}}},
        IntegerCase{"reduce_prod", {{5, 3}}, DType::i32, {-3, 3}, {}, {{"dims", Dims{1}}}},
        IntegerCase{"reduce_prod", {{5, 7}}, DType::i32, {-20, 20}, {}, {{"dims", Dims{1}}}, false},
        IntegerCase{"square", {{37}}, DType::i32, {-40, 40}, {}, {}, false},
        IntegerCase{"cumsum", {{1, 13}}, DType::i32, {-2048, 2048}, {}, {{"dim", std::int64_t{0}}}},
        IntegerCase{"cumsum", {{3, 41}}, DType::i64, {0, 1}, {}},
        IntegerCase{"reduce_sum", {{3, 41}}, DType::i32, {0, 20000}, {}, {{"dims", Dims{1}}}},
        IntegerCase{"reduce_sum", {{3, 7, 5}}, DType::i64, kOperand, {}, {{"dims", Dims{0, 2}}, {"keep_dims", false}}},
        IntegerCase{"reduce_sum", {{3, 41}}, DType::i8, {-128, 127}, {}, {{"dims", Dims{1}}}},
        IntegerCase{"reduce_sum", {{3, 41}}, DType::u16, {0, 65535}, {}, {{"dims", Dims{0}}}},
        IntegerCase{"cumsum", {{3, 41}}, DType::i64, kOperand, {}, {{"dim", std::int64_t{1}}}},
        IntegerCase{"cumsum", {{3, 41}}, DType::i64, {-20000, 20000}, {}, {{"dim", std::int64_t{-1}}, {"exclusive", true}}},
        IntegerCase{"cumsum", {{17, 3}}, DType::i16, {-32768, 32767}, {}, {{"dim", std::int64_t{0}}, {"reverse", true}}},
        IntegerCase{"cumsum", {{17, 3}}, DType::u8, {0, 255}, {}, {{"dim", std::int64_t{0}}, {"reverse", true}, {"exclusive", true}}},
        IntegerCase{"reduce_sum", {{3, 41}}, DType::i32, kIds, {}, {{"dims", Dims{1}}}, false}));

// Dividends next to multiples of divisors at the borders of digits and operands, where a wrong estimate of the quotient shows.
struct DivisionCase {
  std::string op;
  IntegerRange dividends, divisors;
};

std::vector<DivisionCase> divisions(const device::DeviceDescriptor& device) {
  const ExactLimits limits = exact_limits(device);
  const std::int64_t whole = limits.whole(), base = limits.base;
  const std::int64_t tops[] = {limits.operand, limits.held(), base * base - 1, base * base, base * (limits.operand - 1), whole - 1, whole};
  const std::int64_t sizes[] = {
      1,        2, base - 1, base, base + 1, limits.held() / 2, limits.held() / 2 + 1, limits.operand, limits.held(), 302, whole / base - 1,
      whole / 2};
  std::vector<DivisionCase> out;
  for (const std::int64_t top : tops)
    for (const std::int64_t size : sizes)
      for (const bool is_signed : {false, true})
        out.push_back({out.size() % 3 == 0   ? "divide"
                       : out.size() % 3 == 1 ? "modulo"
                                             : "remainder",
                       {is_signed ? -top : 0, top},
                       {is_signed  ? -size
                        : size > 1 ? 1
                                   : 0,
                        size}});
  return out;
}

// For each divisor, and its neighbours, all multiples up to a few hundred, and their neighbours.
std::pair<Tensor, Tensor> operands_of(const DivisionCase& c) {
  constexpr std::int64_t kMultiples = 150;
  std::vector<std::int64_t> dividends, divisors;
  for (const std::int64_t size : {c.divisors.least, c.divisors.least + 1, c.divisors.most - 1, c.divisors.most, c.divisors.most / 3,
                                  std::int64_t{65}, std::int64_t{130}}) {
    const std::int64_t divisor = std::clamp(size, c.divisors.least, c.divisors.most);
    const std::int64_t last = divisor == 0 ? 0 : c.dividends.most / divisor, step = std::max<std::int64_t>(std::abs(last) / kMultiples, 1);
    for (std::int64_t k = 0; k <= kMultiples; ++k)
      for (const std::int64_t next : {-1, 0, 1}) {
        const std::int64_t quotient = (last < 0 ? -1 : 1) * k * step, dividend = quotient * divisor + next;
        dividends.push_back(std::clamp(k % 2 == 0 ? dividend : -dividend, c.dividends.least, c.dividends.most));
        divisors.push_back(divisor);
      }
  }
  const Shape shape{static_cast<std::int64_t>(dividends.size())};
  return {Tensor(shape, std::move(dividends)), Tensor(shape, std::move(divisors))};
}

TEST(ExactIntegers, DivideNextToMultiples) {
  for (const bool wide : {true, false}) {
    Bench bench;
    bench.device = wide ? wormhole_like() : grayskull_like();
    std::size_t on_device = 0;
    for (const DivisionCase& c : divisions(bench.device)) {
      const auto [dividends, divisors] = operands_of(c);
      Builder b("g");
      const ValueRef x = b.input("x", dividends.shape(), DType::i64);
      const ValueRef y = b.input("y", divisors.shape(), DType::i64);
      b.node(x).tags[kValueRange] = cat(c.dividends.least, ':', c.dividends.most);
      b.node(y).tags[kValueRange] = cat(c.divisors.least, ':', c.divisors.most);
      b.output("z", called(b, "z", b.op(c.op, {x, y})));
      Graph graph = finished(b);
      const NamedTensors inputs{{"x", dividends}, {"y", divisors}};
      const NamedTensors before = evaluated(graph, inputs);
      bench.run(kExactIntegers, graph);
      on_device += is_computed_on_host(graph) ? 0 : 1;
      ASSERT_EQ(evaluated(graph, inputs), before)
          << c.op << ' ' << c.dividends.text() << " by " << c.divisors.text() << (wide ? " wide" : " narrow");
    }
    EXPECT_GT(on_device, 90u) << wide;
  }
}

// x as a float, its rounding, and that as an integer; `added` before it is rounded.
Graph rounded_integers(double added) {
  Builder b("g");
  const ValueRef x = b.input("x", {7, 13}, DType::i32);
  b.node(x).tags[kValueRange] = "0:50256";
  ValueRef number = called(b, "number", b.op("cast", {b.op("transpose", {x}, {{"perm", Dims{1, 0}}})}, {{"dtype", std::string("F32")}}));
  if (added != 0) number = called(b, "sum", b.add(number, b.constant(added, DType::f32)));
  const ValueRef whole = called(b, "whole", b.op("floor", {number}));
  b.output("y", called(b, "again", b.op("cast", {whole}, {{"dtype", std::string("I64")}})));
  return finished(b);
}

TEST(ExactIntegers, AreWhatTheyWereBehindAFloat) {
  Bench bench;
  Graph graph = rounded_integers(0);
  const NamedTensors inputs{{"x", numbers_of({0, 50256}, {7, 13}, DType::i32, 3)}};
  const NamedTensors before = evaluated(graph, inputs);
  bench.run(kExactIntegers, graph);
  EXPECT_FALSE(is_computed_on_host(graph));
  EXPECT_EQ(evaluated(graph, inputs).at("y"), before.at("y"));
  for (const NodeId id : graph.ids()) EXPECT_FALSE(is_float(graph.node(id).outputs.empty() ? DType::i32 : graph.node(id).outputs[0].dtype));
}

TEST(ExactIntegers, AreFloatsOnTheHostWhereThoseAreRounded) {
  Bench bench;
  Graph graph = rounded_integers(0.5);
  const NamedTensors inputs{{"x", numbers_of({0, 50256}, {7, 13}, DType::i32, 3)}};
  const NamedTensors before = evaluated(graph, inputs);
  bench.run(kExactIntegers, graph);
  EXPECT_EQ(evaluated(graph, inputs).at("y"), before.at("y"));
  std::size_t floats = 0;
  for (const NodeId id : graph.ids()) {
    const Node& n = graph.node(id);
    if (!n.is_op() || !is_float(n.outputs[0].dtype)) continue;
    ++floats;
    EXPECT_TRUE(graph::on_host(n)) << n.name();
  }
  EXPECT_EQ(floats, 3u);
}

// Rows are copied by a product, which takes a bit less than a sum.
TEST(ExactIntegers, AreComparedInDigitsWhereRowsAreCopied) {
  for (const bool copied : {false, true}) {
    Bench bench;
    Builder b("g");
    const ValueRef x = b.input("x", {33, 7}, DType::i32);
    const ValueRef row = b.input("row", copied ? Shape{1, 7} : Shape{33, 7}, DType::i32);
    for (const ValueRef& value : {x, row}) b.node(value).tags[kValueRange] = "0:2047";
    b.output("y", called(b, "e", b.op("equal", {x, row})));
    Graph graph = finished(b);
    bench.run(kExactIntegers, graph);
    std::size_t comparisons = 0;
    for (const NodeId id : graph.ids()) comparisons += graph.node(id).op() == "equal" ? 1 : 0;
    EXPECT_EQ(comparisons, copied ? 2u : 1u);
  }
}

TEST(ExactIntegers, NameWhatWouldKeepAnOpOnTheDevice) {
  Bench bench;
  Builder b("g");
  const ValueRef ids = b.input("ids", {8}, DType::i64);
  b.output("y", called(b, "e", b.op("equal", {ids, b.constant(50256.0, DType::i64)})));
  Graph graph = finished(b);
  bench.run(kExactIntegers, graph);
  ASSERT_EQ(bench.sink.diagnostics().size(), 1u);
  const Diagnostic& d = bench.sink.diagnostics().front();
  EXPECT_EQ(d.code, "PA080");
  EXPECT_NE(d.message.find("'e' (equal) runs on the host, since 'ids' may be"), std::string::npos) << d.message;
  EXPECT_NE(d.hint.find("--value-range ids="), std::string::npos) << d.hint;
}

// Nothing is computed with the numbers of the selected rows: they may be as large as the table has rows.
TEST(ExactIntegers, LeaveTheRowsThatASparseProductPicks) {
  Bench bench;
  bench.device = wormhole_like();
  Builder b("g");
  constexpr std::int64_t rows = 70001;
  const ValueRef picks = b.constant(Tensor(Shape{1, 3, 2}, std::vector<std::int32_t>{rows, 0, 4099, 1, 2053, 65537}));
  b.output("y", b.op("sparse_matmul", {picks, b.input("x", {1, 1, rows, 5})}));
  Graph graph = finished(b);
  EXPECT_FALSE(bench.run(kExactIntegers, graph).changed());
  EXPECT_FALSE(is_computed_on_host(graph));
  EXPECT_TRUE(bench.sink.diagnostics().empty());
}

TEST(ExactIntegers, AreAnErrorWithoutAHost) {
  Bench bench;
  bench.context.fallback.enabled = false;
  Builder b("g");
  const ValueRef ids = b.input("ids", {8}, DType::i64);
  b.output("y", called(b, "e", b.op("equal", {ids, b.constant(50256.0, DType::i64)})));
  Graph graph = finished(b);
  EXPECT_NE(bench.error(kExactIntegers, graph).find("PA080: 'e' (equal) cannot run on the device"), std::string::npos);
}

TEST(IntegerRanges, AreIntervals) {
  const IntegerRange a{-3, 5}, b{2, 7};
  EXPECT_EQ(a + b, (IntegerRange{-1, 12}));
  EXPECT_EQ(a - b, (IntegerRange{-10, 3}));
  EXPECT_EQ(a * b, (IntegerRange{-21, 35}));
  EXPECT_EQ(without_sign(a), (IntegerRange{0, 5}));
  EXPECT_EQ(without_sign({-7, -2}), (IntegerRange{2, 7}));
  EXPECT_EQ(sum_of(a, 4), (IntegerRange{-12, 20}));
  EXPECT_EQ(parse_range("-3:5"), a);
  EXPECT_EQ(parse_range("5:-3"), std::nullopt);
  EXPECT_EQ(parse_range("5"), std::nullopt);
  const IntegerRange all = range_of_type(DType::i64);
  EXPECT_EQ(all + all, all);
}

}  // namespace
}  // namespace buda::passes
