// SPDX-License-Identifier: Apache-2.0
// From the tiles of each consumer core back to the buffers of the producer.
//
// The consumer's part of the tensor is gone through in the order in which it is consumed (tile_order.hpp), line by line (line_map.hpp),
// which gives runs of indices in the buffers of the producer's cores. An index may lie beyond the producer's buffer, which holds only
// `buffered_t` of its ts:
// - without stacks each t of the producer becomes ts of the consumer, in the same order and in the same way for each. The runs of the first
//   window are those of every window;
// - with stacks one t of the consumer draws on several windows. The walk goes through the whole input, its runs are sorted by window, and
//   the windows are compared: what a pipe takes from the first window must be taken from each, though it may go to another destination.
//   Such pipes have several destinations, in round-robin order, and are called phased. Padding that follows each window alike belongs to
//   what the pipe takes; what a destination gets beyond that are turns of their own.
// The reference computes the destinations of phased pipes from the factors of the manipulations; comparing windows needs no such rules, and
// what it accepts is right by construction.
#include <buda/tiling/edge_routes.hpp>
#include <buda/tiling/line_map.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace buda::tiling {

using netlist::TileIndex;
using netlist::UblockOrder;

namespace {

// Goes through a list of runs piece by piece.
class RunCursor {
 public:
  explicit RunCursor(const std::vector<Run>& runs) : runs_(runs) {}
  bool at_end() const { return index_ == runs_.size(); }
  Run rest() const { return {runs_[index_].core, runs_[index_].first + done_, runs_[index_].count - done_}; }
  void advance(std::int64_t count) {
    done_ += count;
    while (index_ < runs_.size() && done_ >= runs_[index_].count) {
      done_ -= runs_[index_].count;
      ++index_;
    }
  }

 private:
  const std::vector<Run>& runs_;
  std::size_t index_ = 0;
  std::int64_t done_ = 0;
};

bool same_beginning(const Run& a, const Run& b) { return a.core == b.core && (a.core == kPaddingCore || a.first == b.first); }

// Appends the first `count` tiles of `from` to `to` when the rest of `from` repeats them; false when it does not.
bool take_period(const RunList& from, std::int64_t count, RunList& to) {
  RunCursor cursor(from.runs());
  RunList head;
  while (!cursor.at_end() && head.tiles() < count) {
    Run run = cursor.rest();
    run.count = std::min(run.count, count - head.tiles());
    cursor.advance(run.count);
    head.add(run);
  }
  for (const Run& run : head.runs()) to.add(run);
  while (!cursor.at_end()) {
    for (RunCursor again(head.runs()); !again.at_end() && !cursor.at_end();) {
      Run a = cursor.rest(), b = again.rest();
      if (!same_beginning(a, b)) return false;
      std::int64_t both = std::min(a.count, b.count);
      cursor.advance(both);
      again.advance(both);
    }
  }
  return true;
}

class Router {
 public:
  Router(const TileLayout& producer, const LineMap& map, const TileOrder& consumer)
      : producer_(producer),
        map_(map),
        consumer_(consumer),
        buffered_t_(producer.buffered_t),
        window_(producer.window_tiles()),
        input_tiles_(producer.block.tiles()) {}

  std::variant<EdgeRoutes, RouteError> run();

 private:
  bool check();
  bool collect_plain();
  bool collect_phased();
  // What a destination takes from one window, and the padding that comes after it.
  struct WindowPart {
    RunList tiles;
    std::int64_t padding = 0;
    std::int64_t turns = 0;  // of padding, as long as `tiles`, after these
  };
  bool by_window(std::int32_t destination, std::vector<WindowPart>& parts);
  bool settle_padding(std::vector<std::vector<WindowPart>>& parts);
  void walk_t(std::int64_t destination, std::int64_t input, std::int64_t t, RunList& out) const;
  bool broadcast_part(std::int64_t destination, std::int64_t inputs, RunList& out);
  void finish();
  bool fail(std::string reason, bool too_large = false) {
    error_ = {std::move(reason), too_large};
    return false;
  }

