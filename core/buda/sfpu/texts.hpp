// SPDX-License-Identifier: Apache-2.0
// The files of share/kernels/sfpu, in a source that the build generates.
#pragma once

#include <span>

namespace buda::sfpu {

struct Text {
  const char* file;
  const char* text;
};
std::span<const Text> texts();

}  // namespace buda::sfpu
