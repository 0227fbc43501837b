// SPDX-License-Identifier: Apache-2.0
// The screen of a terminal.
#pragma once

#include <buda/screen/screen.hpp>

namespace buda::screen {

Screen curses_screen();

}  // namespace buda::screen
