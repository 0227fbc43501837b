// SPDX-License-Identifier: Apache-2.0
// Merging of images with everything that targets need.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/image/merge.hpp>
#include <buda/io/host.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda::compiler {

// image::merge_images, and stream programs for the new addresses where one of the images has any. What the netlist checker finds wrong with
// the merged netlist is an error.
Result<image::Merged> merge_models(std::vector<image::NamedImage> images, const image::MergeOptions& options, Host& host);

}  // namespace buda::compiler

#pragma GCC visibility pop
