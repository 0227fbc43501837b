// SPDX-License-Identifier: Apache-2.0
// The products of pipes and overlay that an image carries.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/image/archive.hpp>
#include <buda/io/host.hpp>
#include <buda/overlay/epoch_compiler.hpp>

#include <functional>

namespace buda::compiler {

// For every temporal epoch its pipes and its stream programs, and what is common to all of them, by their names below the compiler's output
// folder. `proceed` is called before each part; a failure ends the work.
Result<image::Members> epoch_products(const overlay::EpochCompiler& compiler, Host& host, const std::function<Result<void>()>& proceed);

}  // namespace buda::compiler
