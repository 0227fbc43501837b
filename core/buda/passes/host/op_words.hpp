// SPDX-License-Identifier: Apache-2.0
// What users and frontends call the ops of tensor level.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {

// A gather of rows from a table that is known, by indices that are not.
inline constexpr std::string_view kEmbedding = "embedding";

// The ops of tensor level that a word stands for: its own name, or that of Relay ("nn.softmax"), PyBuda ("take"), ONNX ("MatMul"), PyTorch
// ("aten::linear"), TensorFlow ("Conv2D"), TFLite ("FULLY_CONNECTED") or StableHLO ("stablehlo.dot_general"). "conv" stands for those of
// one, two and three dimensions. "embedding" stands for itself. Empty where there is none.
std::vector<std::string> tensor_ops_of(std::string_view word);

// The word that was meant, where `word` is none.
std::optional<std::string> nearest_op_word(std::string_view word);

}  // namespace buda::passes