  const TileLayout& producer_;
  const LineMap& map_;
  const TileOrder& consumer_;
  std::int64_t buffered_t_, window_, input_tiles_;
  EdgeRoutes out_;
  RouteError error_;
};

bool Router::check() {
  std::int64_t t = producer_.block.t;
  if (buffered_t_ % t != 0 && t % buffered_t_ != 0)
    return fail(
        cat("the producer's buffer holds ", buffered_t_, " mblocks and its t is ", t, "; one of these must be a multiple of the other"));
  if (map_.shape() != consumer_.needed())
    return fail(cat("the tensor that arrives has ", map_.shape().text(), " tiles, and the consumer takes ", consumer_.needed().text()));
  auto tiles = checked_mul(consumer_.destinations(), consumer_.tiles());
  if (tiles) tiles = checked_mul(*tiles, std::max<std::int64_t>(1, buffered_t_ / t));
  if (!tiles || *tiles > kMaxEdgeTiles)
    return fail(cat("the consumer's cores take more than ", kMaxEdgeTiles, " tiles for one buffer of the producer"), true);
  const auto& broadcast = consumer_.kernel_broadcast;
  if (broadcast.tiles > 0 && !broadcast.per_t && (t != 1 || buffered_t_ != 1))
    return fail(
        cat("kernel_broadcast needs a producer with t = 1 that buffers one mblock; this one has t = ", t, " and buffers ", buffered_t_));
  std::int64_t most = broadcast.per_t ? consumer_.tiles_per_t() : consumer_.tiles();
  if (broadcast.tiles > most) return fail(cat("kernel_broadcast of ", broadcast.tiles, " tiles, and the input has only ", most));
  return true;
}

void Router::walk_t(std::int64_t destination, std::int64_t input, std::int64_t t, RunList& out) const {
  const TileOrder& c = consumer_;
  TileIndex origin = c.origin(destination);
  std::int64_t offset = input * input_tiles_;
  // A row of blocks that are one tile high is one line.
  bool long_lines = c.order == UblockOrder::r && c.block_rt == 1;
  std::int64_t width = long_lines ? c.part_ct() : c.block_ct;
  std::int64_t blocks_c = long_lines ? 1 : c.blocks_c;
  std::int64_t outer = c.order == UblockOrder::r ? c.blocks_r : blocks_c;
  std::int64_t inner = c.order == UblockOrder::r ? blocks_c : c.blocks_r;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      std::int64_t block_r = c.order == UblockOrder::r ? o : i, block_c = c.order == UblockOrder::r ? i : o;
      for (std::int64_t row = 0; row < c.block_rt; ++row) {
        TileIndex at{t, origin.r + block_r * c.block_rt + row, origin.c + block_c * width};
        for (std::int64_t left = width; left > 0;) {
          Line line = map_.line(at, left);
          producer_.add_runs(line, offset, out);
          at.c += line.count;
          left -= line.count;
        }
      }
    }
  }
}

// The part of a destination that a kernel reads again and again by itself.
bool Router::broadcast_part(std::int64_t destination, std::int64_t inputs, RunList& out) {
  const auto& broadcast = consumer_.kernel_broadcast;
  RunList all;
  for (std::int64_t input = 0; input < inputs; ++input) {
    for (std::int64_t t = 0; t < consumer_.t; ++t) {
      walk_t(destination, input, t, all);
      bool last = t + 1 == consumer_.t;
      if (!broadcast.per_t && !last) continue;
      if (!take_period(all, broadcast.tiles, out))
        return fail(cat("kernel_broadcast of ", broadcast.tiles, " tiles", broadcast.per_t ? cat(" per t, and at t = ", t) : ", and",
                        " the tiles that arrive do not repeat after so many"));
      all = {};
    }
    if (!broadcast.per_t) break;
  }
  return true;
}

// Cuts a list where it leaves the window.
void cut(RunList& list, std::int64_t window) {
  RunList kept;
  for (const Run& run : list.runs()) {
    if (run.core != kPaddingCore && run.first + run.count > window) {
      if (run.first < window) kept.add({run.core, run.first, window - run.first});
      list = std::move(kept);
      return;
    }
    kept.add(run);
  }
}

// Without stacks, consumers take from each t of the producer alike; with them (and a window of whole inputs) from each input alike. So the
// first is walked, and the runs of the others in the window are its runs, shifted.
bool Router::collect_plain() {
  const std::int64_t inputs = std::max<std::int64_t>(1, buffered_t_ / producer_.block.t);
  const std::int64_t alike_t = map_.stacks() ? producer_.block.t : 1, shift = alike_t * producer_.block.mblock_tiles();
  const std::int64_t consumer_t = consumer_.t * alike_t / producer_.block.t;
  for (std::int32_t d = 0; d < consumer_.destinations(); ++d) {
    PipeRoute pipe;
    pipe.destinations = {d};
    if (consumer_.kernel_broadcast.tiles > 0) {
      if (!broadcast_part(d, inputs, pipe.tiles)) return false;
      cut(pipe.tiles, window_);
    } else {
      for (std::int64_t t = 0; t < consumer_t; ++t) walk_t(d, 0, t, pipe.tiles);
      const std::vector<Run> first = pipe.tiles.runs();
      for (std::int64_t i = 1; i < buffered_t_ / alike_t; ++i)
        for (const Run& run : first) pipe.tiles.add({run.core, run.core == kPaddingCore ? 0 : run.first + i * shift, run.count});
    }
    out_.pipes.push_back(std::move(pipe));
  }
  return true;
}

