// SPDX-License-Identifier: Apache-2.0
// Labels of nodes from their origins.
#include <buda/graph/drawing/label.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

#include <string_view>

namespace buda::graph {
namespace {

constexpr std::size_t kMaxParts = 8;

// What a pass appended to the name of one of the origins: ".mask"; empty where the name is none of theirs.
std::string_view suffix_of(const Node& n) {
  std::string_view suffix;
  std::size_t longest = 0;
  for (const Origin& origin : n.origins) {
    const bool extends = n.name().size() > origin.node.size() && n.name().starts_with(origin.node) && n.name()[origin.node.size()] == '.';
    if ((!extends && n.name() != origin.node) || origin.node.size() <= longest) continue;
    longest = origin.node.size();
    suffix = std::string_view(n.name()).substr(longest);
  }
  return suffix;
}

}  // namespace

std::vector<std::string> label_parts(const Node& n) {
  if (!n.is_op() || n.origins.size() < 2) return {n.name()};
  std::vector<std::string> parts;
  const bool all = n.origins.size() <= kMaxParts;
  for (std::size_t i = 0; i < (all ? n.origins.size() : kMaxParts - 1); ++i) parts.push_back(n.origins[i].node);
  if (!all) parts.push_back(cat(n.origins.size() - parts.size(), " more"));
  parts.back() += suffix_of(n);
  return parts;
}

std::string label(const Node& n) { return join(label_parts(n), " + "); }

}  // namespace buda::graph
