// The page of docs/conformance about costs, and its drawing.
#pragma once

#include "fits.hpp"
#include "through_sim.hpp"

#include <string>
#include <vector>

namespace buda::silicon {

// Markdown that shows silicon.svg.
std::string page_text(const std::vector<Prediction>& predictions, const Simulated& simulated);
// An SVG: for each class a point per measurement, its size against its error.
std::string drawing(const std::vector<Prediction>& predictions);

}  // namespace buda::silicon
