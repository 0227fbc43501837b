// SPDX-License-Identifier: Apache-2.0
// Data for the page: scripts, since a page that was opened from disk may load nothing else.
#pragma once

#include <buda/io/node.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::reportify {

// Names and values that are shown as a table.
using Facts = std::vector<std::pair<std::string, std::string>>;

// [["name", "value"], …]: no name from a file becomes a key of an object.
io::Node facts_node(const Facts& facts);

// "reportify.receive(ID, DATA);".
std::string data_script(std::string_view id, const io::Node& data);

}  // namespace buda::reportify
