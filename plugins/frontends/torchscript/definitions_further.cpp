// SPDX-License-Identifier: Apache-2.0
// Normalisations and pools under the names that exporters and freezing give them.
#include "definition_texts.hpp"

namespace buda::torchscript {
namespace {

constexpr std::string_view kFurther = R"py(
def native_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
  return (torch.layer_norm(input, normalized_shape, weight, bias, eps), None, None)

def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
  return (torch.group_norm(input, group, weight, bias, eps), None, None)

def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
  if training:
    torch._refuse("native_batch_norm in training mode")
  return (torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False), None, None)

def rms_norm(input, normalized_shape, weight=None, eps=None):
  axes = annotate(List[int], [])
  for i in range(len(normalized_shape)):
    torch.append(axes, -1 - i)
  mean = torch.mean(torch.square(input), axes, True)
  y = input * torch.rsqrt(mean + (1.1920928955078125e-07 if eps is None else eps))
  return y if weight is None else y * weight

def native_channel_shuffle(self, groups):
  return torch.channel_shuffle(self, groups)

def native_dropout(input, p, train=None):
  return (torch.dropout(input, p, False if train is None else train), None)

def max_unpool2d(self, indices, output_size):
  return torch._unpooled(self, indices, output_size)

def max_unpool3d(self, indices, output_size, stride, padding):
  return torch._unpooled(self, indices, output_size)

def max_pool1d_with_indices(self, kernel_size, stride=[], padding=[0], dilation=[1], ceil_mode=False):
  sizes = [1] + torch._one(kernel_size)
  steps = [1] + torch._one(kernel_size if len(stride) == 0 else stride)
  rows = torch.unsqueeze(self, -2)
  values, places = torch.max_pool2d_with_indices(rows, sizes, steps, [0] + torch._one(padding), [1] + torch._one(dilation), ceil_mode)
  return (torch.squeeze(values, -2), torch.squeeze(places, -2))

def _one(sizes):
  return [sizes] if isinstance(sizes, int) else sizes
)py";

}  // namespace

std::string_view further_definitions() { return kFurther; }

}  // namespace buda::torchscript
