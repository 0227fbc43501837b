// SPDX-License-Identifier: Apache-2.0
// Netlists whose paths part and meet again, with buffers of given sizes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace buda::liveness {

// What is said of sizes beyond what the ops need.
struct Sizes {
  std::map<std::string, std::string> inputs;  // input_buf_min_size_tiles by op: "64, 0"
  std::map<std::string, int> outputs;         // buf_size_mb by op
  std::map<std::string, int> entries;         // by queue
};

// The sizes, and what a hint asks for in addition. False where it asks for something else.
bool add_hint_to(Sizes& sizes, const std::string& hint);
// The same with one tile, half an output buffer, or one entry less than the hint asks for.
bool add_less_than_hint_to(Sizes& sizes, const std::string& hint);

struct Family {
  std::string name;
  std::function<std::string(const Sizes&)> text;
};

// Some hundred, all different; which of them deadlock as they are, is not known here.
std::vector<Family> families();

}  // namespace buda::liveness
