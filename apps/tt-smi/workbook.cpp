// SPDX-License-Identifier: Apache-2.0
// A worksheet for each chip, the names of the columns in bold.
#include "apps/tt-smi/workbook.hpp"

#include <buda/base/text.hpp>

#include <xlsxwriter.h>

namespace buda::tt_smi {

namespace {

Diagnostic refused(const std::string& path, std::string_view why) {
  return input_error("SI002", {path}, cat("the spreadsheet cannot be written: ", why));
}

// Names that Excel takes for the same, and more rows than it has, among others.
Result<void> add_sheet(lxw_workbook* book, lxw_format* heading, const std::vector<std::string>& columns, const Sheet& sheet,
                       const std::string& path) {
  const std::string name = sheet.name.substr(0, 31);  // Excel's limit
  auto failed = [&](lxw_error error) { return refused(path, cat("worksheet '", name, "': ", lxw_strerror(error))); };
  if (const lxw_error error = workbook_validate_sheet_name(book, name.c_str()); error != LXW_NO_ERROR) return failed(error);
  lxw_worksheet* page = workbook_add_worksheet(book, name.c_str());
  if (page == nullptr) return failed(LXW_ERROR_MEMORY_MALLOC_FAILED);
  lxw_col_t c = 0;
  for (const std::string& column : columns)
    if (const lxw_error error = worksheet_write_string(page, 0, c++, column.c_str(), heading); error != LXW_NO_ERROR) return failed(error);
  if (const lxw_error error = worksheet_set_column(page, 0, c, 18, nullptr); error != LXW_NO_ERROR) return failed(error);
  lxw_row_t r = 1;
  for (const auto& row : sheet.rows) {
    for (c = 0; c < row.size(); ++c) {
      if (!row[c]) continue;
      if (const lxw_error error = worksheet_write_number(page, r, c, *row[c], nullptr); error != LXW_NO_ERROR) return failed(error);
    }
    ++r;
  }
  return success();
}

}  // namespace

Result<void> write_workbook(const std::vector<std::string>& columns, const std::vector<Sheet>& sheets, const std::string& path) {
  lxw_workbook* book = workbook_new(path.c_str());
  if (book == nullptr) return refused(path, lxw_strerror(LXW_ERROR_MEMORY_MALLOC_FAILED));
  lxw_doc_properties properties{};
  properties.created = 1;  // else it would be the time of writing
  workbook_set_properties(book, &properties);
  lxw_format* bold = workbook_add_format(book);
  format_set_bold(bold);
  for (const Sheet& sheet : sheets)
    if (auto added = add_sheet(book, bold, columns, sheet, path); !added) {
      lxw_workbook_free(book);
      return added;
    }
  if (const lxw_error error = workbook_close(book); error != LXW_NO_ERROR) return refused(path, lxw_strerror(error));
  return success();
}

}  // namespace buda::tt_smi
