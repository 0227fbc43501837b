// SPDX-License-Identifier: Apache-2.0
// The tables of the example netlists, and of small stream programs, do what the streams would do; with one thing wrong they do not.
#include "unit/movers/replay.hpp"

#include "unit/movers/blobs.hpp"
#include "unit/movers/stream_orders.hpp"
#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <buda/runtime/streams.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>

namespace buda::movers {
namespace {

struct Case {
  std::string name;
  std::shared_ptr<const overlay::Blob> blob;
  Execution execution;
};

void add_netlist(const std::string& name, const std::string& text, std::vector<Case>& out) {
  const auto& board = pipes::shipped("wormhole_b0");
  auto parsed = netlist::parse_netlist(text, name, {board.arch});
  ASSERT_TRUE(parsed.ok()) << name;
  runtime::Program program;
  program.netlist = std::move(*parsed);
  // Of random ones, some have tiles that cannot be handed out in the order that is asked for.
  if (!runtime::complete_program(program, {.streams = true}, {}, board, pipes::source_host())) return;
  for (const runtime::EpochStreams& epoch : program.epochs) out.push_back({name, std::make_shared<overlay::Blob>(*epoch.blob), {}});
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Two cores that take the same group, which the kernels have three times: all at once, and one after the other.
Case group(bool multicast) {
  std::string sends = kReader, takes = kTaker;
  const auto replace = [](std::string& text, const char* from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, std::string(from).size(), to);
  };
  replace(takes, "\"bytes\": 6240", "\"bytes\": 24960");
  for (std::string* text : {&sends, &takes}) replace(*text, "[0, 12]", "[0, 6]");
  std::string other = takes;
  replace(other, "[0, 1]", "[0, 2]");
  replace(other, "2-1", "3-1");
  replace(sends, "[[1, 4]]", multicast ? "[[1, 2, 4]]" : "[[1, 4]]");
  Case out{multicast ? "group, multicast" : "group", nullptr, {}};
  out.blob = std::make_shared<overlay::Blob>(blob_of(sends + "," + takes + (multicast ? "," + other : "")));
  out.execution.inputs = 2;
  out.execution.l1_end = 1 << 20;
  for (std::size_t c = 1; c < out.blob->cores.size(); ++c) out.execution.kernel_inputs[{c, 0}] = {72, 7};
  return out;
}

// Of windows of four tiles one core takes the last two first, and another one the others.
Case windows() {
  Case out{"windows", nullptr, {}};
  out.blob = std::make_shared<overlay::Blob>(blob_of(kWindows, ""));
  return out;
}

// A window of as many tiles as there are slots leaves several times, and its last time is neighbour to the next window's first.
Case repeated() {
  Case out{"repeated", nullptr, {}};
  out.blob = std::make_shared<overlay::Blob>(blob_of(R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 24, "kind": "output", "operand": 16, "address": 20000, "bytes": 6240, "message": 2080, "scattered": true, "window_tiles": 3, "ids_per_pass": 6, "passes": 1, "to": [[1, 4]], "iterations": 3, "phases": [[[0, 3], 6, [1]]]}]},
{"core": [0, 1], "noc": "2-1", "op": "b", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 3000, "bytes": 8320, "message": 2080, "from": [[0, 24]], "iterations": 3, "phases": [[0, 18]]}]})",
                                                     ""));
  return out;
}

Case sums() {
  Case out{"sums", nullptr, {}};
  out.blob = std::make_shared<overlay::Blob>(blob_of(kSums));
  out.execution.inputs = 3;
  return out;
}

