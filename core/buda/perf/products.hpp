// The files in which a run is reported (docs/formats/perf.md).
//
//   for (const perf::Product& p : perf::products(summary, recording)) … p.path, p.content …
#pragma once

#include <buda/perf/recording.hpp>
#include <buda/perf/summary.hpp>

#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::perf {

struct Product {
  std::string path;  // in the folder of the reports
  std::string content;
};

// Of a run that has been recorded from its beginning. Files about single inputs need level `inputs`, and are missing below it.
std::vector<Product> products(const Summary& summary, const Recording& recording);

}  // namespace buda::perf

#pragma GCC visibility pop
