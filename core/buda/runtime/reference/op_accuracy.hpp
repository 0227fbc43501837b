// SPDX-License-Identifier: Apache-2.0
// How far the results of ops in the formats of a device are from those in fp32 (docs/formats/accuracy.md): buda.accuracy/1.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/schema/record.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::runtime {

struct OpAccuracy {
  std::string name;  // in the netlist
  std::int64_t elements = 0;
  bool has_correlation = false;  // not where one of the two does not vary, or has infinities
  double correlation = 0;
  double max_error = 0, mean_error = 0;
  double magnitude = 0;  // largest absolute value in fp32
  friend bool operator==(const OpAccuracy&, const OpAccuracy&) = default;
};

struct AccuracyFile {
  std::string model;
  std::string netlist_digest;   // SHA-256 of its netlist's text; empty where it is not known
  std::vector<OpAccuracy> ops;  // by name
};

// Of tensors that both have. Fails where the shapes of one differ.
Result<AccuracyFile> accuracy_of(const NamedTensors& in_fp32, const NamedTensors& in_formats, std::string model);

const schema::Record<AccuracyFile>& describe(const AccuracyFile*);
const schema::Record<OpAccuracy>& describe(const OpAccuracy*);

}  // namespace buda::runtime