// Tiles before the epoch that stay for all inputs.
Case prologue() {
  Case out{"prologue", nullptr, {}};
  out.blob = std::make_shared<overlay::Blob>(blob_of(R"({"core": [0, 0], "noc": "1-1", "op": "a", "streams": [
{"stream": 4, "kind": "input", "operand": 0, "address": 200000, "bytes": 8320, "message": 2080, "read": {"buffers": [{"dram": 0}], "block_tiles": 3, "chunk_tiles": 2, "before_epoch": true, "blocks": [[0]]}, "phases": [[0, 3]]}]})"));
  out.execution.inputs = 5;
  out.execution.l1_end = 1 << 20;
  out.execution.kernel_inputs[{0, 0}] = {30, 5};
  return out;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> out{group(false), group(true), windows(), repeated(), sums(), prologue()};
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) source = ".";
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(source) / "share/examples/netlists"))
      if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) add_netlist(path.stem().string(), text_of(path), out);
    std::string rows = text_of(std::filesystem::path(source) / "share/examples/netlists/nop.yaml");
    const std::pair<std::string_view, std::string_view> changes[] = {
        {"math_fidelity: HiFi3}", "math_fidelity: HiFi3, untilize_output: true}"},
        {"grid_loc: [0, 0], grid_size: [1, 1]", "grid_loc: [0, 0], grid_size: [1, 2]"},
        {"t: 1, mblock: [1, 2], ublock: [2, 2], ublock_order: r, buf_size_mb",
         "t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb"}};
    for (const auto& [from, to] : changes) rows.replace(rows.find(from), from.size(), to);
    const std::size_t before = out.size();
    add_netlist("rows", rows, out);
    EXPECT_GT(out.size(), before) << "rows of numbers that two cores write";
    Rng rng(50);
    for (int i = 0; i < pipes::netlists_wanted(12); ++i) add_netlist(cat("random ", i), pipes::random_netlist(rng), out);
    return out;
  }();
  return all;
}

TEST(Replay, TablesDoWhatStreamsWouldDo) {
  std::size_t replayed = 0;
  for (const Case& c : cases()) {
    const auto tables = lower(*c.blob, c.execution);
    if (!tables) {
      EXPECT_EQ(tables.failure().diagnostics().front().code, "MV001") << c.name;
      continue;
    }
    ++replayed;
    for (std::uint32_t seed : {0u, 1u, 2u}) EXPECT_EQ(wrong_with(*c.blob, c.execution, *tables, seed), "") << c.name << ", seed " << seed;
  }
  EXPECT_GE(replayed, 40u);
}

// The first place in all tables for which `change` finds something to change.
template <class Records, class Change>
bool first(Tables& tables, Records records, Change change) {
  for (CoreTables& core : tables.cores)
    for (auto& record : core.*records)
      if (change(core, record)) return true;
  return false;
}
using Mutation = std::function<bool(Tables&)>;

template <class Change>
Mutation in(Change change) {
  return [=](Tables& t) { return first(t, &CoreTables::ins, change); };
}
template <class Change>
Mutation out(Change change) {
  return [=](Tables& t) { return first(t, &CoreTables::outs, change); };
}
template <class Change>
Mutation connection(Change change) {
  return out([=](CoreTables&, Out& o) { return !o.connections.empty() && change(o, o.connections.front()); });
}
// Over the first connection.
std::int64_t tiles_of(const std::vector<SendRun>& runs) {
  std::int64_t all = 0;
  overlay::for_each(runs, [&](const auto& t) { all += t[1] == 0 ? t[0] : 0; });
  return all;
}
// Run by run, so that one tuple can be changed.
template <std::size_t N>
std::vector<overlay::Run<N>> single(const std::vector<overlay::Run<N>>& runs) {
  std::vector<overlay::Run<N>> flat;
  overlay::for_each(runs, [&](const auto& t) { flat.push_back({t, {}, 1}); });
  return flat;
}

// Whether lower numbers are still to be sent after the first tuple.
bool leaves_lower(const Out& o) { return o.sends.front().first[4] < o.sends.front().first[2]; }

// Two senders of a core to one ring are told the same, and one of them may always be ahead.
bool from_other_cores(const In& i) { return i.credits.size() < 2 || i.credits[0].node != i.credits[1].node; }
bool is_alone(const CoreTables& core, const Out& out) {
  return std::count_if(core.outs.begin(), core.outs.end(), [&](const Out& o) {
           return !o.connections.empty() && o.connections.front().first == out.connections.front().first &&
                  o.connections.front().address == out.connections.front().address;
         }) == 1;
}

