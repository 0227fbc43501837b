// Division, remainders, powers and shifts of integers in F32.
//
//   divide(a, b)         q = floor(|a| (1 / |b|)); one more where |a| - q |b| still holds |b|, one less where it is negative; then the
//   signs remainder, modulo    what that leaves: |a| - q |b| with the sign of a, plus b where that differs from the sign of b power(a, b)
//   e^(b ln |a|), rounded; negative where a is and b is odd. 0 to a negative power is 0 shift_left, _right   a 2^b, wrapped around; floor(a
//   / 2^b). 2^b is the product of two powers small enough to be exact when rounded
//
// Exact where operands stay below 2^24 in size and quotients below 2^22; powers up to 2^16, and beyond with the relative error of F32.
// What is divided by 0 gives 0, and leaves 0.
#include "rules.hpp"

#include <buda/graph/graph.hpp>

namespace buda::compare {
namespace {

using namespace plugin;

// The sizes of both operands, how often the second is in the first, and the rest.
struct Parts {
  Term quotient, rest;
};

Parts divided(const Term& a, const Term& b) {
  Term m = abs(a);
  Term divisor = abs(b);
  Term is_zero = 1 - not_zero(b);
  Term n = divisor + is_zero;
  Term quotient = floor_of(m * reciprocal(n));
  Term rest = m - quotient * n;
  // The reciprocal is rounded, so that the quotient may be off by one.
  Term low = above(0, rest);
  Term high = 1 - above(n, rest);
  Term more = high - low;
  return {quotient + more, rest - n * more};
}

Term quotient(Rewrite& r) {
  Term a = r.in(0);
  Term b = r.in(1);
  Term size = divided(a, b).quotient;
  // Where there is no divisor there is no sign: 0.
  Term sign = sign_of(b);
  return size * (sign * sign_of(a));
}

Term remainder(Rewrite& r) {
  Term a = r.in(0);
  Term b = r.in(1);
  Term rest = divided(a, b).rest;
  return rest * sign_of(a);
}

Term modulo(Rewrite& r) {
  Term a = r.in(0);
  Term b = r.in(1);
  Term size = divided(a, b).rest;
  Term rest = size * sign_of(a);
  Term differs = above(0, rest * b);
  return rest + b * differs;
}

Term power(Rewrite& r) {
  Term a = r.in(0);
  Term b = r.in(1);
  Term size = abs(a);
  Term is_zero = 1 - not_zero(a);
  // ln 0 must be no infinity: of 0 the logarithm of 2^-64 is taken, whose powers round to 0, and 0^0 to 1.
  Term positive = size + is_zero * 5.421010862427522e-20;
  // Negative powers are 0 but of 1 and -1. 4 b keeps 1 / 2 away from the border of rounding, and -b brings 0 to 0.
  Term more = 3 - is_zero * 5;
  Term times = more * above(0, b);
  Term exponent = b + b * times;
  Term whole = round(exp(log(positive) * exponent));
  Term half = b * 0.5;
  Term is_odd = not_zero(half - floor_of(half));
  Term is_negative = above(0, a);
  Term flips = is_negative * is_odd;
  return whole * (1 - flips * 2);
}

// 2^b for whole b from 0 to 23.
Term power_of_two(const Term& b) {
  constexpr double kLn2 = 0.6931471805599453;
  Term low = clip(b, 0, 12);
  Term high = clip(b - low, 0, 12);
  Term first = round(exp(low * kLn2));
  return first * round(exp(high * kLn2));
}

Term shifted_left(Rewrite& r) {
  Term a = r.in(0);
  return wrapped_around(a * power_of_two(r.in(1)), r.result().dtype);
}

Term shifted_right(Rewrite& r) {
  Term a = r.in(0);
  Term divisor = power_of_two(r.in(1));
  Parts parts = divided(a, divisor);
  // Rounded down: a negative number with a rest one further.
  Term is_negative = above(0, a);
  Term further = is_negative * not_zero(parts.rest);
  Term signed_quotient = parts.quotient * sign_of(a);
  return signed_quotient - further;
}

bool is_whole(const graph::Graph& graph, const graph::Node& n) { return is_integer(graph.type(n.inputs()[0].source)->dtype); }

RuleSpec spec(std::string name, std::string summary, std::string op, Term (*build)(Rewrite&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .consumes = {std::move(op)},
          .produces = {"abs", "add", "subtract", "multiply", "reciprocal", "round", "clip", "maximum", "exp", "log"},
          .build = build,
          .takes = Takes::anything,
          .matches = is_whole};
}

}  // namespace

std::vector<RuleSpec> whole_division_rules() {
  return {
      spec("whole_quotient", "whole quotients by a reciprocal, corrected by what is left", "divide", quotient),
      spec("whole_remainder", "what whole quotients leave, with the sign of a", "remainder", remainder),
      spec("whole_modulo", "what whole quotients leave, with the sign of b", "modulo", modulo),
      spec("whole_power", "e^(b ln |a|), rounded", "power", power),
      spec("whole_shift_left", "a product with a power of two", "shift_left", shifted_left),
      spec("whole_shift_right", "a whole quotient by a power of two", "shift_right", shifted_right),
  };
}

}  // namespace buda::compare
