// The files of share/kernels/sfpu, in a source that the build generates.
#pragma once

#include <cstddef>

namespace buda::sfpu {

struct Text {
  const char* file;
  const char* text;
};
extern const Text kTexts[];
extern const std::size_t kTextCount;

}  // namespace buda::sfpu
