// Tensors, for declarations. A declaration elsewhere would hide them (docs/decisions/0019).
#pragma once

#include <map>
#include <string>

#pragma GCC visibility push(default)

namespace buda {

class Tensor;

using NamedTensors = std::map<std::string, Tensor>;

}  // namespace buda

#pragma GCC visibility pop
