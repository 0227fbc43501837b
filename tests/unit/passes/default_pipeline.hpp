// SPDX-License-Identifier: Apache-2.0
// The pipeline that the optimizer runs when none is named.
#pragma once

#include <buda/base/text.hpp>
#include <buda/passes/pipeline/pipeline.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace buda::passes {

// From the sources, which ctest names in BUDA_SOURCE_DIR; without the variable from the current folder. An empty one, and a failed
// expectation, when it cannot be read.
inline Pipeline default_pipeline() {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  const std::string path = cat(source == nullptr ? "." : source, "/share/pipelines/default.yaml");
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path << " is not there; BUDA_SOURCE_DIR is the folder of the sources";
  std::stringstream text;
  text << in.rdbuf();
  auto pipeline = parse_pipeline(text.str(), "default.yaml");
  EXPECT_TRUE(pipeline.ok());
  return pipeline ? *pipeline : Pipeline{};
}

}  // namespace buda::passes
