// SPDX-License-Identifier: Apache-2.0
// Names of devices, taken apart and put together.
#include <buda/device/device_name.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::device {
namespace {

constexpr std::string_view kRowsMark = ":harvested_rows=";

bool names_a_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

}  // namespace

std::string DeviceName::text() const {
  if (rows.empty()) return board;
  std::vector<std::string> texts;
  for (auto row : rows) texts.push_back(cat(row));
  return cat(board, kRowsMark, join(texts, ","));
}

Result<DeviceName> parse_device_name(const std::string& name) {
  DeviceName out;
  out.board = name;
  if (auto mark = name.rfind(kRowsMark); mark != std::string::npos) {
    out.board = name.substr(0, mark);
    std::string_view list = trim(std::string_view(name).substr(mark + kRowsMark.size()));
    if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
    for (std::string_view item : split(list, ',')) {
      auto row = parse_int(trim(item));
      if (!row || *row < 0 || *row > 63) {
        Diagnostic d = input_error("DV021", {}, cat("harvested rows '", list, "' are not a list of rows of the NoC"));
        d.hint = "separate the numbers by commas: 1,11";
        return d;
      }
      out.rows.push_back(static_cast<std::int32_t>(*row));
    }
    std::sort(out.rows.begin(), out.rows.end());
    out.rows.erase(std::unique(out.rows.begin(), out.rows.end()), out.rows.end());
  }
  for (const char* family : {"gs", "wh"})
    if (!names_a_file(out.board) && out.board.starts_with(cat(family, '_'))) {
      out.family = family;
      out.board.erase(0, out.family.size() + 1);
      break;
    }
  return out;
}

std::string with_harvested_rows(const std::string& name, const std::string& rows) {
  if (trim(rows).empty()) return name;
  return cat(name.substr(0, name.rfind(kRowsMark)), kRowsMark, trim(rows));
}

bool has_rows_set_by_hand(const std::string& name) { return name.find(kRowsMark) != std::string::npos; }

std::string family_of(const std::string& arch) { return arch == "grayskull" ? "gs" : arch.starts_with("wormhole") ? "wh" : ""; }

}  // namespace buda::device
