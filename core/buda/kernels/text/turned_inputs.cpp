// SPDX-License-Identifier: Apache-2.0
// Which operand of a family goes to SrcA.
#include <buda/kernels/text/turned_inputs.hpp>

#include <buda/kernels/tables/steps.hpp>
#include <buda/kernels/text/kernel_constants.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace buda::kernels {
namespace {

using netlist::Op;
using netlist::OpClass;

// The family, the operand by its name in the kernel's constants, and the input that it is.
struct Turnable {
  std::string_view family, name;
  std::size_t input = 0;
};
std::optional<Turnable> turnable(const Op& op) {
  if (takes_steps(op)) return std::nullopt;
  switch (netlist::op_class(op.type)) {
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::buffer:
    case OpClass::drainer:
      return Turnable{"copy", "in", 0};
    case OpClass::binary:
      return Turnable{"binary", "a", 0};
    case OpClass::matmul:
      return Turnable{op.attributes.identity ? "sparse" : "matmul", "right", 1};
    case OpClass::depthwise:
      return Turnable{"depthwise", "right", 1};
    default:
      return std::nullopt;
  }
}

// What arrives is what the producer has made: with another format than the op takes, numbers change before they are turned.
bool is_turned(const Op& op, std::size_t input, const Operand& o) {
  const auto place = turnable(op);
  return place && place->input == input && input < op.inputs.size() && op.inputs[input].maps.transposes() && !o.to_dest &&
         !is_integer(o.stored) && (o.unpacked == DataFormat::float16 || o.unpacked == DataFormat::float16_b);
}

}  // namespace

Operand as_it_comes(const Op& op, std::size_t input, Operand o) {
  o.turned = is_turned(op, input, o);
  return o;
}

bool can_turn(const Op& op, std::size_t input) {
  auto choice = kernel_of(op, nullptr);
  const auto* kernel = std::get_if<Kernel>(&choice);
  return turnable(op) && kernel != nullptr && turns(*kernel, op, input);
}

bool turns(const Kernel& kernel, const Op& op, std::size_t input) {
  const auto place = turnable(op);
  if (!place || place->input != input || kernel.family != place->family) return false;
  return std::any_of(kernel.constants.begin(), kernel.constants.end(), [&](const Constant& c) {
    return c.name == place->name && c.value.ends_with(", true}") && std::count(c.value.begin(), c.value.end(), ',') == 3;
  });
}

}  // namespace buda::kernels
