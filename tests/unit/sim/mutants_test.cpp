// SPDX-License-Identifier: Apache-2.0
// Stream programs with one change: each is refused, shows as a wrong tile, a hang or tiles left over, or does the same as before, as the
// replay of the overlay's tests tells, which shares no code with the simulator.
#include "unit/sim/run_of.hpp"

#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/blob/blob_places.hpp>

#include "unit/overlay/replay.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <algorithm>

namespace buda::sim {
namespace {

using overlay::Blob;
using overlay::Stream;

// A random stream that `fits`; null where there is none.
template <class F>
Stream* pick(Blob& blob, Rng& rng, F&& fits) {
  std::vector<Stream*> found;
  for (overlay::Core& core : blob.cores)
    for (Stream& s : core.streams)
      if (s.kind != overlay::StreamKind::intermediate && fits(s)) found.push_back(&s);
  return found.empty() ? nullptr : found[rng.below(found.size())];
}

std::int64_t one_more_or_less(Rng& rng) { return rng.below(2) == 0 ? -1 : 1; }

// Changes one thing; false where the stream program has no such thing. `what` says which.
bool mutate(Blob& blob, Rng& rng, std::string& what) {
  auto has_phases = [](const Stream& s) { return !s.phases.empty(); };
  auto reads = [](const Stream& s) { return s.read && !s.read->blocks.empty(); };
  switch (rng.below(11)) {
    case 0:
      what = "messages of a phase";
      if (Stream* s = pick(blob, rng, has_phases)) return s->phases[rng.below(s->phases.size())].first[1] += one_more_or_less(rng), true;
      return false;
    case 1:
      what = "source";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.sources.size() > 1; }))
        return std::swap(s->sources[0], s->sources[1]), true;
      return false;
    case 2:
      what = "destination";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.destinations.size() > 1; }))
        return std::swap(s->destinations[0], s->destinations[1]), true;
      return false;
    case 3:
      what = "offset of a phase";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.scattered && !x.phases.empty(); }))
        return s->phases[rng.below(s->phases.size())].first[4] += 1, true;
      return false;
    case 4:
      what = "block that is read";
      if (Stream* s = pick(blob, rng, reads)) return s->read->blocks[rng.below(s->read->blocks.size())].first[1] += 1, true;
      return false;
    case 5:
      what = "iterations";
      if (Stream* s = pick(blob, rng, has_phases)) return s->iterations += 1, true;
      return false;
    case 6:
      what = "dropped phases";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.phases.size() > 1; })) return s->phases.pop_back(), true;
      return false;
    case 7:
      what = "window of a scattered buffer";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.window_tiles > 1; }))
        return s->window_tiles += one_more_or_less(rng), true;
      return false;
    case 8:
      what = "size of a buffer";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.message_bytes > 0; }))
        return s->bytes += static_cast<std::uint64_t>(s->message_bytes * one_more_or_less(rng)), true;
      return false;
    case 9:
      what = "address";
      if (rng.below(2) == 0 && !blob.dram.empty()) return blob.dram[rng.below(blob.dram.size())].address += 0x40, true;
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.bytes > 0; }))
        return s->address += static_cast<std::uint64_t>(s->message_bytes * one_more_or_less(rng)), true;
      return false;
    default:
      what = "order of blocks that are read";
      if (Stream* s = pick(blob, rng, [](const Stream& x) { return x.read && x.read->blocks.size() > 1; }))
        return std::swap(s->read->blocks.front(), s->read->blocks.back()), true;
      return false;
  }
}

// Another size or place of a buffer changes nothing that is computed, where nothing else lies there and room is enough.
bool only_moves_buffers(Blob a, const Blob& b) {
  for (std::size_t c = 0; c < a.cores.size(); ++c)
    for (std::size_t s = 0; s < a.cores[c].streams.size(); ++s) {
      a.cores[c].streams[s].address = b.cores[c].streams[s].address;
      a.cores[c].streams[s].bytes = b.cores[c].streams[s].bytes;
    }
  return a == b;
}

