// SPDX-License-Identifier: Apache-2.0
// Writing rows, one to a line.
#include "costs_section.hpp"

#include <buda/base/text.hpp>
#include <buda/device/format.hpp>
#include <buda/io/yaml.hpp>

#include <cstddef>
#include <vector>

namespace buda::silicon {
namespace {

constexpr const char* kWrittenBy = "written by `silicon fit`";

// Those that were assumed come first, where a refit does not move them.
template <class Row>
std::string list(const char* key, const std::vector<Row>& fitted, const std::vector<Row>& present) {
  std::vector<Row> rows;
  for (const Row& row : present)
    if (!row.origin.measured()) rows.push_back(row);
  rows.insert(rows.end(), fitted.begin(), fitted.end());
  if (rows.empty()) return "";
  std::string out = cat("  ", key, ":\n");
  for (const Row& row : rows) out += cat("    - ", io::yaml_flow(schema::write(row)), '\n');
  return out;
}

}  // namespace

std::string with_rows(const std::string& file, const device::CostParameters& present, const device::CostParameters& fitted) {
  std::size_t at = file.find(kWrittenBy);
  if (at == std::string::npos) return file;
  return cat(file.substr(0, file.find('\n', at) + 1), list("kernels", fitted.kernels, present.kernels),
             list("accumulations", fitted.accumulations, present.accumulations), list("matmuls", fitted.matmuls, present.matmuls),
             list("sparse_matmuls", fitted.sparse_matmuls, present.sparse_matmuls));
}

}  // namespace buda::silicon
