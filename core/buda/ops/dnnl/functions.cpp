// SPDX-License-Identifier: Apache-2.0
// The table of libbuda_dnnl.so, which is loaded with the first call.
#include <buda/ops/dnnl/functions.hpp>

#include <buda/base/late_library.hpp>

namespace buda::ops {

const DnnlFunctions& dnnl_functions() {
  static const DnnlFunctions& functions = late_functions<DnnlFunctions>(BUDA_LATE_DNNL, "buda_dnnl_functions");
  return functions;
}

}  // namespace buda::ops
