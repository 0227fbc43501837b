// SPDX-License-Identifier: Apache-2.0
// Errors by class and by file.
#include "table.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace buda::silicon {
namespace {

using netlist::Op;
using netlist::OpType;

constexpr std::size_t kWorst = 10;

double goal_of(const std::string& arch, std::string_view name) {
  if (name == "sparse matmul") return 12;
  if (name == "dense matmul") return 6;
  if (name == "dense matmul with l1_acc" || name == "depthwise") return 10;
  if (name == "reduce") return 18;
  return arch == "grayskull" ? 3.5 : 2.5;
}

std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

void sort_by_size(std::vector<double>& errors) {
  std::sort(errors.begin(), errors.end(), [](double a, double b) { return std::pair(std::fabs(a), a) < std::pair(std::fabs(b), b); });
}

}  // namespace

std::string_view class_name(const Op& op) {
  if (op.attributes.identity) return "sparse matmul";
  if (op.type == OpType::matmul) return op.attributes.l1_acc ? "dense matmul with l1_acc" : "dense matmul";
  if (op.type == OpType::depthwise) return "depthwise";
  if (op.type == OpType::reduce) return "reduce";
  return "elementwise";
}

double ClassErrors::mean() const {
  double sum = 0;
  for (double e : errors) sum += std::fabs(e);
  return 100 * sum / static_cast<double>(std::max<std::size_t>(errors.size(), 1));
}
double ClassErrors::p90() const { return errors.empty() ? 0 : 100 * std::fabs(errors[errors.size() * 9 / 10]); }
double ClassErrors::worst() const { return errors.empty() ? 0 : 100 * std::fabs(errors.back()); }

std::vector<ClassErrors> classes_of(const std::vector<Prediction>& predictions) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> groups;
  for (const Prediction& p : predictions) groups[{p.measured->arch, std::string(class_name(p.measured->op))}].push_back(p.error());
  std::vector<ClassErrors> out;
  for (auto& [key, errors] : groups) {
    sort_by_size(errors);
    out.push_back({key.first, key.second, goal_of(key.first, key.second), std::move(errors)});
  }
  return out;
}

std::string class_table(const std::vector<ClassErrors>& classes) {
  std::string out = "| chip | class | measurements | mean % | p90 % | worst % | goal: mean % |\n|---|---|--:|--:|--:|--:|--:|\n";
  for (const ClassErrors& c : classes)
    out += cat("| ", c.arch, " | ", c.name, " | ", c.errors.size(), " | ", percent(c.mean()), " | ", percent(c.p90()), " | ",
               percent(c.worst()), " | ", percent(c.goal), c.reached() ? "" : ", missed", " |\n");
  return out;
}

std::string file_table(const std::vector<Prediction>& predictions) {
  std::map<std::tuple<std::string, std::string, std::string>, ClassErrors> files;
  for (const Prediction& p : predictions) {
    const Measurement& m = *p.measured;
    files[{m.arch, m.file, std::string(format_name(m.op.inputs.back().format))}].errors.push_back(p.error());
  }
  std::string out = "| chip | file | operands | measurements | mean % | p90 % | worst % |\n|---|---|---|--:|--:|--:|--:|\n";
  for (auto& [key, c] : files) {
    sort_by_size(c.errors);
    const auto& [arch, file, format] = key;
    out += cat("| ", arch, " | ", file, " | ", format, " | ", c.errors.size(), " | ", percent(c.mean()), " | ", percent(c.p90()), " | ",
               percent(c.worst()), " |\n");
  }
  return out;
}

std::string worst_table(const std::vector<Prediction>& predictions) {
  std::vector<const Prediction*> order;
  for (const Prediction& p : predictions) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(),
                   [](const Prediction* a, const Prediction* b) { return std::fabs(a->error()) > std::fabs(b->error()); });
  order.resize(std::min(order.size(), kWorst));
  std::string out = "| chip | op | operands | blocking | measured | predicted | error % |\n|---|---|---|---|--:|--:|--:|\n";
  for (const Prediction* p : order) {
    const Measurement& m = *p->measured;
    out += cat("| ", m.arch, " | ", netlist::op_type_name(m.op.type), " | ", format_name(m.op.inputs.back().format), " | ",
               blocking_text(m.op), " | ", std::llround(m.cycles), " | ", std::llround(p->cycles), " | ", percent(100 * p->error()), " |\n");
  }
  return out;
}

}  // namespace buda::silicon
