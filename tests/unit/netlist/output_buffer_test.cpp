// SPDX-License-Identifier: Apache-2.0
// Sizes of output buffers that can be, and those that cannot.
#include <buda/netlist/model/output_buffer.hpp>

#include <gmock/gmock.h>

namespace buda::netlist {
namespace {

using ::testing::HasSubstr;

TEST(OutputBuffer, IsFilledByTheLastInput) {
  EXPECT_EQ(output_buffer_fault(1, 1, 5), std::nullopt);
  EXPECT_EQ(output_buffer_fault(2, 1, 5), std::nullopt);
  EXPECT_EQ(output_buffer_fault(4, 1, 6), std::nullopt);
  EXPECT_THAT(output_buffer_fault(4, 1, 5).value_or(""),
              HasSubstr("2 mblocks, which 5 inputs of 1 do not fill: the last 1 would never leave"));
  EXPECT_EQ(output_buffer_fault(10, 1, 5), std::nullopt);  // one half holds all
  EXPECT_EQ(output_buffer_fault(12, 3, 4), std::nullopt);
  EXPECT_THAT(output_buffer_fault(12, 3, 5).value_or(""), HasSubstr("the last 3 would never leave"));
  EXPECT_EQ(output_buffer_fault(6, 6, 5), std::nullopt);
}

TEST(OutputBuffer, HasTwoHalves) {
  EXPECT_THAT(output_buffer_fault(0, 1, 1).value_or(""), HasSubstr("at least one mblock"));
  EXPECT_THAT(output_buffer_fault(3, 1, 1).value_or(""), HasSubstr("is even"));
  EXPECT_THAT(output_buffer_fault(8, 6, 2).value_or(""), HasSubstr("have to divide one another"));
}

}  // namespace
}  // namespace buda::netlist
