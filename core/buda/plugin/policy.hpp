// SPDX-License-Identifier: Apache-2.0
// What a plugin of kind `policy` includes.
#pragma once

#include <buda/balance/policy/policy.hpp>
#include <buda/plugin/registry.hpp>
