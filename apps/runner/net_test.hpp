// SPDX-License-Identifier: Apache-2.0
// A bare netlist's outputs against its reference, as its test-config asks.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/runtime/session/test_config.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::runner {

// Compares the outputs that io-config lists, or all, prints a table, and fails (Fault::mismatch) where one is not as comparison-config
// wants it: correlation 0.99 where there is none. What lies outside of check_tile_rows_range and check_tile_cols_range does not count.
Result<void> compare_with_reference(const netlist::Netlist& netlist, const runtime::TestConfig& config, const NamedTensors& outputs,
                                    const NamedTensors& reference, Host& host);

}  // namespace buda::runner
