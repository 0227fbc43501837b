// SPDX-License-Identifier: Apache-2.0
// Spreadsheets of readings, and what none can hold.
#include "apps/tt-smi/workbook.hpp"

#include <buda/io/file_system.hpp>
#include <buda/io/temporary_directory.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::tt_smi {
namespace {

using ::testing::HasSubstr;

class Workbook : public ::testing::Test {
 protected:
  std::string message(const std::vector<Sheet>& sheets) {
    auto written = write_workbook({"Timestamp (s)"}, sheets, path_);
    if (written) return "written";
    const Diagnostic& d = written.failure().diagnostics().front();
    return d.code + " " + d.message;
  }
  io::TemporaryDirectory folder_ = io::TemporaryDirectory::make(::testing::TempDir(), "workbook-").value();
  std::string path_ = folder_.path() + "/dump.xlsx";
};

TEST_F(Workbook, HasAWorksheetForEachChip) {
  EXPECT_EQ(message({{"n150-chip-0", {{0.5}, {std::nullopt}}}, {"n150-chip-1", {{1.5}}}}), "written");
  EXPECT_TRUE(io::make_real_file_system()->read(path_)->view().starts_with("PK"));
}

TEST_F(Workbook, SaysWhichWorksheetCannotBe) {
  EXPECT_THAT(message({{"n150-chip-0", {}}, {"N150-chip-0", {}}}),
              HasSubstr("SI002 the spreadsheet cannot be written: worksheet 'N150-chip-0': "));
  EXPECT_THAT(message({{"a:b", {}}}), HasSubstr("worksheet 'a:b'"));
  EXPECT_FALSE(io::make_real_file_system()->exists(path_));
}

TEST_F(Workbook, HasNoMoreRowsThanExcel) {
  Sheet sheet{"n150-chip-0", {}};
  sheet.rows.resize(1 << 20);
  sheet.rows.back() = {1.0};  // one more than there is place for below the names of the columns
  EXPECT_THAT(message({sheet}), HasSubstr("worksheet 'n150-chip-0': "));
}

}  // namespace
}  // namespace buda::tt_smi
