// SPDX-License-Identifier: Apache-2.0
// Loops of control flow v1: nodes that point back to earlier ones.
//
// A loop has a frame's name. Each of its states comes in through Enter; Merge takes it, or what NextIteration brings back; LoopCond decides
// whether Switch hands it to the body or to Exit.
#pragma once

#include "model.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace buda::tensorflow_frontend {

bool is_one_of(const format::NodeDef& node, std::initializer_list<std::string_view> ops);
bool is_switch(const format::NodeDef& node);
bool is_merge(const format::NodeDef& node);
bool is_enter(const format::NodeDef& node);
bool is_exit(const format::NodeDef& node);
// Of an Enter: the loop that it leads into.
std::string frame_of(const format::NodeDef& enter);

struct Loop {
  struct State {
    int merge = 0;
    std::string_view first, next;  // values: before the first iteration, and after each
  };
  std::string frame;
  std::vector<State> states;
  std::vector<std::pair<int, std::size_t>> exits;  // nodes that give a state after the last iteration
  int condition = -1;                              // the node LoopCond
};

// The loops of bodies, which are looked for once.
class Loops {
 public:
  // Null for an Exit that belongs to no loop.
  const Loop* left_by(const Body& body, int exit);

 private:
  struct Found {
    std::vector<Loop> loops;
    std::unordered_map<int, std::size_t> by_exit;
  };
  static Found find(const Body& body);

  std::unordered_map<const Body*, Found> found_;
};

}  // namespace buda::tensorflow_frontend
