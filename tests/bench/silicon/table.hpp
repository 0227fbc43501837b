// SPDX-License-Identifier: Apache-2.0
// Predictions beside measurements: a table by class, the worst of all, and whether the goals are reached.
#pragma once

#include "fits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace buda::silicon {

// What ops are judged together; `goal` is the mean error allowed, per cent.
struct ClassErrors {
  std::string arch;
  std::string name;
  double goal = 0;
  std::vector<double> errors;  // relative, predicted over measured less 1, ascending by size
  double mean() const;         // of their sizes, per cent
  double p90() const;
  double worst() const;
  // Ops that go once over their ublocks have a goal for nine tenths of them, too.
  bool reached() const { return mean() <= goal && (name != "elementwise" || p90() <= 6); }
};

// The class that an op is judged in.
std::string_view class_name(const netlist::Op& op);

std::vector<ClassErrors> classes_of(const std::vector<Prediction>& predictions);

// Markdown: a row per class, a row per file, the ten worst.
std::string class_table(const std::vector<ClassErrors>& classes);
std::string file_table(const std::vector<Prediction>& predictions);
std::string worst_table(const std::vector<Prediction>& predictions);

}  // namespace buda::silicon
