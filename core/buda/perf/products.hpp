// SPDX-License-Identifier: Apache-2.0
// The files in which a run is reported (docs/formats/perf.md).
//
//   perf::write_products(summary, recording, [&](const perf::Product& p) { return fs.write(p.path, p.content); });
#pragma once

#include <buda/diag/result.hpp>
#include <buda/perf/recording.hpp>
#include <buda/perf/summary.hpp>

#include <functional>
#include <string>

namespace buda::perf {

struct Product {
  std::string path;  // in the folder of the reports
  std::string content;
};

// Takes one file; its error ends the writing.
using ProductSink = std::function<Result<void>(const Product&)>;

// Gives `sink` the files of a run that has been recorded from its beginning, each as soon as it is made, for all of them are tens of
// megabytes. Files about single inputs need level `inputs`, and are missing below it.
//
// `netlist_digest`: SHA-256 of the netlist's text, which summary.json keeps.
Result<void> write_products(const Summary& summary, const Recording& recording, const ProductSink& sink,
                            const std::string& netlist_digest = {});

}  // namespace buda::perf