const std::vector<std::pair<const char*, Mutation>>& mutations() {
  static const std::vector<std::pair<const char*, Mutation>> all = {
      {"credit to the next word", in([](CoreTables&, In& i) { return !i.credits.empty() && (i.credits.front().address += 4) != 0; })},
      {"credit to another core", in([](CoreTables& c, In& i) { return !i.credits.empty() && c.node != i.credits.front().node && (i.credits.front().node = c.node, true); })},
      {"no credit", in([](CoreTables&, In& i) { return !i.credits.empty() && (i.credits.clear(), true); })},
      {"arrival read from the next word", in([](CoreTables&, In& i) { return !i.arrivals.empty() && from_other_cores(i) && (i.arrivals.front() += 16) != 0; })},
      {"arrival told in the next word", connection([](Out&, Connection& c) { return (c.arrival += 16) != 0; })},
      {"credits read from the next word", out([](CoreTables& c, Out& o) { return !o.connections.empty() && is_alone(c, o) && (o.connections.front().credits += 4) != 0; })},
      {"receiver with a slot more", connection([](Out& o, Connection& c) { return tiles_of(o.sends) > c.slots && ++c.slots > 0; })},
      {"receiver with a slot less", connection([](Out& o, Connection& c) { return c.slots > 1 && tiles_of(o.sends) >= c.slots && --c.slots > 0; })},
      {"receiver's ring at the next slot", connection([](Out&, Connection& c) { return (c.address += 2080) != 0; })},
      {"receivers one less", connection([](Out&, Connection& c) { return c.receivers > 1 && --c.receivers > 0; })},
      {"rectangle of one core", connection([](Out&, Connection& c) { return c.receivers > 1 && (c.last = c.first, true); })},
      {"sent to a core without tables", connection([](Out&, Connection& c) { return (c.first = c.last = {0, 0}, true); })},
      {"sent from the next slot", connection([](Out& o, Connection&) { return (o.sends.front().first[2] += 1) > 0; })},
      {"sent to the next slot", connection([](Out& o, Connection&) { return (o.sends.front().first[3] += 1) > 0; })},
      {"a tuple is not sent", out([](CoreTables&, Out& o) { o.sends = single(o.sends); return (o.sends.pop_back(), true); })},
      {"a tuple is sent twice", connection([](Out& o, Connection&) { o.sends = single(o.sends); return (o.sends.push_back(o.sends.back()), true); })},
      {"tuples change places", connection([](Out& o, Connection&) { o.sends = single(o.sends); if (o.sends.size() < 2 || o.sends[0].first[1] != o.sends[1].first[1]) return false; std::swap(o.sends[0], o.sends[1]); return true; })},
      {"to another connection", connection([](Out& o, Connection&) { return o.connections.size() > 1 && (std::swap(o.connections[0], o.connections[1]), true); })},
      {"free too early", out([](CoreTables&, Out& o) { o.sends = single(o.sends); return leaves_lower(o) && (o.sends[0].first[4] = o.sends[0].first[2] + 1) > 0; })},
      {"never free", out([](CoreTables&, Out& o) { o.sends = single(o.sends); o.sends.back().first[4] = 0; return true; })},
      {"written to the next tile", out([](CoreTables&, Out& o) { return o.writes && (o.sends.front().first[3] += 2080) > 0; })},
      {"written to another node", out([](CoreTables& c, Out& o) { if (!o.writes) return false; c.nodes.push_back({{31, 31}, 0}); o.sends = single(o.sends); o.sends.front().first[1] = static_cast<std::int64_t>(c.nodes.size()) - 1; return true; })},
      {"rows of numbers in other places", out([](CoreTables&, Out& o) { return o.rows.count > 0 && (o.sends.front().first[3] += o.rows.pitch) > 0; })},
      {"a tile less from a sender", in([](CoreTables&, In& i) { return !i.takes.empty() && i.takes.front().first[0]-- > 0; })},
      {"a tile more from a sender", in([](CoreTables&, In& i) { return !i.takes.empty() && i.takes.back().first[0]++ > 0; })},
      {"from another sender", in([](CoreTables&, In& i) { return i.arrivals.size() > 1 && (std::swap(i.arrivals[0], i.arrivals[1]), true); })},
      {"read from the next tile", in([](CoreTables& c, In& i) { return i.reads && (i.read.front().first[2] += c.rings[i.ring].message_bytes) > 0; })},
      {"read from another node", in([](CoreTables& c, In& i) { if (!i.reads) return false; c.nodes.push_back({{31, 31}, 0}); i.read = single(i.read); i.read.front().first[1] = static_cast<std::int64_t>(c.nodes.size()) - 1; return true; })},
      {"a read is lost", in([](CoreTables&, In& i) { if (!i.reads) return false; i.read = single(i.read); i.read.pop_back(); return true; })},
      {"a read twice", in([](CoreTables&, In& i) { if (!i.reads) return false; i.read = single(i.read); i.read.push_back(i.read.back()); return true; })},
      {"a group a tile larger", in([](CoreTables&, In& i) { return i.group > 0 && ++i.group > 0; })},
      {"a group a tile smaller", in([](CoreTables&, In& i) { return i.group > 1 && --i.group > 0; })},
      {"a group once more", in([](CoreTables&, In& i) { return i.group > 0 && ++i.times > 0; })},
      {"a group once less", in([](CoreTables&, In& i) { return i.group > 0 && --i.times > 0; })},
      {"a group that does not stay", in([](CoreTables&, In& i) { return i.group > 0 && (i.group = 0, true); })},
      {"a copy less", in([](CoreTables& c, In& i) { return i.group > 0 && c.rings[i.ring].copies > 1 && --c.rings[i.ring].copies > 0; })},
      {"rings of two inputs change places", [](Tables& t) { for (CoreTables& c : t.cores) for (std::size_t i = 1; i < c.ins.size(); ++i) if (c.rings[c.ins[i].ring].kernel == c.rings[c.ins[0].ring].kernel && c.ins[i].ring != c.ins[0].ring) return (std::swap(c.ins[i].ring, c.ins[0].ring), true); return false; }},
      {"rings that overlap", [](Tables& t) { for (CoreTables& c : t.cores) for (std::size_t i = 1; i < c.rings.size(); ++i) return (c.rings[i].address = c.rings[0].address, true); return false; }},
  };
  return all;
}

