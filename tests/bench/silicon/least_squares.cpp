// SPDX-License-Identifier: Apache-2.0
// Levenberg-Marquardt with numeric derivatives, bounds at zero and the loss 2 * (sqrt(1 + (r / scale)^2) - 1), whose weights are renewed in each step.
#include "least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace buda::silicon {
namespace {

using Vector = std::vector<double>;

// Errors above it count by their size rather than their square.
constexpr double kLinearAbove = 0.03;
constexpr int kSteps = 300;
constexpr double kClearlyLess = 0.99;

Vector residuals(const Formula& formula, const Vector& measured, const Vector& p) {
  Vector r = formula(p);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = (r[i] - measured[i]) / measured[i];
  return r;
}

double loss(const Vector& r) {
  double sum = 0;
  for (double x : r) sum += 2 * (std::sqrt(1 + x * x / (kLinearAbove * kLinearAbove)) - 1);
  return sum;
}

// Solves the symmetric positive system a * x = b by Gauss elimination with pivots on the diagonal; a and b are used up.
Vector solve(std::vector<Vector>& a, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    double pivot = std::max(a[k][k], 1e-300);
    for (std::size_t i = k + 1; i < n; ++i) {
      double f = a[i][k] / pivot;
      if (f == 0) continue;
      for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  }
  Vector x(n, 0.0);
  for (std::size_t k = n; k-- > 0;) {
    double sum = b[k];
    for (std::size_t j = k + 1; j < n; ++j) sum -= a[k][j] * x[j];
    x[k] = sum / std::max(a[k][k], 1e-300);
  }
  return x;
}

struct Normal {
  std::vector<Vector> a;
  Vector b;
};

// Of the weighted problem around p, for the parameters that are free to move.
Normal normal_equations(const Formula& formula, const Vector& measured, const Vector& p, const Vector& r) {
  const std::size_t n = p.size();
  std::vector<Vector> j(n);
  for (std::size_t k = 0; k < n; ++k) {
    Vector q = p;
    double step = 1e-5 * std::max(p[k], 1e-2);
    q[k] += step;
    j[k] = residuals(formula, measured, q);
    for (std::size_t i = 0; i < r.size(); ++i) j[k][i] = (j[k][i] - r[i]) / step;
  }
  Normal out{std::vector<Vector>(n, Vector(n, 0.0)), Vector(n, 0.0)};
  for (std::size_t i = 0; i < r.size(); ++i) {
    double w = 1 / std::sqrt(1 + r[i] * r[i] / (kLinearAbove * kLinearAbove));
    for (std::size_t k = 0; k < n; ++k) {
      out.b[k] -= w * j[k][i] * r[i];
      for (std::size_t l = 0; l <= k; ++l) out.a[k][l] += w * j[k][i] * j[l][i];
    }
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t l = k + 1; l < n; ++l) out.a[k][l] = out.a[l][k];
  // A parameter at its bound that wants to leave through it stays.
  for (std::size_t k = 0; k < n; ++k) {
    if (p[k] > 0 || out.b[k] > 0) continue;
    for (std::size_t l = 0; l < n; ++l) out.a[k][l] = out.a[l][k] = 0;
    out.a[k][k] = 1;
    out.b[k] = 0;
  }
  return out;
}

std::pair<Vector, double> descend(const Formula& formula, const Vector& measured, Vector p) {
  Vector r = residuals(formula, measured, p);
  double best = loss(r), damping = 1e-3;
  for (int step = 0; step < kSteps && damping < 1e12; ++step) {
    const Normal normal = normal_equations(formula, measured, p, r);
    bool better = false;
    double before = best;
    while (!better && damping < 1e12) {
      Normal damped = normal;
      for (std::size_t k = 0; k < p.size(); ++k) damped.a[k][k] += damping * std::max(normal.a[k][k], 1e-12);
      Vector q = solve(damped.a, damped.b);
      for (std::size_t k = 0; k < p.size(); ++k) q[k] = std::max(0.0, p[k] + q[k]);
      Vector s = residuals(formula, measured, q);
      double l = loss(s);
      better = l < best;
      damping = better ? std::max(damping / 5, 1e-12) : damping * 4;
      if (!better) continue;
      p = std::move(q);
      r = std::move(s);
      best = l;
    }
    if (before - best < 1e-9 * before) break;
  }
  return {p, best};
}

}  // namespace

std::vector<double> fit_parameters(const Formula& formula, const std::vector<double>& measured,
                                   const std::vector<std::vector<double>>& starts) {
  Vector best;
  double least = std::numeric_limits<double>::infinity();
  for (const Vector& start : starts) {
    auto [p, l] = descend(formula, measured, start);
    // What measurements do not decide stays where an earlier start had it.
    if (best.empty() || l < kClearlyLess * least) {
      best = p;
      least = l;
    }
  }
  return best;
}

}  // namespace buda::silicon
