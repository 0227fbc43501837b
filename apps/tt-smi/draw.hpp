// SPDX-License-Identifier: Apache-2.0
// A view as lines of a screen.
#pragma once

#include "apps/tt-smi/machine.hpp"
#include "apps/tt-smi/seen.hpp"
#include "apps/tt-smi/view.hpp"

#include <string>
#include <vector>

namespace buda::tt_smi {

struct Picture {
  const Seen& seen;
  const HostInfo& host;
  std::string time;     // of the header
  std::string message;  // of what was done last; instead of the keys
};

// `size.rows` lines of at most `size.columns` characters. A view that is beyond the last row or chip is moved back.
std::vector<screen::Line> draw(const Picture& picture, View& view, screen::Size size);

}  // namespace buda::tt_smi