// A defect shows in what is found wrong, whatever else the netlist does; some only at some speeds.
TEST(Replay, FindsSeededDefects) {
  for (const auto& [name, mutate] : mutations()) {
    std::size_t found = 0, applied = 0;
    for (const Case& c : cases()) {
      auto tables = lower(*c.blob, c.execution);
      if (!tables || !mutate(*tables)) continue;
      ++applied;
      for (std::uint32_t seed : {0u, 1u, 2u})
        if (!wrong_with(*c.blob, c.execution, *tables, seed).empty()) {
          ++found;
          break;
        }
    }
    EXPECT_GT(applied, 0u) << name;
    EXPECT_EQ(found, applied) << name;
  }
}

TEST(Replay, FindsDefectsOfTheFirmware) {
  const std::vector<std::pair<const char*, Defects>> all = {
      {"flag before data", {.flag_before_data = true}}, {"frees early", {.frees_early = true}},
      {"ignores room", {.ignores_room = true}},         {"keeps credits", {.keeps_credits = true}},
      {"forgets a group", {.forgets_group = true}},     {"copies early", {.copies_early = true}}};
  for (const auto& [name, defects] : all) {
    std::size_t found = 0;
    for (const Case& c : cases()) {
      const auto tables = lower(*c.blob, c.execution);
      for (std::uint32_t seed : {0u, 1u, 2u})
        if (tables && !wrong_with(*c.blob, c.execution, *tables, seed, defects).empty()) ++found;
    }
    EXPECT_GT(found, 0u) << name;
  }
}

}  // namespace
}  // namespace buda::movers
