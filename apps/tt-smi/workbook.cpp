// SPDX-License-Identifier: Apache-2.0
// A worksheet for each chip, the names of the columns in bold.
#include "apps/tt-smi/workbook.hpp"

#include <buda/base/text.hpp>

#include <xlsxwriter.h>

namespace buda::tt_smi {

Result<void> write_workbook(const std::vector<std::string>& columns, const std::vector<Sheet>& sheets, const std::string& path) {
  lxw_workbook* book = workbook_new(path.c_str());
  if (book == nullptr) return input_error("SI002", {path}, "the spreadsheet cannot be written");
  lxw_doc_properties properties{};
  properties.created = 1;  // else it would be the time of writing
  workbook_set_properties(book, &properties);
  lxw_format* bold = workbook_add_format(book);
  format_set_bold(bold);
  for (const Sheet& sheet : sheets) {
    // Excel's limit for names.
    lxw_worksheet* page = workbook_add_worksheet(book, sheet.name.substr(0, 31).c_str());
    if (page == nullptr) continue;
    lxw_col_t c = 0;
    for (const std::string& column : columns) worksheet_write_string(page, 0, c++, column.c_str(), bold);
    worksheet_set_column(page, 0, c, 18, nullptr);
    lxw_row_t r = 1;
    for (const auto& row : sheet.rows) {
      for (c = 0; c < row.size(); ++c)
        if (row[c]) worksheet_write_number(page, r, c, *row[c], nullptr);
      ++r;
    }
  }
  if (const lxw_error error = workbook_close(book); error != LXW_NO_ERROR)
    return input_error("SI002", {path}, cat("the spreadsheet cannot be written: ", lxw_strerror(error)));
  return success();
}

}  // namespace buda::tt_smi
