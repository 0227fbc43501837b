// SPDX-License-Identifier: Apache-2.0
// What is known of the elements of a value before the model runs: where they lie, and how wrong the device would make them.
#pragma once

#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {

struct Estimate {
  double least = 0;
  double most = 0;
  double error = 0;    // absolute, at most
  bool whole = false;  // the elements are integers
  // Where `share` is not 0 an element v is wrong by no more than fixed + share |v|, either: what is limited to small numbers has small
  // errors.
  double fixed = 0;
  double share = 0;

  double size() const { return std::max(std::abs(least), std::abs(most)); }
  double width() const { return most - least; }
  double fixed_error() const { return share == 0 ? error : fixed; }
};

// How a device rounds a number to its format: by up to `relative` times its size. Integers up to 1 / relative are kept.
struct Rounding {
  double relative = 1.0 / 256;

  // A floating-point result as the device stores it.
  Estimate stored(Estimate e) const;
};

Estimate estimate_of(const Tensor& tensor);
// What an integer type or booleans can hold; of a float the interval from -size to size.
Estimate estimate_of_type(DType type, double size);

// ---- arithmetic; errors of operands go on, those of the op itself come by Rounding::stored

Estimate hull(const Estimate& a, const Estimate& b);
Estimate sum(const Estimate& a, const Estimate& b);
Estimate negative(const Estimate& a);
Estimate product(const Estimate& a, const Estimate& b);
Estimate repeated_sum(const Estimate& a, double terms);  // of up to so many elements
Estimate absolute(const Estimate& a);
Estimate limited(const Estimate& a, double least, double most);  // as clip does
Estimate larger(const Estimate& a, const Estimate& b);
Estimate smaller(const Estimate& a, const Estimate& b);
Estimate rounded_to_integers(const Estimate& a);
Estimate within(double least, double most, const Estimate& a);  // of a function with slopes up to 1 and these bounds

// Of a function that rises everywhere in the interval; its steepest slope there decides the error.
Estimate risen(const Estimate& a, double (*function)(double), double slope);

}  // namespace buda::passes
