// SPDX-License-Identifier: Apache-2.0
// Whether the buffers and pipes of a file are consistent with each other. Internal to the module.
#pragma once

#include <buda/pipes/format/file_errors.hpp>
#include <buda/pipes/format/pipegen_file.hpp>

namespace buda::pipes {

// PG002 for a file without buffers, PG008 for numbers out of range, PG009 for ids that are not unique, PG010 for pipes that contradict
// themselves, or refer to buffers that do not exist. O(n log n).
void check_consistency(const PlacedGraph& placed, FileErrors& errors);

}  // namespace buda::pipes