// What a destination takes, sorted by the window in which it is. Padding between tiles of one window belongs to them, and so does padding
// before the first.
bool Router::by_window(std::int32_t destination, std::vector<WindowPart>& parts) {
  RunList all;
  for (std::int64_t t = 0; t < consumer_.t; ++t) walk_t(destination, 0, t, all);
  std::int64_t current = -1;
  std::int64_t padding = 0;
  for (RunCursor cursor(all.runs()); !cursor.at_end();) {
    Run run = cursor.rest();
    if (run.core == kPaddingCore) {
      padding += run.count;
    } else {
      std::int64_t w = run.first / window_;
      run.count = std::min(run.count, (w + 1) * window_ - run.first);
      if (w < current)
        return fail(cat("destination ", destination, " needs tiles of the producer's buffer ", w, " after tiles of its buffer ", current,
                        "; the producer would have to keep both (a buf_size_mb of all ts would)"));
      WindowPart& part = parts[static_cast<std::size_t>(w)];
      if (current >= 0 && w != current) {
        parts[static_cast<std::size_t>(current)].padding = padding;
      } else if (padding > 0) {
        part.tiles.add({kPaddingCore, 0, padding});
      }
      padding = 0;
      current = w;
      part.tiles.add({run.core, run.first - w * window_, run.count});
    }
    cursor.advance(run.count);
  }
  if (padding > 0 && current < 0) return fail(cat("destination ", destination, " gets nothing but padding"));
  if (padding > 0) parts[static_cast<std::size_t>(current)].padding = padding;
  return true;
}

// Where the same tiles are taken from several windows, the padding that follows them each time goes with them; the rest has to be whole
// turns.
bool Router::settle_padding(std::vector<std::vector<WindowPart>>& parts) {
  std::map<std::vector<Run>, std::int64_t> always;
  for (const auto& of_destination : parts)
    for (const WindowPart& s : of_destination)
      if (auto [it, fresh] = always.emplace(s.tiles.runs(), s.padding); !fresh) it->second = std::min(it->second, s.padding);
  for (std::size_t d = 0; d < parts.size(); ++d)
    for (std::size_t w = 0; w < parts[d].size(); ++w) {
      WindowPart& s = parts[d][w];
      if (s.tiles.empty()) continue;
      const std::int64_t along = always.at(s.tiles.runs()), rest = s.padding - along;
      if (along > 0) s.tiles.add({kPaddingCore, 0, along});
      if (rest % s.tiles.tiles() != 0)
        return fail(cat("destination ", d, " needs ", rest, " tiles of padding after buffer ", w, " of the producer, from which it takes ",
                        s.tiles.tiles(), "; the padding would have to be a multiple of these"));
      s.turns = rest / s.tiles.tiles();
    }
  return true;
}

bool Router::collect_phased() {
  if (consumer_.kernel_broadcast.tiles > 0)
    return fail("kernel_broadcast of a tensor that is stacked from several buffers of its producer");
  auto windows = static_cast<std::size_t>(producer_.block.t / buffered_t_);
  auto destinations = static_cast<std::int32_t>(consumer_.destinations());
  std::vector<std::vector<WindowPart>> parts(static_cast<std::size_t>(destinations), std::vector<WindowPart>(windows));
  for (std::int32_t d = 0; d < destinations; ++d)
    if (!by_window(d, parts[static_cast<std::size_t>(d)])) return false;
  if (map_.pads() && !settle_padding(parts)) return false;

  struct Twins {  // pipes that take the same
    std::vector<std::size_t> pipes;
    std::size_t used = 0;
  };
  auto add_turns = [&](PipeRoute& pipe, std::int32_t destination, std::int64_t padding) {
    pipe.destinations.push_back(destination);
    pipe.padded.push_back(false);
    pipe.destinations.insert(pipe.destinations.end(), static_cast<std::size_t>(padding), destination);
    pipe.padded.insert(pipe.padded.end(), static_cast<std::size_t>(padding), true);
  };
  std::map<std::vector<Run>, Twins> with_list;
  for (std::int32_t d = 0; d < destinations; ++d) {
    const WindowPart& first = parts[static_cast<std::size_t>(d)][0];
    if (first.tiles.empty()) continue;
    with_list[first.tiles.runs()].pipes.push_back(out_.pipes.size());
    out_.pipes.push_back({first.tiles, {}});
    add_turns(out_.pipes.back(), d, first.turns);
  }
  for (std::size_t w = 1; w < windows; ++w) {
    for (auto& [runs, twins] : with_list) twins.used = 0;
    std::size_t matched = 0;
    for (std::int32_t d = 0; d < destinations; ++d) {
      const WindowPart& part = parts[static_cast<std::size_t>(d)][w];
      if (part.tiles.empty()) continue;
      auto it = with_list.find(part.tiles.runs());
      if (it == with_list.end() || it->second.used == it->second.pipes.size())
        return fail(cat(
            "buffer ", w,
            " of the producer is not read like its buffer 0, so that one pipe cannot transfer both (a buf_size_mb of all ts avoids this)"));
      Twins& twins = it->second;
      add_turns(out_.pipes[twins.pipes[twins.used++]], d, part.turns);
      ++matched;
    }
    if (matched != out_.pipes.size()) return fail(cat("buffer ", w, " of the producer is read by fewer destinations than its buffer 0"));
  }
  return true;
}

