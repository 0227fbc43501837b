// SPDX-License-Identifier: Apache-2.0
// The families of operations, one file each.
#pragma once

#include <buda/ops/table/op.hpp>

#include <array>
#include <string>
#include <vector>

namespace buda::ops {

// An op at tensor level whose inputs must all be there: how most definitions begin.
OpDef tensor_level_op(std::string family, std::string name, std::string summary, std::vector<std::string> inputs,
                      std::vector<AttrDef> attrs, decltype(OpDef::infer) infer, decltype(OpDef::evaluate) evaluate,
                      decltype(OpDef::flops) flops = nullptr);

std::vector<OpDef> eltwise_binary_ops();
std::vector<OpDef> eltwise_unary_ops();
std::vector<OpDef> matmul_ops();
std::vector<OpDef> reduce_ops();
std::vector<OpDef> movement_ops();
std::vector<OpDef> nn_ops();
std::vector<OpDef> eltwise_math_ops();
std::vector<OpDef> activation_ops();
std::vector<OpDef> comparison_ops();
std::vector<OpDef> integer_ops();
std::vector<OpDef> indexing_ops();
std::vector<OpDef> search_ops();
std::vector<OpDef> rearrange_ops();
std::vector<OpDef> conv_ops();
std::vector<OpDef> conv_transpose_ops();
std::vector<OpDef> pool_ops();
std::vector<OpDef> unpool_ops();
std::vector<OpDef> channel_norm_ops();
std::vector<OpDef> resize_ops();
std::vector<OpDef> sample_ops();
std::vector<OpDef> region_ops();
std::vector<OpDef> recurrent_ops();
std::vector<OpDef> quantization_ops();
std::vector<OpDef> int8_ops();
std::vector<OpDef> linear_algebra_ops();
std::vector<OpDef> spectral_ops();

// In the order in which they are documented.
inline constexpr std::array kFamilies = {
    &eltwise_binary_ops, &eltwise_unary_ops, &matmul_ops,  &reduce_ops,         &movement_ops, &nn_ops,        &eltwise_math_ops,
    &activation_ops,     &comparison_ops,    &integer_ops, &indexing_ops,       &search_ops,   &rearrange_ops, &conv_ops,
    &conv_transpose_ops, &pool_ops,          &unpool_ops,  &channel_norm_ops,   &resize_ops,   &sample_ops,    &region_ops,
    &recurrent_ops,      &quantization_ops,  &int8_ops,    &linear_algebra_ops, &spectral_ops};

}  // namespace buda::ops
