// SPDX-License-Identifier: Apache-2.0
// Options with which a plan that does not fit would fit: each is tried before it is printed.
#pragma once

#include <buda/balance/plan/context.hpp>
#include <buda/diag/result.hpp>

#include <functional>

namespace buda::balance {

// Whether there is a plan with other settings.
using SettingsTrial = std::function<bool(const Settings&)>;

// The failure of a plan, with a hint where one helps.
Failure with_hints(Failure failure, const Settings& settings, const SettingsTrial& fits);

}  // namespace buda::balance