// How a mutant shows; "unseen" is the one outcome that must not be.
std::string verdict(const RunOf& original, const Blob& mutant) {
  auto parsed = overlay::parse_blob(overlay::blob_text(mutant), "blob.json");
  if (!parsed) return "refused";
  RunOf run = original.with(mutant);
  const std::string outcome = run.outcome();
  if (outcome != "ended") return outcome.starts_with("deadlocked") ? "hang" : outcome == "waits" ? "waits" : "wrong";
  if (only_moves_buffers(original.blob, mutant)) return "equal";
  const overlay::Replay before = overlay::replay(original.blob), now = overlay::replay(mutant);
  return now.problem.empty() && before.inputs == now.inputs && before.queues == now.queues ? "equal" : "unseen";
}

// The positions of the numbers of a text.
std::vector<std::pair<std::size_t, std::size_t>> numbers_of(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(i)) continue;
    const std::size_t begin = i;
    while (i < text.size() && is_digit(i)) ++i;
    out.emplace_back(begin, i - begin);
  }
  return out;
}

// Files of stream programs come from anywhere: whatever number stands in them, a run ends, with a result or with a reason.
TEST(Mutants, AnyNumberEnds) {
  Rng rng(46);
  const std::vector<std::string> values = {"0",  "1", "2", "3", "31", "255", "65535", "2147483647", "4294967295", "1125899906842624",
                                           "-1", "[]"};
  const int wanted = pipes::netlists_wanted(2000);
  std::map<std::string, int> outcomes;
  for (int made = 0; made < wanted;) {
    const RunOf original(pipes::random_netlist(rng));
    if (!original.problem.empty() || original.outcome() != "ended") continue;
    const std::string text = overlay::blob_text(original.blob);
    const auto numbers = numbers_of(text);
    for (int i = 0; i < 50 && made < wanted; ++i, ++made) {
      std::string damaged = text;
      for (std::uint64_t k = 0; k < 1 + rng.below(2); ++k) {
        const auto [at, length] = numbers[rng.below(numbers.size())];
        if (damaged.size() == text.size()) damaged.replace(at, length, values[rng.below(values.size())]);
      }
      auto blob = overlay::parse_blob(damaged, "blob.json");
      if (blob && !overlay::check_places(*blob, *original.built.device, "blob.json")) continue;
      const std::string outcome = blob ? original.with(std::move(*blob)).outcome() : pipes::messages(blob.failure());
      EXPECT_FALSE(outcome.empty());
      ++outcomes[outcome.substr(0, 5)];
    }
  }
  EXPECT_GT(outcomes["ended"], wanted / 20) << testing::PrintToString(outcomes);
  EXPECT_GT(outcomes.size(), 6u) << testing::PrintToString(outcomes);
}

TEST(Mutants, AreSeen) {
  Rng rng(41);
  const int wanted = pipes::netlists_wanted(1000);
  std::map<std::string, int> verdicts;
  int made = 0;
  for (int round = 0; made < wanted && round < 20 * wanted; ++round) {
    const RunOf original(pipes::random_netlist(rng));
    if (!original.problem.empty() || original.outcome() != "ended") continue;
    for (int i = 0; i < 6 && made < wanted; ++i) {
      Blob mutant = original.blob;
      std::string what;
      if (!mutate(mutant, rng, what)) continue;
      ++made;
      const std::string seen = verdict(original, mutant);
      ++verdicts[seen];
      EXPECT_NE(seen, "unseen") << what << "\n" << overlay::blob_text(mutant).substr(0, 6000);
    }
  }
  EXPECT_EQ(made, wanted);
  EXPECT_GT(verdicts["wrong"] + verdicts["hang"], wanted / 2) << testing::PrintToString(verdicts);
}

}  // namespace
}  // namespace buda::sim
