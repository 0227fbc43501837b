// Selections of rows for which the device has no room: the host runs them.
//
// To pick rows, as the windows of a convolution do, is a movement of data, which the host can do as well. A model is not refused for it.
// What computes, such as products, is not taken to the host without being asked.
#pragma once

#include <buda/compiler/balancer_options.hpp>
#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>

#include <map>
#include <optional>
#include <string>

namespace buda::compiler {

// By the name of the op: why the device has no room for it.
using HostedSelections = std::map<std::string, std::string>;

// Those for which place() has failed with BalancerOptions::hosts_selections; nothing where anything else was wrong.
std::optional<HostedSelections> selections_without_room(const Failure& failure);

// Names them for the host, and tells so. Nothing changes, and the result is false, where all of them are named already.
bool name_for_host(OptimizerOptions& options, const HostedSelections& selections);
Diagnostic told_of_host(const std::string& op, const std::string& why);

// A JSON map, in which the balancer hands them on to the driver.
std::string selections_text(const HostedSelections& selections);
Result<HostedSelections> parse_selections(std::string_view text, const std::string& file);

}  // namespace buda::compiler
