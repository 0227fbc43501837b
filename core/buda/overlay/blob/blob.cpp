// SPDX-License-Identifier: Apache-2.0
// Small questions to a blob.
#include <buda/overlay/blob/blob.hpp>

#include <algorithm>

namespace buda::overlay {

std::string_view stream_kind_name(StreamKind kind) {
  switch (kind) {
    case StreamKind::multicast:
      return "multicast";
    case StreamKind::relay:
      return "relay";
    case StreamKind::input:
      return "input";
    case StreamKind::output:
      return "output";
    case StreamKind::intermediate:
      return "intermediate";
    case StreamKind::fork:
      return "fork";
    case StreamKind::store:
      return "store";
  }
  return "";
}

std::int64_t Stream::messages() const {
  std::int64_t sum = 0;
  for_each(phases, [&](const PhaseRun::Tuple& t) { sum += to_phase(t).messages; });
  return sum * iterations;
}

const Stream* Core::find(std::int32_t number) const {
  auto it = std::lower_bound(streams.begin(), streams.end(), number, [](const Stream& s, std::int32_t n) { return s.number < n; });
  return it != streams.end() && it->number == number ? &*it : nullptr;
}

std::int64_t Core::phases() const {
  std::int64_t sum = 0;
  for (const Stream& s : streams) sum += s.phase_count();
  return sum;
}

const Stream* Blob::find(StreamRef ref) const {
  if (ref.core < 0 || static_cast<std::size_t>(ref.core) >= cores.size()) return nullptr;
  return cores[static_cast<std::size_t>(ref.core)].find(ref.stream);
}

const Stream* Blob::sender_over_pcie(const Stream& stream) const {
  const Stream* sender = stream.sources.size() == 1 ? find(stream.sources.front()) : nullptr;
  return sender != nullptr && sender->pcie ? sender : nullptr;
}

std::vector<std::int32_t> Blob::cores_of(const Destination& d) const {
  std::vector<std::int32_t> out;
  auto count = static_cast<std::int32_t>(cores.size());
  if (d.first.core < 0 || d.last_core < d.first.core || d.last_core >= count) return out;
  const Core& a = cores[static_cast<std::size_t>(d.first.core)];
  const Core& b = cores[static_cast<std::size_t>(d.last_core)];
  for (std::int32_t i = d.first.core; i <= d.last_core; ++i) {
    const Core& c = cores[static_cast<std::size_t>(i)];
    bool inside =
        c.chip == a.chip && c.core.row >= a.core.row && c.core.row <= b.core.row && c.core.col >= a.core.col && c.core.col <= b.core.col;
    if (inside) out.push_back(i);
  }
  return out;
}

}  // namespace buda::overlay
