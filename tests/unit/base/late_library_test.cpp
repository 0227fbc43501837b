// SPDX-License-Identifier: Apache-2.0
// Libraries that are loaded when they are first needed.
#include <buda/base/late_library.hpp>

#include <gtest/gtest.h>

#include <string>

namespace buda {
namespace {

std::string complaint(const std::string& library, const char* symbol) {
  try {
    late_symbol(library, symbol);
  } catch (const LateLibraryError& error) {
    return error.what();
  }
  return "";
}

TEST(LateLibrary, SymbolsAreFound) { EXPECT_NE(late_symbol("libc.so.6", "malloc"), nullptr); }

TEST(LateLibrary, WhatIsMissingIsNamed) {
  EXPECT_EQ(complaint("libbuda_nothing.so.1", "f").find("libbuda_nothing.so.1: cannot open shared object file"), 0u);
  EXPECT_NE(complaint("libc.so.6", "buda_nothing").find("buda_nothing"), std::string::npos);
}

}  // namespace
}  // namespace buda
