// buda: the driver, as gcc is of cc1, as and ld.
#include "apps/buda/options.hpp"

#include <buda/cli/tool.hpp>

int main(int argc, char** argv) {
  buda::driver::Options options, train_options;
  buda::driver::CacheOptions cache_options;
  buda::driver::ExplainOptions explain_options;
  return buda::cli::tool_main(argc, argv, buda::driver::tool(options, train_options, cache_options, explain_options));
}
