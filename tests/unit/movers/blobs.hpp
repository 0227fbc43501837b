// SPDX-License-Identifier: Apache-2.0
// Small stream programs, for tests.
#pragma once

#include <buda/base/text.hpp>
#include <buda/overlay/blob/blob_file.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace buda::movers {

inline constexpr const char* kQueue =
    R"({"queue": "x", "id": 100000000000, "port": "0-1", "address": 4096, "slots": 2, "entry_tiles": 4, "tile_bytes": 2080})";

inline overlay::Blob blob_of(const std::string& cores, const std::string& dram = kQueue) {
  auto blob = overlay::parse_blob(cat(R"({"schema": "buda.blob/1", "arch": "wormhole_b0", "device": "n150", "graphs": ["g"], "dram": [)",
                                      dram, R"(], "cores": [)", cores, "]}"),
                                  "b.json");
  EXPECT_TRUE(blob.ok()) << (blob.ok() ? "" : blob.failure().diagnostics().front().message);
  return blob.ok() ? std::move(*blob) : overlay::Blob{};
}

// Core 0-0 reads a queue and sends its output to core 0-1.
inline const std::string kReader = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 1000, "bytes": 8320, "message": 2080, "read": {"buffers": [{"dram": 0}], "block_tiles": 2, "chunk_tiles": 2, "blocks": [[0, 2], [0]]}, "phases": [[0, 12]]},
{"stream": 24, "kind": "output", "operand": 16, "address": 20000, "bytes": 8320, "message": 2080, "to": [[1, 4]], "phases": [[0, 12]]}]})";
inline const std::string kTaker = R"({"core": [0, 1], "noc": "2-1", "op": "b", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 6240, "message": 2080, "from": [[0, 24]], "phases": [[0, 12]]}]})";

// Of a window of four tiles one core takes the first two, and one the others; then the next window, in the other half of the buffer.
inline const std::string kWindows = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 24, "kind": "output", "operand": 16, "address": 20000, "bytes": 16640, "message": 2080, "scattered": true, "window_tiles": 4, "ids_per_pass": 2, "passes": 2, "to": [[1, 4], [2, 4]],
 "phases": [[0, 2, 0, 0, 2], [1, 2, 0, 1, 0], [2, 2, 0, 0, 6], [3, 2, 0, 1, 4]]}]},
{"core": [0, 1], "noc": "2-1", "op": "b", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 8320, "message": 2080, "from": [[0, 24]], "phases": [[0, 2], [2, 2]]}]},
{"core": [0, 2], "noc": "3-1", "op": "c", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 8320, "message": 2080, "from": [[0, 24]], "phases": [[1, 2], [3, 2]]}]})";

// A kernel adds to four tiles of a ram.
inline const std::string kSums = R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 32, "kind": "intermediate", "operand": 24, "address": 200000, "bytes": 8320, "message": 2080, "read": {"buffers": [{"dram": 0}], "block_tiles": 4, "chunk_tiles": 4, "before_epoch": true, "blocks": [[0]]}, "write": {"dram": 0, "chunk_tiles": 4, "after_epoch": true}, "phases": [[0, 4]]}]})";

}  // namespace buda::movers
