// SPDX-License-Identifier: Apache-2.0
// Texts such as "adam:lr=1e-3,beta1=0.9": a name and numbers by key.
#pragma once

#include <buda/diag/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::autograd {

struct SpecNumber {
  std::string_view key;
  double* value = nullptr;
  double least = 0;  // the least positive normal number: above 0
  double most = 0;  // itself is allowed
};

// The part before the colon.
std::string_view spec_name(std::string_view text);
// Sets the numbers that the part behind it gives. AG011: a key that is none of them, with the nearest, or no number or one out of range.
// `what` stands in messages: "option --optimizer".
Result<void> read_numbers(std::string_view text, std::string_view what, const std::vector<SpecNumber>& numbers);
// AG010: `text` names none of `known`.
Diagnostic unknown_name(std::string_view text, std::string_view what, const std::vector<std::string>& known);

}  // namespace buda::autograd
