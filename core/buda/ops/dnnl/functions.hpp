// SPDX-License-Identifier: Apache-2.0
// What libbuda_dnnl.so, which is loaded with the first large product or convolution, does with oneDNN.
#pragma once

#include <buda/ops/dnnl/convolution.hpp>
#include <buda/ops/dnnl/product.hpp>

namespace buda::ops {

struct DnnlFunctions {
  decltype(&conv_by_dnnl) convolution;
  decltype(&product_by_dnnl) product;
};

const DnnlFunctions& dnnl_functions();

}  // namespace buda::ops
