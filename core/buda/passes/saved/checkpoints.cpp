// SPDX-License-Identifier: Apache-2.0
// Shortest ways over the places where least crosses, for some sizes of the largest segment.
#include <buda/passes/saved/checkpoints.hpp>

#include <buda/passes/saved/saved_values.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace buda::passes {
namespace {

constexpr double kNextSize = 0.8;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// A place behind which a segment may end.
struct Candidate {
  std::size_t place;
  std::int64_t crossing;  // bytes that later values read
  std::int64_t kept;      // bytes that all values so far keep
};

class Finder {
 public:
  Finder(const std::vector<ForwardValue>& values, const SavedValues& kept)
      : values_(values), is_free_(values.size()), last_reader_(values.size()) {
    for (std::size_t at = 0; at < values.size(); ++at) {
      const ForwardValue& v = values[at];
      for (std::size_t reader : v.readers) last_reader_[at] = std::max(last_reader_[at], reader);
      is_free_[at] = v.is_there || (v.may_repeat && !v.is_product &&
                                    std::all_of(v.operands.begin(), v.operands.end(), [&](std::size_t of) { return is_free_[of]; }));
    }
    find_candidates(kept);
  }

  Segments run() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::vector<std::size_t> best;
    for (auto size = static_cast<double>(candidates_.back().kept); size >= 1; size *= kNextSize) {
      const auto way = shortest(static_cast<std::int64_t>(size));
      if (!way) break;
      if (way->bytes < least) {
        least = way->bytes;
        best = way->ends;
      }
    }
    return segments(best);
  }

 private:
  struct Way {
    std::vector<std::size_t> ends;  // numbers of candidates
    std::int64_t bytes = 0;
  };

  void find_candidates(const SavedValues& kept) {
    std::vector<std::int64_t> change(values_.size() + 1);
    for (std::size_t at = 0; at < values_.size(); ++at)
      if (!is_free_[at] && last_reader_[at] > at) {
        change[at] += values_[at].bytes;
        change[last_reader_[at]] -= values_[at].bytes;
      }
    std::vector<Candidate> all;
    std::int64_t crossing = 0, sum = 0;
    for (std::size_t at = 0; at < values_.size(); ++at) {
      crossing += change[at];
      if (kept.is_kept[at]) sum += values_[at].bytes;
      if (!is_free_[at]) all.push_back({at, crossing, sum});
    }
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if ((i == 0 || all[i].crossing <= all[i - 1].crossing) && all[i].crossing <= all[i + 1].crossing) candidates_.push_back(all[i]);
    // The end of the phase, which keeps nothing.
    candidates_.push_back({values_.size(), 0, sum});
  }

  // With segments that keep at most `size` bytes each; nothing if some part cannot be cut into such.
  std::optional<Way> shortest(std::int64_t size) const {
    std::vector<std::int64_t> bytes(candidates_.size(), std::numeric_limits<std::int64_t>::max());
    std::vector<std::size_t> before(candidates_.size(), kNone);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].kept <= size) bytes[i] = candidates_[i].crossing;
      for (std::size_t j = i; j-- > 0 && candidates_[i].kept - candidates_[j].kept <= size;) {
        if (bytes[j] == std::numeric_limits<std::int64_t>::max() || bytes[j] + candidates_[i].crossing >= bytes[i]) continue;
        bytes[i] = bytes[j] + candidates_[i].crossing;
        before[i] = j;
      }
    }
    if (bytes.back() == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    Way out;
    std::int64_t largest = 0;
    for (std::size_t i = candidates_.size() - 1; i != kNone; i = before[i]) {
      largest = std::max(largest, candidates_[i].kept - (before[i] == kNone ? 0 : candidates_[before[i]].kept));
      if (i + 1 != candidates_.size()) out.ends.insert(out.ends.begin(), i);
    }
    out.bytes = bytes.back() + largest;
    return out;
  }

  Segments segments(const std::vector<std::size_t>& ends) const {
    Segments out{std::vector<std::size_t>(values_.size()), {}};
    std::size_t begin = 0;
    for (std::size_t number : ends) {
      const std::size_t place = candidates_[number].place;
      std::fill(out.of.begin() + static_cast<std::ptrdiff_t>(begin), out.of.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                out.ends.size());
      begin = place + 1;
      std::vector<std::size_t> crossing;
      for (std::size_t at = 0; at <= place; ++at)
        if (!is_free_[at] && last_reader_[at] > place) crossing.push_back(at);
      out.ends.push_back(std::move(crossing));
    }
    std::fill(out.of.begin() + static_cast<std::ptrdiff_t>(begin), out.of.end(), out.ends.size());
    return out;
  }

  const std::vector<ForwardValue>& values_;
  std::vector<bool> is_free_;             // is there, or is made of such by formulas: a weight, transposed
  std::vector<std::size_t> last_reader_;  // by place; 0: none
  std::vector<Candidate> candidates_;
};

}  // namespace

Segments segments_of_checkpoints(const std::vector<ForwardValue>& values, const SavedValues& kept) { return Finder(values, kept).run(); }

}  // namespace buda::passes
