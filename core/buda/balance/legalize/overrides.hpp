// SPDX-License-Identifier: Apache-2.0
// Overrides of single ops by the user: op.NAME.grid=[2,2] and others, from --set and config files.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/problem.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::balance {

// The forms for --help and messages.
inline constexpr const char* kOverrideForms =
    "op.NAME.grid=[R,C], op.NAME.mblock=[M,N], op.NAME.ublock=[R,C], op.NAME.u_kt=N, op.NAME.t-stream=[R,C], "
    "op.NAME.t-stream-dir=n|r|c|rz|cz, op.NAME.buf_size_mb=N, op.NAME.input-buffer-multiplier=INPUT:N, op.NAME.place=[R,C], "
    "op.NAME.transpose=true|false, op.NAME.dram-parameters=true|false, op.NAME.resident-inputs=[INPUT,…], op.NAME.bands=N, "
    "op.NAME.wide-sums=none|sums|all, op.NAME.epoch-break=true|false, op.NAME.chip=N";

// What is wrong with keys and values whatever the ops are (BL021, BL022): asked before there is a graph.
Result<void> check_override_forms(const std::map<std::string, std::string>& given);

// One override per op, by OpId; most are empty. Keys are without "op.": "fc1.grid". NAME is that of a node or of its netlist op. All
// unknown names, unknown keys, bad values and impossible blockings are reported, each with what is allowed.
Result<std::vector<OpOverride>> parse_overrides(const Problem& problem, const std::map<std::string, std::string>& given);

// Why an override leaves an op without a model although it would have some. `nearest`: the legal choices that are nearest to it
// (nearest_legal.hpp), in words.
Diagnostic illegal_override(const OpSpec& spec, const OpOverride& overrides, const std::vector<std::string>& nearest,
                            const device::DeviceDescriptor& device);

}  // namespace buda::balance
