// SPDX-License-Identifier: Apache-2.0
// Checks the operands of ops: what comes, and the buffers for it. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/findings.hpp>

#include <cstdint>

namespace buda::pipes {

// Every input of every core (check_rows.hpp has those that are rows), every output, and the queues that the op writes.
void check_op(const Checked& checked, const netlist::Op& op, const netlist::Graph& graph, Findings& findings);

// PC016 where the keys of an input's buffer contradict the `delivered` tiles of one input.
void check_kernel_buffer(const netlist::Op& op, const netlist::Graph& graph, std::size_t input, const Buffer& buffer,
                         std::int64_t delivered, Findings& findings);

}  // namespace buda::pipes
