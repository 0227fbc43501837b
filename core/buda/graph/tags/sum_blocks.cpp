// SPDX-License-Identifier: Apache-2.0
// The tag's two numbers.
#include <buda/graph/tags/sum_blocks.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

#include <optional>

namespace buda::graph {

void set_sum_blocks(Node& node, SumBlocks blocks) { node.tags[kSumBlocks] = cat(blocks.least, '-', blocks.most); }

Result<std::optional<SumBlocks>> sum_blocks(const Node& node) {
  const auto tag = node.tags.find(kSumBlocks);
  if (tag == node.tags.end()) return std::optional<SumBlocks>();
  const auto ends = split(tag->second, '-');
  const auto least = parse_int(ends.front()), most = ends.size() == 2 ? parse_int(ends.back()) : std::nullopt;
  if (!least || !most || *least < 1 || *least > *most)
    return input_error("GR027", node.loc,
                       cat("node '", node.name(), "': tag ", kSumBlocks, " has '", tag->second, "', which is not LEAST-MOST tiles"));
  return std::optional(SumBlocks{*least, *most});
}

}  // namespace buda::graph
