// SPDX-License-Identifier: Apache-2.0
// What follows a product or a normalisation within one node of TensorFlow's optimiser (Grappler).
#pragma once

#include "node_import.hpp"

#include <string>
#include <vector>

namespace buda::tensorflow_frontend {

// The operators behind the first one of a node, in their order ("fused_ops"): BiasAdd, Add, FusedBatchNorm, and activations. What they read
// besides the result before them are the node's inputs from `first_argument` on.
class FollowingOps {
 public:
  FollowingOps(NodeImport& node, std::size_t first_argument);

  // The bias, if it comes first and has one number for each of the channels: convolutions and products add it themselves.
  Result<graph::ValueRef> take_bias(std::int64_t channels);
  // The builder for what they follow: it gives the node's name where there are none.
  ops::Builder& before();
  // The rest of them on a value, whose channels are axis 1 (`channels_first`: of an image) or the last one.
  Result<graph::ValueRef> apply(graph::ValueRef value, bool channels_first);

 private:
  Result<graph::ValueRef> next_argument();
  Result<graph::ValueRef> along_channels(graph::ValueRef argument, std::size_t rank, bool channels_first, std::string_view step);
  Result<graph::ValueRef> apply_one(const std::string& op, graph::ValueRef value, bool channels_first, bool last);

  NodeImport* node_;
  std::vector<std::string> ops_;
  std::size_t argument_;
  int steps_ = 0;
};

}  // namespace buda::tensorflow_frontend
