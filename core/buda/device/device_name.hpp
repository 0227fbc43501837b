// SPDX-License-Identifier: Apache-2.0
// How devices are named: boards, PyBuda's names of them, and rows of workers that somebody switches off.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::device {

// "e150", or "e150:harvested_rows=1,11": the same device without the workers of NoC rows 1 and 11. `board` is a name or a path; names of
// PyBuda, which begin with "gs_" or "wh_", lose that prefix to `family`.
struct DeviceName {
  std::string board;
  std::string family;              // "gs", "wh", or empty
  std::vector<std::int32_t> rows;  // set by hand; ascending
  std::string text() const;        // without the family
};

// DV021: rows that are no list of numbers.
Result<DeviceName> parse_device_name(const std::string& name);

// The name of a device with other rows switched off; `rows` as users write them: "1,11". Empty rows leave the name as it is.
std::string with_harvested_rows(const std::string& name, const std::string& rows);

// Whether a device's name says that its rows were chosen by hand, so that a chip must lack just these.
bool has_rows_set_by_hand(const std::string& name);

// The family of an architecture in PyBuda's names: "gs" of "grayskull", "wh" of "wormhole_b0"; empty for others.
std::string family_of(const std::string& arch);

}  // namespace buda::device
