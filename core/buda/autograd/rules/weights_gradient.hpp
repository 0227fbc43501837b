// SPDX-License-Identifier: Apache-2.0
// The gradient of a convolution's weights.
#pragma once

#include <buda/autograd/backward.hpp>
#include <buda/ops/spatial/window.hpp>

namespace buda::autograd {

// Of input 1, the weights [channels of the windows, channels of elements in a group, sizes…], from the elements that windows cover and what
// each window has: x and the incoming gradient of a convolution; of a transposed one the other way round.
void weights_gradient(Backward& b, const ops::Window& window, const Term& elements, const Term& windows);

}  // namespace buda::autograd
