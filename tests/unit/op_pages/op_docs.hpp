// SPDX-License-Identifier: Apache-2.0
// The op types for people: the pages in docs/ops are written from the table of device ops, from this one, from the attributes and from
// the rules.
#pragma once

#include <buda/netlist/model/op_types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

struct OpInputDoc {
  std::string_view name;
  std::string_view shape;    // that it has after its manipulations, in tiles; T, R, C are those of the output
  std::string_view formats;  // which in_df
};

// What netlists have to say of a type besides its row in ops/table/device_op.hpp.
struct OpDoc {
  OpType type{};
  std::vector<OpInputDoc> inputs;
  std::string_view block;               // what t, mblock and ublock of the output have to be
  std::string_view formats;             // out_df, intermed_df, acc_df and math_fidelity
  std::vector<std::string_view> rules;  // those that concern this type; others hold for all
  std::string_view example;             // in share/examples/netlists, without .yaml
  std::vector<std::string_view> more_examples;
};

// Of every op type, in the order of all_op_types().
const std::vector<OpDoc>& all_op_docs();

// The page of an op type, in Markdown. `example` is the text of its example.
std::string op_page(const OpDoc& doc, std::string_view example);

}  // namespace buda::netlist
