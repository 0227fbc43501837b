// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `pool` that have a file of their own.
#pragma once

#include <buda/passes/decompose/decomposition.hpp>

#include <memory>

namespace buda::pool {

std::unique_ptr<passes::Decomposition> make_max_pool_with_indices(double surround);  // indices.cpp

}  // namespace buda::pool
