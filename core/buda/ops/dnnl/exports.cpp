// SPDX-License-Identifier: Apache-2.0
// What libbuda looks up.
#include <buda/ops/dnnl/functions.hpp>

extern "C" {
__attribute__((visibility("default"))) extern const buda::ops::DnnlFunctions buda_dnnl_functions;
const buda::ops::DnnlFunctions buda_dnnl_functions{&buda::ops::conv_by_dnnl, &buda::ops::product_by_dnnl};
}
