// SPDX-License-Identifier: Apache-2.0
// Reading CSV files of measurements.
#include "measurements.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

namespace buda::silicon {
namespace {

using netlist::Op;
using netlist::OpType;

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> out(1);
  for (char c : line) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// A line by the names of its columns; files name some of them differently.
class Row {
 public:
  Row(const std::vector<std::string>& header, std::vector<std::string> cells) {
    for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) cells_[header[i]] = std::move(cells[i]);
  }
  std::string text(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (auto it = cells_.find(name); it != cells_.end() && !it->second.empty()) return it->second;
    return "";
  }
  double number(std::initializer_list<const char*> names, double otherwise = 0) const {
    std::string found = text(names);
    return found.empty() ? otherwise : std::strtod(found.c_str(), nullptr);
  }
  std::int32_t count(std::initializer_list<const char*> names, std::int32_t otherwise = 0) const {
    return static_cast<std::int32_t>(number(names, otherwise));
  }

 private:
  std::map<std::string, std::string> cells_;
};

// "exp-approx" of "exp-approx-op-performance.csv".
std::string stem(std::string file) {
  for (const char* end : {".csv", "-performance", "-op"})
    if (file.ends_with(end)) file.resize(file.size() - std::string_view(end).size());
  if (file.starts_with("whb0-")) file.erase(0, 5);
  return file;
}

// The op type whose name begins the file's, the longest one.
std::optional<OpType> type_of_file(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::optional<OpType> best;
  std::size_t length = 0;
  for (const auto& info : netlist::all_op_types())
    if (name.starts_with(info.name) && info.name.size() > length) {
      best = info.type;
      length = info.name.size();
    }
  return best;
}

DataFormat format(const std::string& name) {
  auto found = format_from_name(name);
  return found ? *found : DataFormat::invalid;
}

void add_inputs(Op& op, const Row& row) {
  std::string first = row.text({"input0_df", "input0"}), second = row.text({"input1_df"});
  op.inputs.emplace_back().format = format(first);
  if (!second.empty()) op.inputs.emplace_back().format = format(second);
  std::string out = row.text({"output_df"});
  op.out_format = out.empty() ? op.inputs[0].format : format(out);
}

// Blocks of reductions are those that go in.
void turn_reduction(Op& op, const std::string& name) {
  op.attributes.reduce_dim = name.ends_with("-z") ? netlist::Dim::z : name.ends_with("-r") ? netlist::Dim::r : netlist::Dim::c;
  if (op.attributes.reduce_dim == netlist::Dim::r) {
    op.attributes.m_k = std::exchange(op.block.mblock_m, 1);
    op.attributes.u_kt = std::exchange(op.block.ublock_rt, 1);
  } else if (op.attributes.reduce_dim == netlist::Dim::c) {
    op.attributes.m_k = std::exchange(op.block.mblock_n, 1);
    op.attributes.u_kt = std::exchange(op.block.ublock_ct, 1);
  }
}

std::optional<Measurement> measurement(const std::string& name, const Row& row) {
  Measurement m;
  Op& op = m.op;
  auto type = netlist::op_type_from_name(row.text({"Unary-Type", "Binary-Type", "quant_type"}));
  if (!type) type = type_of_file(name);
  if (!type) return std::nullopt;
  op.type = *type;
  add_inputs(op, row);
  op.fidelity = netlist::fidelity_from_name(row.text({"math_fidelity"})).value_or(netlist::MathFidelity::hifi4);
  op.block = {row.count({"t", "output_t"}, 1), row.count({"mblock_m", "output_mb_r"}, 1), row.count({"mblock_n", "output_mb_c"}, 1),
              row.count({"ublock_rt", "output_ub_r"}, 1), row.count({"ublock_ct", "output_ub_c"}, 1)};
  op.attributes.m_k = row.count({"m_k", "mblock_k"});
  op.attributes.u_kt = row.count({"u_kt", "ublock_kt"});
  op.attributes.z = row.count({"z"});
  op.attributes.approximate_mode = contains(name, "approx");
  op.attributes.l1_acc = contains(name, "l1-acc");
  if (op.type == OpType::reduce) turn_reduction(op, name);
  if (op.type == OpType::matmul && contains(name, "sparse")) {
    op.attributes.identity = true;
    m.counts = cost::SparseCounts{row.count({"nz_strips"}), row.count({"nz_ublocks"}), row.count({"nz_tiles"})};
  }
  double inputs = row.number({"last-input-idx-recorded"}) - row.number({"first-input-idx-recorded"}) + 1;
  m.cycles = row.number({"runtime"}, row.number({"total-runtime"}) / inputs);
  if (!(m.cycles > 0) || op.inputs[0].format == DataFormat::invalid) return std::nullopt;
  return m;
}

// What makes two measurements the same one, told in two files.
std::string identity(const Measurement& m) {
  std::string counts = m.counts ? cat(m.counts->strips, ' ', m.counts->ublocks, ' ', m.counts->tiles) : "";
  return cat(m.arch, ' ', netlist::op_type_name(m.op.type), ' ', format_name(m.op.inputs[0].format), ' ',
             netlist::fidelity_name(m.op.fidelity), ' ', m.op.attributes.approximate_mode, ' ', m.op.attributes.l1_acc, ' ',
             blocking_text(m.op), ' ', counts, ' ', m.cycles);
}

Result<void> read_csv(Host& host, const std::string& path, const std::string& arch, const std::string& file,
                      std::map<std::string, std::string>& seen, std::vector<Measurement>& out) {
  BUDA_ASSIGN(io::Bytes bytes, host.fs().read(path));
  std::string_view text = bytes.view();
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string> header;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::string> cells = split(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      header = std::move(cells);
      continue;
    }
    auto found = measurement(stem(file), Row(header, std::move(cells)));
    if (!found) return input_error("SI001", {path, number, 1}, "no measurement of an op: type, formats or cycles are missing");
    found->arch = arch;
    found->file = file;
    found->line = number;
    auto [it, first] = seen.emplace(identity(*found), file);
    if (first || it->second == file) out.push_back(std::move(*found));
  }
  return {};
}

}  // namespace

std::string blocking_text(const Op& op) {
  const auto& b = op.block;
  const auto& a = op.attributes;
  std::string out = cat("mblock ", b.mblock_m, 'x', b.mblock_n, ", ublock ", b.ublock_rt, 'x', b.ublock_ct);
  if (a.m_k > 0) out += cat(", m_k ", a.m_k, ", u_kt ", a.u_kt);
  if (a.z > 0) out += cat(", z ", a.z);
  return out;
}

Result<std::vector<Measurement>> read_measurements(Host& host, const std::string& folder) {
  std::vector<Measurement> out;
  std::map<std::string, std::string> seen;
  const std::string ops = folder + "/ops";
  BUDA_ASSIGN(std::vector<std::string> archs, host.fs().list(ops));
  for (const std::string& arch : archs) {
    BUDA_ASSIGN(std::vector<std::string> files, host.fs().list(cat(ops, '/', arch)));
    for (const std::string& file : files)
      if (file.ends_with(".csv")) BUDA_TRY(read_csv(host, cat(ops, '/', arch, '/', file), arch, file, seen, out));
  }
  return out;
}

}  // namespace buda::silicon
