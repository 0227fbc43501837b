// SPDX-License-Identifier: Apache-2.0
// profiler: reports of ops and of cores of a simulated run.
#include "apps/profiler/options.hpp"

#include <buda/serve/http/http_server.hpp>

#include <array>
#include <ctime>

namespace {

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y_%m_%d_%H_%M_%S", ::localtime_r(&now, &parts));
  return {text.data(), size};
}

}  // namespace

int main(int argc, char** argv) {
  buda::profiler::Options options;
  return buda::cli::tool_main(argc, argv, buda::profiler::tool(options, {buda::serve::serve_http, date}));
}
