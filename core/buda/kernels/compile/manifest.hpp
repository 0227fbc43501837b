// SPDX-License-Identifier: Apache-2.0
// The fields of a folder's manifest.json (format buda.kernels/1).
#pragma once

#include <buda/schema/record.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buda::kernels {

struct KernelRecord {
  std::string id, family;
  std::map<std::string, std::string> constants;
  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
};
struct Manifest {
  std::string arch, compiler;
  std::optional<std::int64_t> arguments;  // none: 1
  std::vector<KernelRecord> kernels;
  std::map<std::string, std::string> ops;
};

const schema::Record<KernelRecord>& describe(const KernelRecord*);
const schema::Record<Manifest>& describe(const Manifest*);

}  // namespace buda::kernels
