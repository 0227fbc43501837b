// The work of kernelc.
#pragma once

#include "apps/kernelc/options.hpp"

#include <string>

namespace buda::kernelc {

std::string output_folder(const Options& options);
Result<void> run(const Options& options, Host& host);

}  // namespace buda::kernelc
