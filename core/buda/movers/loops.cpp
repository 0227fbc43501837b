// SPDX-License-Identifier: Apache-2.0
// Entries of a list are runs and loops of entries. Two of the same shape differ only in where they begin: counts, steps and what is added
// in each turn are equal. Where entries of the same shapes follow each other again and again, in equal distances, they are a loop. What was
// found is searched for loops again, so that loops have loops in them.
#include <buda/movers/loops.hpp>

#include <movers/tables.h>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::movers {
namespace {

WordTuple operator-(const WordTuple& a, const WordTuple& b) {
  WordTuple out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] - b[i];
  return out;
}

struct Shape {
  std::uint32_t count = 1;        // of tuples, or of turns
  WordTuple step{};               // of a run
  std::vector<std::size_t> body;  // of a loop: shapes
  std::vector<WordTuple> jumps;   // of a loop: by run in it, what a turn adds
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

class Finder {
 public:
  Finder(const std::vector<WordRun>& runs, std::size_t width) : width_(width) {
    entries_.reserve(runs.size());
    for (const WordRun& run : runs) {
      entries_.push_back({number_of({run.count, run.count > 1 ? run.step : WordTuple{}, {}, {}}), firsts_.size()});
      firsts_.push_back(run.first);
    }
  }

  Listing run() {
    // Short ones first: what they are in is found afterwards.
    for (std::size_t longest : {std::size_t{8}, std::size_t{64}, std::size_t{64}}) find(longest);
    Listing out;
    out.entries = static_cast<std::uint32_t>(entries_.size());
    for (const Entry& entry : entries_) {
      std::size_t first = entry.first;
      out.depth = std::max(out.depth, sizes_[entry.shape].depth);
      write(entry.shape, first, out.words);
    }
    return out;
  }

 private:
  struct Entry {
    std::size_t shape = 0, first = 0;  // in firsts_: of its runs, one after the other
  };
  struct Size {
    std::size_t runs = 1, words = 0, depth = 0;
  };
  struct Loop {
    std::size_t length = 0, turns = 0, saved = 0;
  };

  std::size_t number_of(Shape shape) {
    const auto [place, is_new] = numbers_.emplace(std::move(shape), shapes_.size());
    if (!is_new) return place->second;
    const Shape& s = place->first;
    Size size{1, 1 + width_ * (s.count > 1 ? 2 : 1), 0};
    if (!s.body.empty()) {
      size = {0, 2, 0};
      for (std::size_t part : s.body) {
        size.runs += sizes_[part].runs;
        size.words += sizes_[part].words + sizes_[part].runs * width_;
        size.depth = std::max(size.depth, sizes_[part].depth + 1);
      }
    }
    shapes_.push_back(&s);
    sizes_.push_back(size);
    return shapes_.size() - 1;
  }

  bool same_shapes(std::size_t a, std::size_t b, std::size_t length) const {
    for (std::size_t k = 0; k < length; ++k)
      if (entries_[a + k].shape != entries_[b + k].shape) return false;
    return true;
  }
  // Whether what begins at `b` is as far behind what begins at `a` as that is behind the same before it.
  bool same_distance(std::size_t a, std::size_t b, std::size_t length) const {
    for (std::size_t k = 0; k < length; ++k) {
      const Entry &before = entries_[2 * a - b + k], &now = entries_[a + k], &next = entries_[b + k];
      for (std::size_t i = 0; i < sizes_[now.shape].runs; ++i)
        if (firsts_[next.first + i] - firsts_[now.first + i] != firsts_[now.first + i] - firsts_[before.first + i]) return false;
    }
    return true;
  }

  // The best one that begins at entry `at`; of no turns where none saves anything.
  Loop best_at(std::size_t at, std::size_t longest) const {
    Loop best;
    std::size_t words = 0, runs = 0;
    for (std::size_t length = 1; length <= longest && at + 2 * length <= entries_.size(); ++length) {
      const Size& added = sizes_[entries_[at + length - 1].shape];
      words += added.words;
      runs += added.runs;
      if (entries_[at].shape != entries_[at + length].shape || !same_shapes(at, at + length, length)) continue;
      std::size_t turns = 2;
      while (at + (turns + 1) * length <= entries_.size() && same_shapes(at, at + turns * length, length) &&
             same_distance(at + (turns - 1) * length, at + turns * length, length))
        ++turns;
      const std::size_t loop_words = 2 + words + runs * width_;
      if (turns * words <= loop_words) continue;
      const std::size_t saved = turns * words - loop_words;
      // Any two have a distance: it has to be worth it.
      if (turns == 2 && 2 * saved < words) continue;
      if (saved > best.saved) best = {length, turns, saved};
    }
    return best;
  }

  void find(std::size_t longest) {
    std::vector<Entry> entries;
    std::vector<WordTuple> firsts;
    const auto keep = [&](std::size_t from, std::size_t count) {
      for (std::size_t k = from; k < from + count; ++k)
        for (std::size_t i = 0; i < sizes_[entries_[k].shape].runs; ++i) firsts.push_back(firsts_[entries_[k].first + i]);
    };
    for (std::size_t at = 0; at < entries_.size();) {
      const Loop loop = best_at(at, longest);
      const std::size_t first = firsts.size();
      if (loop.turns == 0) {
        keep(at, 1);
        entries.push_back({entries_[at].shape, first});
        ++at;
        continue;
      }
      Shape shape;
      shape.count = static_cast<std::uint32_t>(loop.turns);
      for (std::size_t k = at; k < at + loop.length; ++k) {
        shape.body.push_back(entries_[k].shape);
        for (std::size_t i = 0; i < sizes_[entries_[k].shape].runs; ++i)
          shape.jumps.push_back(firsts_[entries_[k + loop.length].first + i] - firsts_[entries_[k].first + i]);
      }
      keep(at, loop.length);
      entries.push_back({number_of(std::move(shape)), first});
      at += loop.turns * loop.length;
    }
    entries_ = std::move(entries);
    firsts_ = std::move(firsts);
  }

  void put(const WordTuple& tuple, std::vector<std::uint32_t>& to) const {
    to.insert(to.end(), tuple.begin(), tuple.begin() + static_cast<std::ptrdiff_t>(width_));
  }
  // `first` goes on behind the entry's runs.
  void write(std::size_t number, std::size_t& first, std::vector<std::uint32_t>& to) {
    const Shape& shape = *shapes_[number];
    if (shape.body.empty()) {
      to.push_back(shape.count << 1);
      put(firsts_[first++], to);
      if (shape.count > 1) put(shape.step, to);
      for (auto& [jumps, next] : around_) put((*jumps)[next++], to);
      return;
    }
    to.push_back(shape.count << 1 | mover::kLoop);
    to.push_back(static_cast<std::uint32_t>(shape.body.size()));
    around_.emplace_back(&shape.jumps, 0);
    for (std::size_t part : shape.body) write(part, first, to);
    around_.pop_back();
  }

  std::size_t width_;
  std::map<Shape, std::size_t> numbers_;
  std::vector<const Shape*> shapes_;  // by number
  std::vector<Size> sizes_;
  std::vector<Entry> entries_;
  std::vector<WordTuple> firsts_;
  std::vector<std::pair<const std::vector<WordTuple>*, std::size_t>> around_;  // loops that are being written, and their next run
};

}  // namespace

Listing listing_of(const std::vector<WordRun>& runs, std::size_t width) { return Finder(runs, width).run(); }

}  // namespace buda::movers
