// SPDX-License-Identifier: Apache-2.0
// The page of docs/conformance about costs, and its drawing.
#pragma once

#include "drawing.hpp"
#include "fits.hpp"
#include "through_sim.hpp"

#include <string>
#include <vector>

namespace buda::silicon {

// Markdown that shows silicon.svg; `system` is the part about what is more than a kernel (system_section.hpp).
std::string page_text(const std::vector<Prediction>& predictions, const Simulated& simulated, const std::string& system);
// For each class a point per measurement.
std::vector<Panel> class_panels(const std::vector<Prediction>& predictions);

}  // namespace buda::silicon
