// The screen of a terminal.
#pragma once

#include "apps/perf-analyzer/screen.hpp"

namespace buda::perf_analyzer {

Screen curses_screen();

}  // namespace buda::perf_analyzer
