// SPDX-License-Identifier: Apache-2.0
// A fork with a short and a long path, in several forms.
#include "unit/liveness/mutants.hpp"

#include "unit/pipes/built.hpp"

#include <regex>

namespace buda::liveness {
namespace {

using pipes::op_text, pipes::queue_text;

// Tiles of an op: of t matrices.
struct Tiles {
  int m, n, rt, ct;
  std::string with_t(int t) const { return cat("t: ", t, ", mblock: [", m, ", ", n, "], ublock: [", rt, ", ", ct, "]"); }
};

class Net {
 public:
  Net(const Sizes& sizes, Tiles tiles, int t, int rows) : sizes_(sizes), tiles_(tiles), t_(t), rows_(rows) {}

  void queue(const std::string& name, const std::string& input) {
    const auto found = sizes_.entries.find(name);
    queues_ += queue_text(name, input, cat("grid_size: [", rows_, ", 1], ", tiles_.with_t(t_)), rows_, 0x10000000u + 0x4000000u * count_++,
                          cat("type: queue, entries: ", found == sizes_.entries.end() ? 4 : found->second));
  }
  void op(const std::string& name, const std::string& type, const std::string& inputs, int t, int mblocks, const std::string& more = "") {
    const auto buffers = sizes_.outputs.find(name);
    const auto room = sizes_.inputs.find(name);
    std::string rest = more;
    if (room != sizes_.inputs.end()) rest += cat(rest.empty() ? "" : ", ", "input_buf_min_size_tiles: [", room->second, "]");
    ops_ += op_text(name, type, inputs, inputs.find(',') == std::string::npos ? 1 : 2,
                    cat("grid_loc: [0, ", column_++, "], grid_size: [", rows_, ", 1]"),
                    cat(tiles_.with_t(t), ", ublock_order: r, buf_size_mb: ", buffers == sizes_.outputs.end() ? mblocks : buffers->second),
                    rest);
  }
  void sum(const std::string& name, const std::string& of) {
    op(name, "reduce", of, 1, 1, cat("attributes: {dim: z, type: max, z: ", t_, "}"));
  }
  void add(const std::string& name, const std::string& all, const std::string& one) {
    op(name, "add", cat(all, ", ", one), t_, 1, cat("input_1_tms: [broadcast: {z: ", t_, "}]"));
  }
  std::string text(int inputs) const {
    return pipes::netlist_text(queues_, ops_, inputs,
                               "x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}");
  }

 private:
  const Sizes& sizes_;
  Tiles tiles_;
  int t_, rows_, column_ = 0;
  unsigned count_ = 0;
  std::string queues_, ops_;
};

struct Form {
  Tiles tiles;
  int t, rows, between, mblocks, inputs;
};

// fork -> join, and fork -> sum -> more steps -> join.
std::string longer_path(const Sizes& sizes, const Form& f) {
  Net net(sizes, f.tiles, f.t, f.rows);
  net.queue("x", "HOST");
  net.queue("y", "join");
  net.op("fork", "nop", "x", f.t, f.mblocks);
  net.sum("sum", "fork");
  std::string last = "sum";
  for (int i = 0; i < f.between; ++i) {
    net.op(cat("step", i), "nop", last, 1, 2);
    last = cat("step", i);
  }
  net.add("join", "fork", last);
  return net.text(f.inputs);
}

// A join that is the fork of the next pair.
std::string two_pairs(const Sizes& sizes, const Form& f) {
  Net net(sizes, f.tiles, f.t, f.rows);
  net.queue("x", "HOST");
  net.queue("y", "join");
  net.op("fork", "nop", "x", f.t, f.mblocks);
  net.sum("sum", "fork");
  net.add("middle", "fork", "sum");
  net.sum("sum2", "middle");
  net.add("join", "middle", "sum2");
  return net.text(f.inputs);
}

// Two forks one behind the other, and a step on the short path.
std::string step_on_short_path(const Sizes& sizes, const Form& f) {
  Net net(sizes, f.tiles, f.t, f.rows);
  net.queue("x", "HOST");
  net.queue("y", "join");
  net.op("fork", "nop", "x", f.t, f.mblocks);
  net.op("short", "nop", "fork", f.t, 1);
  net.sum("sum", "fork");
  for (int i = 0; i < f.between; ++i) net.op(cat("step", i), "nop", i == 0 ? "sum" : cat("step", i - 1), 1, 2);
  net.add("join", "short", f.between == 0 ? "sum" : cat("step", f.between - 1));
  return net.text(f.inputs);
}

std::string less(const std::string& numbers) {
  std::string out;
  for (const std::string& number : {numbers.substr(0, numbers.find(',')), numbers.substr(numbers.find(',') + 1)})
    out += cat(out.empty() ? "" : ", ", std::max(std::stoi(number) - 1, 0));
  return out;
}

bool apply_hint(Sizes& sizes, const std::string& hint, bool fewer) {
  static const std::regex input("op '(.*)': input_buf_min_size_tiles: \\[(.*)\\]"), output("op '(.*)': buf_size_mb: (.*)"),
      queue("queue '(.*)': entries: (.*)");
  std::smatch match;
  bool all = !hint.empty();
  for (std::size_t begin = 0; begin < hint.size();) {
    const std::size_t end = std::min(hint.find("; ", begin), hint.size());
    const std::string part = hint.substr(begin, end - begin);
    // Only the first is made smaller.
    const bool here = fewer && begin == 0;
    if (std::regex_match(part, match, input)) {
      sizes.inputs[match[1]] = here ? less(match[2]) : match[2].str();
    } else if (std::regex_match(part, match, output)) {
      const int mblocks = std::stoi(match[2]);
      sizes.outputs[match[1]] = !here ? mblocks : mblocks > 2 ? mblocks - 2 : 1;
    } else if (std::regex_match(part, match, queue)) {
      sizes.entries[match[1]] = std::stoi(match[2]) - (here ? 1 : 0);
    } else {
      all = false;
    }
    begin = end + 2;
  }
  return all;
}

}  // namespace

bool add_hint_to(Sizes& sizes, const std::string& hint) { return apply_hint(sizes, hint, false); }
bool add_less_than_hint_to(Sizes& sizes, const std::string& hint) { return apply_hint(sizes, hint, true); }

std::vector<Family> families() {
  std::vector<Family> out;
  const std::vector<Tiles> blocks{{2, 2, 1, 2}, {1, 1, 2, 4}, {2, 2, 2, 2}, {2, 1, 1, 4}};
  int number = 0;
  auto add = [&](const char* name, std::string (*make)(const Sizes&, const Form&), const Form& f) {
    out.push_back({cat(name, ' ', number++, ": t ", f.t, ", ublock ", f.tiles.rt, 'x', f.tiles.ct, ", rows ", f.rows, ", ", f.between,
                       " steps, ", f.mblocks, " mblocks, ", f.inputs, " inputs"),
                   [make, f](const Sizes& sizes) { return make(sizes, f); }});
  };
  for (int t : {8, 12, 16})
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const int rows = 1 + static_cast<int>(b) % 2, inputs = 1 + t % 3;
      for (int between : {0, 1, 3})
        for (int mblocks : {1, 2}) add("longer path", longer_path, {blocks[b], t, rows, between, mblocks, inputs});
      for (int between : {0, 2}) add("step on the short path", step_on_short_path, {blocks[b], t, rows, between, 1, inputs});
      add("two pairs", two_pairs, {blocks[b], t, rows, 0, 1, inputs});
    }
  return out;
}

}  // namespace buda::liveness