// The shortest list of turns that, repeated, gives this one.
void shorten(PipeRoute& pipe) {
  if (std::none_of(pipe.padded.begin(), pipe.padded.end(), [](bool b) { return b; })) pipe.padded.clear();
  std::size_t n = pipe.destinations.size();
  auto same = [&](std::size_t i, std::size_t j) {
    return pipe.destinations[i] == pipe.destinations[j] && (pipe.padded.empty() || pipe.padded[i] == pipe.padded[j]);
  };
  for (std::size_t p = 1; p < n; ++p) {
    if (n % p != 0) continue;
    bool repeats = true;
    for (std::size_t i = p; i < n && repeats; ++i) repeats = same(i, i - p);
    if (repeats) {
      pipe.destinations.resize(p);
      if (!pipe.padded.empty()) pipe.padded.resize(p);
      return;
    }
  }
}

// Granularity, and whether every producer core hands out its tiles one after the other to one pipe.
void Router::finish() {
  out_.axis = consumer_.axis;
  out_.window = window_;
  out_.granularity = window_;
  auto cores = static_cast<std::size_t>(producer_.grid.volume());
  std::vector<std::int64_t> next(cores, 0);
  std::vector<std::int64_t> owner(cores, -1);
  for (std::size_t p = 0; p < out_.pipes.size(); ++p) {
    PipeRoute& pipe = out_.pipes[p];
    shorten(pipe);
    out_.scattered = out_.scattered || pipe.destinations.size() > 1;
    for (const Run& run : pipe.tiles.runs()) {
      if (run.core == kPaddingCore) {
        // A block of padding is one tile: the constant in DRAM has only a few.
        out_.granularity = 1;
        out_.scattered = true;
        continue;
      }
      out_.granularity = std::gcd(std::gcd(out_.granularity, run.count), run.first);
      auto core = static_cast<std::size_t>(run.core);
      if (owner[core] < 0) owner[core] = static_cast<std::int64_t>(p);
      out_.scattered = out_.scattered || owner[core] != static_cast<std::int64_t>(p) || next[core] != run.first;
      next[core] = run.first + run.count;
    }
  }
  for (std::int64_t n : next) out_.scattered = out_.scattered || n % producer_.block.mblock_tiles() != 0;
}

std::variant<EdgeRoutes, RouteError> Router::run() {
  bool phased = map_.stacks() && buffered_t_ < producer_.block.t;
  if (!check() || !(phased ? collect_phased() : collect_plain())) return error_;
  for (const PipeRoute& pipe : out_.pipes) {
    const auto& runs = pipe.tiles.runs();
    if (std::all_of(runs.begin(), runs.end(), [](const Run& r) { return r.core == kPaddingCore; }))
      return RouteError{cat("destination ", pipe.destinations.front(), " gets nothing but padding")};
  }
  finish();
  return std::move(out_);
}

}  // namespace

std::variant<EdgeRoutes, RouteError> route_edge(const TileLayout& producer, const LineMap& map, const TileOrder& consumer) {
  return Router(producer, map, consumer).run();
}

void split_multicasts(EdgeRoutes& routes, GridShape consumer) {
  if (routes.axis == MulticastAxis::core) return;
  bool rows = routes.axis == MulticastAxis::row;
  std::vector<PipeRoute> pipes;
  for (const PipeRoute& pipe : routes.pipes)
    for (std::int32_t i = 0; i < (rows ? consumer.cols : consumer.rows); ++i) {
      pipes.push_back({pipe.tiles, {}});
      for (std::int32_t d : pipe.destinations) pipes.back().destinations.push_back(rows ? d * consumer.cols + i : i * consumer.cols + d);
    }
  routes.pipes = std::move(pipes);
  routes.axis = MulticastAxis::core;
}

}  // namespace buda::tiling
