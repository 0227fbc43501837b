// SPDX-License-Identifier: Apache-2.0
// What a plugin of kind `target` includes.
#pragma once

#include <buda/plugin/registry.hpp>
#include <buda/runtime/target.hpp>
