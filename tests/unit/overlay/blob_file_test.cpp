// SPDX-License-Identifier: Apache-2.0
// Blob files: what is refused, with which place.
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/blob/blob_places.hpp>

#include <buda/base/text.hpp>

#include "unit/device/source_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace buda::overlay {
namespace {

using testing::HasSubstr;

// Two cores; the first sends to the second.
const std::string kGood = R"({"schema": "buda.blob/1",
"arch": "wormhole_b0", "device": "n150", "graphs": ["g"],
"dram": [
{"queue": "x", "id": 100000000000, "port": "0-1", "address": 4096, "slots": 2, "entry_tiles": 4, "tile_bytes": 2080}],
"cores": [
{"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 1000, "bytes": 8320, "message": 2080, "read": {"buffers": [{"dram": 0}], "block_tiles": 2, "chunk_tiles": 2, "blocks": [[[0], 2, [0, 2]]]}, "phases": [[0, 4]]},
{"stream": 24, "kind": "output", "operand": 16, "address": 2000, "bytes": 8320, "message": 2080, "to": [[1, 4]], "phases": [[0, 4]]}]},
{"core": [0, 1], "noc": "2-1", "op": "b", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 8320, "message": 2080, "from": [[0, 24]], "phases": [[0, 4]]}]}]}
)";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

Diagnostic first_error(const std::string& text) {
  auto blob = parse_blob(text, "b.json");
  EXPECT_FALSE(blob.ok());
  return blob.ok() ? Diagnostic{} : blob.failure().diagnostics().front();
}

void expect_error(std::string_view from, std::string_view to, const std::string& code, std::uint32_t line, std::uint32_t column,
                  const std::string& message) {
  Diagnostic d = first_error(replaced(kGood, from, to));
  EXPECT_EQ(d.code, code) << d.message;
  EXPECT_THAT(d.message, HasSubstr(message));
  EXPECT_EQ(d.loc.file, "b.json");
  EXPECT_EQ(d.loc.line, line) << d.message;
  EXPECT_EQ(d.loc.column, column) << d.message;
}

TEST(BlobFile, ReadsAndWritesTheSame) {
  auto blob = parse_blob(kGood, "b.json");
  ASSERT_TRUE(blob.ok()) << blob.failure().diagnostics().front().message;
  EXPECT_EQ(blob->cores.size(), 2u);
  EXPECT_EQ(blob->cores[0].streams[0].read->blocks, (std::vector<ReadRun>{{{0, 0}, {0, 2}, 2}}));
  EXPECT_EQ(blob->cores[0].find(24)->messages(), 4);
  EXPECT_EQ(blob->find({1, 4})->sources, (std::vector<StreamRef>{{0, 24}}));
  std::string text = blob_text(*blob);
  auto again = parse_blob(text, "b.json");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *blob);
  EXPECT_EQ(blob_text(*again), text);
  EXPECT_TRUE(text.starts_with("{\"schema\": \"buda.blob/1\",\n"));
}

TEST(BlobFile, XKeysAreLeftAlone) {
  EXPECT_TRUE(parse_blob(replaced(kGood, "\"op\": \"a\"", "\"op\": \"a\", \"x-note\": [1]"), "b.json").ok());
}

TEST(BlobFile, BadKeysAndValues) {
  expect_error("buda.blob/1", "buda.blob/2", "SC007", 1, 12, "buda.blob/1");
  expect_error("\"kind\": \"input\"", "\"kid\": \"input\"", "SC002", 7, 22, "kid");
  expect_error("\"kind\": \"input\"", "\"kind\": \"inputs\"", "SC004", 7, 23, "inputs");
}

TEST(BlobFile, BadConnections) {
  expect_error("\"to\": [[1, 4]]", "\"to\": [[1, 5]]", "BB005", 8, 105, "core 1 has no stream 5");
  expect_error("\"to\": [[1, 4]]", "\"to\": [[7, 4]]", "BB005", 8, 105, "there are no cores 7 to 7");
  expect_error("\"to\": [[1, 4]]", "\"to\": [[0, 4]]", "BB006", 8, 105, "does not list this stream as its source");
  expect_error("\"from\": [[0, 24]]", "\"from\": [[0, 24], [0, 25]]", "BB005", 10, 113, "core 0 has no stream 25");
  expect_error("{\"dram\": 0}", "{\"dram\": 3}", "BB005", 7, 115, "no DRAM buffer 3");
}

TEST(BlobFile, BadPhasesAndRuns) {
  const std::string phases = "\"to\": [[1, 4]], \"phases\": [[0, 4]]";
  auto bad = [&](const std::string& p) { return first_error(replaced(kGood, phases, "\"to\": [[1, 4]], \"phases\": " + p)); };
  EXPECT_EQ(bad("[[0, 4], [0, 4]]").code, "BB002");             // not rising
  EXPECT_EQ(bad("[[0, 0]]").code, "BB002");                     // nothing to move
  EXPECT_EQ(bad("[[0, 4, 1]]").code, "BB002");                  // no such source
  EXPECT_EQ(bad("[[0, 4, 0, 1]]").code, "BB002");               // no such destination
  EXPECT_EQ(bad("[[[0, 4], 3, [0]]]").code, "BB002");           // a run that stands still
  EXPECT_EQ(bad("[[[0, 4], 1000000000, [1]]]").code, "BB002");  // a run without end
  EXPECT_EQ(bad("[[[0, 4], 2, [9000000000000000000]]]").code, "BB002");
  EXPECT_EQ(bad("[[9000000000000000000, 4]]").code, "BB002");
  EXPECT_EQ(bad("[[0, 4, 0, 0, 0, 0]]").code, "BB001");
  EXPECT_EQ(bad("[[]]").code, "BB001");
  Diagnostic d = bad("[[0, 4], [0, 4]]");
  EXPECT_EQ(d.loc.line, 8u);
  EXPECT_EQ(d.loc.column, 133u);
}

