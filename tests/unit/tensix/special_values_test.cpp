// SPDX-License-Identifier: Apache-2.0
// The table of docs/internals/special-values.md on cores: the kernel of each of its ops gives golden's bits for each of its numbers.
#include "kernel_fixture.hpp"

#include "unit/arith/special_values_rows.hpp"

#include <algorithm>
#include <set>

namespace buda::tensix::test {
namespace {

namespace special = arith::special_values;

constexpr std::ptrdiff_t kPairs = 16 * 16;

// Each kind of op once, in default formats.
std::string netlist_of(const std::vector<special::Row>& rows) {
  std::string queues = golden::test::queue("a", "HOST", 1, 1, 1, "Float16_b") + golden::test::queue("b", "HOST", 1, 1, 1, "Float16_b");
  std::string ops;
  std::set<netlist::OpType> types;
  for (const special::Row& row : rows) {
    if (!types.insert(row.type).second) continue;
    OpText o = op(std::string(netlist::op_type_name(row.type)),
                  row.second == nullptr ? std::vector<std::string>{"a"} : std::vector<std::string>{"a", "b"}, "Float16_b", "Float16_b",
                  "Float16_b");
    o.name = o.type;
    o.fidelity = "HiFi3";
    ops += o.text();
    queues += golden::test::queue("out_" + o.name, o.name, 1, 1, 1, "Float16_b");
  }
  return netlist_text(queues, ops, once(cat(at_start("a"), ", ", at_start("b"))));
}

// Each of the table's numbers and, of two operands, what stands beside it; behind them all pairs of special numbers.
std::vector<special::Numbers> operands_of(const special::Row& row) {
  const special::Pairs pairs;
  std::vector<special::Numbers> out(row.second == nullptr ? 1 : 2);
  for (const special::Column& column : special::columns()) {
    out[0].push_back(column.value);
    if (row.second != nullptr) out[1].push_back(*row.second(column.value));
  }
  out[0].insert(out[0].end(), pairs.a.begin(), pairs.a.begin() + kPairs);
  if (row.second != nullptr) out[1].insert(out[1].end(), pairs.b.begin(), pairs.b.begin() + kPairs);
  return out;
}

TEST_F(Kernels, SpecialValuesHaveTheBitsOfTheTable) {
  const std::vector<special::Row> rows = special::table_rows();
  const std::string text = netlist_of(rows);
  const auto netlist = netlist::parse_netlist(text, "test.yaml");
  ASSERT_TRUE(netlist.ok()) << golden::test::first_error(netlist.failure());
  const auto set = build(text, compilers().front().name);
  ASSERT_TRUE(set.ok()) << golden::test::first_error(set.failure());
  Counts counts;
  for (const special::Row& row : rows) {
    const auto& ops = netlist->graphs[0].ops;
    const auto found = std::find_if(ops.begin(), ops.end(), [&](const netlist::Op& o) { return o.type == row.type; });
    ASSERT_NE(found, ops.end()) << row.text;
    const std::vector<special::Numbers> numbers = operands_of(row);
    std::vector<arith::ValuePtr> inputs;
    for (const special::Numbers& n : numbers) inputs.push_back(special::tile(DataFormat::float16_b, n));
    const arith::Outcome outcome = run_op(*set, l1(), {*found, inputs, arith::Mode::bits, 1, nullptr, nullptr}, counts);
    const auto* made = std::get_if<arith::Value>(&outcome);
    ASSERT_NE(made, nullptr) << row.text << ": " << std::get<std::string>(outcome);
    // The numbers of which unit.arith makes the table.
    const special::Numbers expected = special::run(special::op_of(row.type, {}, inputs.size()), arith::Mode::bits, numbers);
    for (std::size_t i = 0; i < numbers[0].size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(made->floats[i]), std::bit_cast<std::uint32_t>(expected[i]))
          << row.text << ": of " << numbers.front()[i] << " and " << numbers.back()[i] << " comes " << made->floats[i] << ", not "
          << expected[i];
  }
  EXPECT_GT(counts.coprocessor, 0u);
}

}  // namespace
}  // namespace buda::tensix::test
