// SPDX-License-Identifier: Apache-2.0
// Words are compared without what differs between frameworks: prefixes, capitals, underscores and versions.
#include <buda/passes/host/op_words.hpp>

#include <buda/base/spelling.hpp>
#include <buda/ops/table/registry.hpp>

#include <algorithm>
#include <cctype>
#include <map>

namespace buda::passes {
namespace {

using Ops = std::vector<std::string>;

// "aten::conv2d", "CONV_2D", "Conv2D" and "nn.conv2d" become "conv2d".
std::string bare_word(std::string_view word) {
  const std::size_t prefix = word.find_last_of(".:/");
  std::string out;
  for (char c : word.substr(prefix == std::string_view::npos ? 0 : prefix + 1))
    if (c != '_' && c != '-') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Ops of_all_dimensions(const std::string& before, const std::string& behind) {
  Ops out;
  for (const char* dimensions : {"1d", "2d", "3d"}) out.push_back(before + dimensions + behind);
  return out;
}

// Where frameworks have another word than this project.
std::map<std::string, Ops> other_op_words() {
  const Ops convolutions = of_all_dimensions("conv", ""), transposed = of_all_dimensions("conv", "_transpose"),
            averages = of_all_dimensions("avg_pool", ""), maxima = of_all_dimensions("max_pool", "");
  return {
      {"adaptiveavgpool1d", {"avg_pool1d"}},
      {"adaptiveavgpool2d", {"avg_pool2d"}},
      {"adaptivemaxpool2d", {"max_pool2d"}},
      {"addmm", {"gemm"}},
      {"advindex", {"gather_nd"}},
      {"averagepool", averages},
      {"averagepool2d", {"avg_pool2d"}},
      {"avgpool", averages},
      {"batchmatmul", {"matmul"}},
      {"batchnormalization", {"batchnorm"}},
      {"bmm", {"matmul"}},
      {"broadcastto", {"broadcast"}},
      {"cat", {"concatenate"}},
      {"concat", {"concatenate"}},
      {"concatenation", {"concatenate"}},
      {"conv", convolutions},
      {"convolution", convolutions},
      {"convtranspose", transposed},
      {"convtranspose1d", {"conv1d_transpose"}},
      {"convtranspose2d", {"conv2d_transpose"}},
      {"convtranspose3d", {"conv3d_transpose"}},
      {"cos", {"cosine"}},
      {"dense", {"matmul"}},
      {"dequantizelinear", {"dequantize"}},
      {"div", {"divide"}},
      {"dot", {"matmul"}},
      {"dotgeneral", {"matmul"}},
      {"expand", {"broadcast"}},
      {"expanddims", {"unsqueeze"}},
      {"exponential", {"exp"}},
      {"fastsoftmax", {"softmax"}},
      {"floormod", {"modulo"}},
      {"fullyconnected", {"gemm", "matmul"}},
      {"globalaveragepool", {"reduce_avg"}},
      {"globalmaxpool", {"reduce_max"}},
      {"hardswish", {"hard_swish"}},
      {"hslice", {"slice"}},
      {"hstack", {"concatenate"}},
      {"index", {"slice"}},
      {"layernormalization", {"layernorm"}},
      {"linear", {"gemm", "matmul"}},
      {"logistic", {"sigmoid"}},
      {"max", {"reduce_max"}},
      {"maxpool", maxima},
      {"mean", {"reduce_avg"}},
      {"min", {"reduce_min"}},
      {"mm", {"matmul"}},
      {"mod", {"remainder"}},
      {"mul", {"multiply"}},
      {"neg", {"negative"}},
      {"notequal", {"equal"}},
      {"permute", {"transpose"}},
      {"pow", {"power"}},
      {"prod", {"reduce_prod"}},
      {"quantizelinear", {"quantize"}},
      {"reducemean", {"reduce_avg"}},
      {"resize1d", {"resize"}},
      {"resize2d", {"resize"}},
      {"resize3d", {"resize"}},
      {"resizebilinear", {"resize"}},
      {"resizenearestneighbor", {"resize"}},
      {"scatter", {"scatter_elements"}},
      {"select", {"slice"}},
      {"sin", {"sine"}},
      {"stridedslice", {"slice"}},
      {"sub", {"subtract"}},
      {"sum", {"reduce_sum"}},
      {"take", {"gather"}},
      {"trilu", {"triangle"}},
      {"upsample", {"resize"}},
      {"upsampling", {"resize"}},
      {"view", {"reshape"}},
      {"vslice", {"slice"}},
      {"vstack", {"concatenate"}},
  };
}

// All words, bare; the project's own names come first where a framework has the same word for something else.
const std::map<std::string, Ops>& op_words() {
  static const std::map<std::string, Ops> words = [] {
    std::map<std::string, Ops> out;
    for (const std::string& op : ops::standard_ops().names(graph::Level::tensor)) out[bare_word(op)] = {op};
    out[std::string(kEmbedding)] = {std::string(kEmbedding)};
    out.merge(other_op_words());
    return out;
  }();
  return words;
}

// "batchmatmulv2" is a version of "batchmatmul".
std::string_view without_version(std::string_view word) {
  std::size_t digits = word.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(word[digits - 1])) != 0) --digits;
  return digits > 1 && digits < word.size() && word[digits - 1] == 'v' ? word.substr(0, digits - 1) : word;
}

}  // namespace

std::vector<std::string> tensor_ops_of(std::string_view word) {
  const std::string bare = bare_word(word);
  for (const std::string& key : {bare, std::string(without_version(bare))})
    if (auto found = op_words().find(key); found != op_words().end()) return found->second;
  return {};
}

std::optional<std::string> nearest_op_word(std::string_view word) {
  std::vector<std::string> known = ops::standard_ops().names(graph::Level::tensor);
  known.emplace_back(kEmbedding);
  const std::string bare = bare_word(word);
  if (auto near = nearest_word(bare, known)) return near;
  known.clear();
  for (const auto& [other, ops] : op_words()) known.push_back(other);
  return nearest_word(bare, known);
}

}  // namespace buda::passes