TEST(BlobFile, BadSupply) {
  const std::string blocks = "\"blocks\": [[[0], 2, [0, 2]]]";
  expect_error(blocks, "\"blocks\": []", "BB004", 7, 103, "at least one block of at least one buffer");
  expect_error("\"buffers\": [{\"dram\": 0}]", "\"buffers\": []", "BB004", 7, 103, "at least one block of at least one buffer");
  expect_error("\"bytes\": 8320", "\"bytes\": 0", "BB004", 7, 72, "a buffer of 0 bytes holds no message of 2080 bytes");
  expect_error("\"bytes\": 8320", "\"bytes\": 2079", "BB004", 7, 72, "a buffer of 2079 bytes");
  expect_error("\"bytes\": 8320", "\"bytes\": 1000000000000000", "BB004", 7, 72, "lies in no memory");
  expect_error("\"read\": {\"buffers\": [{\"dram\": 0}], \"block_tiles\": 2, \"chunk_tiles\": 2, \"blocks\": [[[0], 2, [0, 2]]]}, ", "",
               "BB004", 7, 1, "nothing gives the tiles of this input");
  expect_error("\"from\": [[0, 24]]", "\"from\": [[0, 24], [0, 4]]", "BB006", 10, 113, "stream 4 of core 0 does not send to this one");
  expect_error("\"to\": [[1, 4]], ", "", "BB006", 10, 104, "stream 24 of core 0 does not send to this one");
  expect_error("\"kind\": \"output\"", "\"kind\": \"fork\"", "BB004", 8, 1, "a fork needs fork_of");
  expect_error("\"operand\": 16,", "\"operand\": 16, \"fork_of\": 4,", "BB005", 8, 60, "has no buffer with which this one could send");
  expect_error("\"kind\": \"output\"", "\"kind\": \"intermediate\"", "BB004", 8, 1, "neither receives nor sends");
}

TEST(BlobFile, CountsBeyondAllChips) {
  expect_error("\"message\": 2080", "\"message\": 2147483647", "BB004", 7, 1, "its messages and iterations at least 1");
  expect_error("\"entry_tiles\": 4", "\"entry_tiles\": -1", "BB004", 4, 1, "at least 0");
  expect_error("\"block_tiles\": 2", "\"block_tiles\": 1000000000000", "BB004", 7, 103, "between 1 and 16777216");
  expect_error("\"phases\": [[0, 4]]", "\"iterations\": 1000000000000, \"phases\": [[0, 4]]", "BB002", 7, 237,
               "more messages than a chip moves");
  expect_error("\"to\": [[1, 4]]",
               "\"scattered\": true, \"window_tiles\": 1000000000000, \"ids_per_pass\": 1, \"passes\": 1000000000000, \"to\": [[1, 4]]",
               "BB004", 8, 1, "more tiles than a chip makes");
}

TEST(BlobFile, BadOrder) {
  expect_error("\"stream\": 24", "\"stream\": 3", "BB003", 8, 1, "are sorted by number");
  expect_error("\"core\": [0, 1]", "\"core\": [0, 0]", "BB003", 9, 1, "cores are sorted");
}

// Whatever the bytes: a diagnostic.
TEST(BlobFile, CutAnywhere) {
  for (std::size_t cut = 0; cut + 2 < kGood.size(); cut += 3)
    EXPECT_FALSE(parse_blob(std::string_view(kGood).substr(0, cut), "b.json").ok()) << cut;
}

// What the file itself cannot tell: whether a device has such a place.
TEST(BlobFile, PlacesOutsideTheDevice) {
  auto refused = [](const std::function<void(Blob&)>& change) {
    auto blob = parse_blob(kGood, "b.json");
    if (!blob) return std::string("not a blob");
    change(*blob);
    auto checked = check_places(*blob, device::shipped("n150"), "b.json");
    return checked ? "" : cat(checked.failure().diagnostics().front().message, " [", checked.failure().diagnostics().front().code, ']');
  };
  EXPECT_EQ(refused([](Blob&) {}), "");
  EXPECT_EQ(refused([](Blob& b) { b.cores[0].noc.x = 10; }),
            "core 0 is at 10-1, outside the network of n150, which has 10 columns and 12 rows [BB008]");
  EXPECT_EQ(refused([](Blob& b) { b.dram[0].port.y = 12; }),
            "the port of queue 'x' is at 0-12, outside the network of n150, which has 10 columns and 12 rows [BB008]");
  EXPECT_EQ(refused([](Blob& b) { b.cores[1].chip = -1; }), "core 1 is on chip -1 [BB008]");
  EXPECT_EQ(refused([](Blob& b) { b.cores[1].streams[0].bytes = ~std::uint64_t{0}; }).substr(0, 39),
            "the buffer of stream 4 of core 1, 18446");
  EXPECT_EQ(refused([](Blob& b) { b.cores[1].streams[0].noc_in = 2; }), "stream 4 of core 1 uses network 2; there are 0 and 1 [BB008]");
}

}  // namespace
}  // namespace buda::overlay
