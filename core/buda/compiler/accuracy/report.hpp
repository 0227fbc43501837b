// SPDX-License-Identifier: Apache-2.0
// What the accuracy budget tells, in lines for people, and the file of rules.
#pragma once

#include <buda/compiler/accuracy/op_losses.hpp>
#include <buda/io/host.hpp>
#include <buda/io/node.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::compiler {

std::string percent_text(std::int64_t before, std::int64_t after);  // "+2.1 %"

// Of what outputs lose that miss their criteria, the parts that ops make; of all outputs where none misses.
std::vector<double> shares_of_loss(const std::vector<OpLoss>& losses, const std::vector<double>& misses);
// The ops that lose most, with -v.
void log_losses(const std::vector<OpLoss>& losses, const std::vector<double>& misses, Host& host);
// What is raised, by kind of raise. `ops`: how many there are.
void log_raised(const std::vector<RaisedOp>& raised, std::size_t ops, Host& host);
// A file for --config.
std::string rules_text(const std::vector<io::Node>& rules);

}  // namespace buda::compiler
