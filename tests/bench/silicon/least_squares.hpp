// SPDX-License-Identifier: Apache-2.0
// Parameters that are not negative, fitted to measurements so that relative errors become small.
#pragma once

#include <functional>
#include <vector>

namespace buda::silicon {

// What a formula predicts for each measurement, given its parameters.
using Formula = std::function<std::vector<double>(const std::vector<double>& parameters)>;

// Levenberg-Marquardt on (predicted - measured) / measured with a loss that grows linearly for large errors, from each of the starts;
// the best result. Deterministic. `starts` is not empty; measured values are positive.
std::vector<double> fit_parameters(const Formula& formula, const std::vector<double>& measured,
                                   const std::vector<std::vector<double>>& starts);

}  // namespace buda::silicon
