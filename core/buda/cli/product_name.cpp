// SPDX-License-Identifier: Apache-2.0
// Names of products.
#include <buda/cli/product_name.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

namespace buda::cli {

std::string product_path(const std::string& output, const std::string& input, std::string_view ending) {
  if (!output.empty()) return output;
  return input == io::kStdStream ? std::string(io::kStdStream) : cat(model_name(input), ending);
}

}  // namespace buda::cli
