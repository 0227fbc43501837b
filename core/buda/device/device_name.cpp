// SPDX-License-Identifier: Apache-2.0
// Names of devices, taken apart and put together.
#include <buda/device/device_name.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <vector>

namespace buda::device {
namespace {

constexpr std::string_view kRowsMark = ":harvested_rows=";

constexpr std::int64_t kMaxRow = 63;

// "0x802" or "2050" where a list is meant: images and other tools have rows as bits of a mask.
std::optional<std::uint64_t> mask_of(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t mask = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mask, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return mask;
}

// A number of the list that is none of a row.
Diagnostic wrong_rows(std::string_view list, std::string_view item) {
  const std::string_view text = trim(item);
  const auto row = parse_int(text);
  Diagnostic d = usage_error("DV021", cat("harvested rows '", list, "': ",
                                          text.empty() ? "a number is missing"
                                          : row        ? cat("the NoC has no row ", text, "; rows are 0 to ", kMaxRow, " at most")
                                                       : cat("'", text, "' is not the number of a row")));
  d.hint = "separate the numbers by commas: 1,11";
  const auto mask = trim(list) == text ? mask_of(text) : std::nullopt;
  if (!mask || *mask <= static_cast<std::uint64_t>(kMaxRow)) return d;
  std::vector<std::string> rows;
  for (std::int64_t bit = 0; bit <= kMaxRow; ++bit)
    if ((*mask >> bit & 1) != 0) rows.push_back(cat(bit));
  d.hint = cat("as a mask of rows, ", text, " stands for ", join(rows, ","));
  return d;
}

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
      const auto row = parse_int(trim(item));
      if (!row || *row < 0 || *row > kMaxRow) return wrong_rows(list, item);
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
