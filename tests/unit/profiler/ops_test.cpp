// SPDX-License-Identifier: Apache-2.0
// Reports of ops: fields in quotes, and rows that are none.
#include "apps/profiler/ops_report.hpp"

#include <gtest/gtest.h>

namespace buda::profiler {
namespace {

const std::string kHeading = "OP CODE,GLOBAL CALL COUNT,ATTRIBUTES,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE KERNEL DURATION [ns]\n";

std::string report_refused(const std::string& text) {
  const auto report = parse_ops_report(text, "ops.csv");
  if (report.ok()) return "";
  const Diagnostic& d = report.failure().diagnostics().front();
  return d.code + " " + std::to_string(d.loc.line) + " " + d.message;
}

TEST(OpsReport, CollectsTheCallsOfAnOp) {
  const auto report =
      parse_ops_report(kHeading + "matmul,1,\"a \"\"b\"\", c\",10,20,5\nexp,2,,20,40,\nmatmul,3,x,40,50,7.5\r\n", "ops.csv");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->ops.size(), 2u);
  EXPECT_EQ(report->ops[0].code, "matmul");
  EXPECT_EQ(report->ops[0].kernel_ns, 12.5);
  ASSERT_EQ(report->ops[0].calls.size(), 2u);
  EXPECT_EQ(report->ops[0].calls[0].attributes, "a \"b\", c");
  EXPECT_EQ(report->ops[0].calls[1].begin, 40u);
}

TEST(OpsReport, RefusesWhatIsNone) {
  EXPECT_EQ(report_refused(""), "PF005 1 has no column 'OP CODE'");
  EXPECT_EQ(report_refused("OP CODE,X\n"), "PF005 1 has no column 'GLOBAL CALL COUNT'");
  EXPECT_EQ(report_refused(kHeading + "matmul,1,a,10,20\n"), "PF005 2 has 5 fields; the heading has 6");
  EXPECT_EQ(report_refused(kHeading + "matmul,1,a,10,9,5\n"), "PF005 2 a number of the op is none");
  EXPECT_EQ(report_refused(kHeading + "matmul,1,a,10,20,nan\n"), "PF005 2 a number of the op is none");
  EXPECT_EQ(report_refused(kHeading + "matmul,1,\"a\nb\",10,20,5\nmatmul,x,a,10,20,5\n"), "PF005 4 a number of the op is none");
  EXPECT_EQ(report_refused(kHeading + "matmul,1,\"a,10,20,5\n"), "PF005 2 a quote does not end");
}

}  // namespace
}  // namespace buda::profiler
