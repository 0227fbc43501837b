// SPDX-License-Identifier: Apache-2.0
// Which nodes make a loop.
#include "loops.hpp"

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

const format::NodeDef* behind(const Body& body, const format::NodeDef& node, int input) {
  return input < node.input_size() ? body.find(parse_port(node.input(input)).node) : nullptr;
}

}  // namespace

bool is_one_of(const format::NodeDef& node, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), node.op()) != ops.end();
}
bool is_switch(const format::NodeDef& node) { return is_one_of(node, {"Switch", "RefSwitch"}); }
bool is_merge(const format::NodeDef& node) { return is_one_of(node, {"Merge", "RefMerge"}); }
bool is_enter(const format::NodeDef& node) { return is_one_of(node, {"Enter", "RefEnter"}); }
bool is_exit(const format::NodeDef& node) { return is_one_of(node, {"Exit", "RefExit"}); }

std::string frame_of(const format::NodeDef& enter) {
  auto found = enter.attr().find("frame_name");
  return found == enter.attr().end() ? "" : found->second.s();
}

Loops::Found Loops::find(const Body& body) {
  Found out;
  std::unordered_map<std::string, std::size_t> by_frame;
  std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> states;  // by Merge: the loop, and which state it is
  for (int i = 0; i < body.nodes->size(); ++i) {
    const auto& node = (*body.nodes)[i];
    if (!is_merge(node)) continue;
    const auto *first = behind(body, node, 0), *next = behind(body, node, 1);
    if (first == nullptr || next == nullptr || !is_enter(*first) || !is_one_of(*next, {"NextIteration", "RefNextIteration"}) ||
        first->input_size() < 1 || next->input_size() < 1)
      continue;
    auto [loop, added] = by_frame.try_emplace(frame_of(*first), out.loops.size());
    if (added) out.loops.push_back({loop->first, {}, {}, -1});
    auto& of_loop = out.loops[loop->second].states;
    states[node.name()] = {loop->second, of_loop.size()};
    of_loop.push_back({i, first->input(0), next->input(0)});
  }
  auto state_of = [&](const format::NodeDef* node) {
    return node == nullptr || !is_switch(*node) || node->input_size() < 2 ? states.end() : states.find(parse_port(node->input(0)).node);
  };
  for (int i = 0; i < body.nodes->size(); ++i) {
    const auto& node = (*body.nodes)[i];
    if (auto state = state_of(&node); state != states.end()) {
      const auto* condition = behind(body, node, 1);
      if (condition != nullptr && condition->op() == "LoopCond")
        out.loops[state->second.first].condition = body.index.at(condition->name());
    }
    if (!is_exit(node)) continue;
    if (auto state = state_of(behind(body, node, 0)); state != states.end()) {
      out.loops[state->second.first].exits.emplace_back(i, state->second.second);
      out.by_exit.emplace(i, state->second.first);
    }
  }
  return out;
}

const Loop* Loops::left_by(const Body& body, int exit) {
  auto known = found_.find(&body);
  if (known == found_.end()) known = found_.emplace(&body, find(body)).first;
  auto loop = known->second.by_exit.find(exit);
  return loop == known->second.by_exit.end() ? nullptr : &known->second.loops[loop->second];
}

}  // namespace buda::tensorflow_frontend
