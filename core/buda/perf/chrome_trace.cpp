// SPDX-License-Identifier: Apache-2.0
// Events for Chrome's trace viewer and Perfetto: a process for each chip, a track for each core, and one or several for each stream.
#include <buda/perf/trace_events.hpp>
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::perf {
namespace {

std::string json_string(const std::string& text) { return io::json_line(io::Node::string(text)); }

class Trace {
 public:
  Trace(const Summary& summary, const Recording& recording, const std::vector<Anchor>& anchors, std::int64_t first_process)
      : recording_(recording), anchors_(anchors), first_process_(first_process) {
    per_microsecond_ = summary.clock.hz > 0 ? summary.clock.hz / 1e6 * SimTime::kPerCycle : SimTime::kPerCycle;
  }

  std::string text() {
    constexpr std::size_t kUsualLength = 192;  // of an event's line
    events_.reserve(recording_.events().size() * kUsualLength);
    for (const Event& event : recording_.by_time()) add(event);
    std::string out;
    for (const auto& [process, name] : processes_) out += metadata("process_name", process, 0, name);
    for (const auto& [track, number] : tracks_) {
      const auto& [process, entity, lane] = track;
      const std::string more = lane == 0 ? "" : cat(" (", lane + 1, ')');
      out += metadata("thread_name", process, number, title(recording_.entities()[entity.index()]) + more);
      out += cat("{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": ", process, ", \"tid\": ", number,
                 ", \"args\": {\"sort_index\": ", number, "}},\n");
    }
    events_.insert(0, out);
    return std::move(events_);
  }

 private:
  static std::string metadata(const char* what, std::int64_t process, std::int64_t track, const std::string& name) {
    return cat("{\"ph\": \"M\", \"name\": \"", what, "\", \"pid\": ", process, ", \"tid\": ", track,
               ", \"args\": {\"name\": ", json_string(name), "}},\n");
  }

  static std::string title(const Entity& e) {
    return e.kind == Entity::Kind::core ? cat("core ", e.name, " [", e.row, ", ", e.col, ']') : e.name;
  }

  // Ops are on the tracks of their cores; epochs on that of their program.
  EntityId track_entity(const Event& event) const {
    const Entity& entity = recording_.entities()[event.entity.index()];
    const bool nested = (entity.kind == Entity::Kind::op || entity.kind == Entity::Kind::program) && entity.parent.valid();
    return nested ? entity.parent : event.entity;
  }

  // What goes on side by side in one stream needs tracks of its own.
  std::int64_t track(const Event& event, std::int64_t process) {
    const EntityId entity = track_entity(event);
    std::uint32_t lane = 0;
    const bool overlaps = event.kind == EventKind::transfer || event.kind == EventKind::dram_read || event.kind == EventKind::dram_write;
    if (overlaps) {
      auto& ends = ends_[entity];
      while (lane < ends.size() && ends[lane] > event.begin) ++lane;
      if (lane == ends.size()) ends.emplace_back();
      ends[lane] = event.end;
    } else if (event.kind == EventKind::streams) {
      lane = 1 + event.lane;
    }
    return tracks_.try_emplace({process, entity, lane}, static_cast<std::int64_t>(tracks_.size()) + 1).first->second;
  }

  static std::string decimals(double microseconds) {
    char text[400];  // the largest finite value has 309 digits before the point
    return {text, std::to_chars(text, text + sizeof text, microseconds, std::chars_format::fixed, 5).ptr};
  }
  double duration(std::uint64_t ticks) const { return static_cast<double>(ticks) / per_microsecond_; }
  double place(SimTime time) const {
    const auto next = std::upper_bound(anchors_.begin(), anchors_.end(), time, [](SimTime t, const Anchor& a) { return t < a.time; });
    if (next == anchors_.begin()) return duration(time.ticks);
    const Anchor& anchor = *std::prev(next);
    return anchor.microseconds + duration(time.ticks - anchor.time.ticks);
  }

  std::pair<std::string, std::string> name_and_arguments(const Event& event) const {
    const std::string& name = recording_.entities()[event.entity.index()].name;
    switch (event.kind) {
      case EventKind::epoch:
        return {name, cat("\"epoch\": ", event.a)};
      case EventKind::input:
        return {cat(name, " input ", event.a), cat("\"worked_cycles\": ", rounded(SimTime{event.b}.cycles()))};
      case EventKind::streams:
        return {event.lane == 0 ? "tiles in" : "tiles out", cat("\"bytes\": ", event.a)};
      case EventKind::block:
        return {"step", cat("\"step\": ", event.a, ", \"input\": ", event.b)};
      case EventKind::wait_tiles:
        return {cat("waits for input ", event.a), cat("\"input\": ", event.b)};
      case EventKind::wait_room:
        return {"waits for space", cat("\"input\": ", event.b)};
      case EventKind::transfer:
      case EventKind::dram_read:
      case EventKind::dram_write: {
        const char* what = event.kind == EventKind::transfer ? "send" : event.kind == EventKind::dram_read ? "read" : "write";
        return {what, cat("\"bytes\": ", event.a, ", \"slowest\": ", json_string(recording_.entities()[event.b].name))};
      }
      case EventKind::host_push:
        return {"host pushes", cat("\"entries\": ", event.a)};
      case EventKind::host_pop:
        return {"host pops", cat("\"entries\": ", event.a)};
    }
    return {};
  }

  void add(const Event& event) {
    const Entity& entity = recording_.entities()[event.entity.index()];
    const std::int64_t process = first_process_ + entity.chip + 1;
    processes_.try_emplace(process, entity.chip < 0 ? "programs" : cat("chip ", entity.chip));
    const std::int64_t on = track(event, process);
    const auto [name, arguments] = name_and_arguments(event);
    events_ += cat("{\"ph\": \"X\", \"name\": ", json_string(name), ", \"pid\": ", process, ", \"tid\": ", on,
                   ", \"ts\": ", decimals(place(event.begin)), ", \"dur\": ", decimals(duration(event.end.ticks - event.begin.ticks)),
                   ", \"args\": {", arguments, "}},\n");
  }

  const Recording& recording_;
  const std::vector<Anchor>& anchors_;
  std::int64_t first_process_;
  double per_microsecond_ = 1;
  std::map<std::int64_t, std::string> processes_;
  std::map<std::tuple<std::int64_t, EntityId, std::uint32_t>, std::int64_t> tracks_;
  std::map<EntityId, std::vector<SimTime>> ends_;
  std::string events_;
};

}  // namespace

// Without a time and a name, so that equal contents are equal files. Fast rather than small: events are compressed while a run waits.
std::string gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 16 + 15;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(1 << 16, '\0'), packed;
  constexpr std::size_t kPart = 1 << 30;
  for (std::size_t at = 0;;) {
    const std::string_view part = bytes.substr(at, kPart);
    at += part.size();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<uInt>(part.size());
    const int flush = at == bytes.size() ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, flush);
      packed.append(out.data(), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    if (flush == Z_FINISH) break;
  }
  deflateEnd(&stream);
  return packed;
}

std::vector<Anchor> spaced(std::vector<Anchor> anchors, const Clock& clock) {
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    const SimTime passed{anchors[i].time.ticks - anchors[i - 1].time.ticks};
    anchors[i].microseconds = std::max(anchors[i].microseconds, anchors[i - 1].microseconds + clock.seconds(passed) * 1e6);
  }
  return anchors;
}

std::string trace_events(const Summary& summary, const Recording& recording, const std::vector<Anchor>& anchors,
                         std::int64_t first_process) {
  return Trace(summary, recording, anchors, first_process).text();
}

std::string chrome_trace(const Summary& summary, const Recording& recording) {
  std::string text = trace_events(summary, recording);
  if (text.ends_with(",\n")) text.resize(text.size() - 2);
  text.insert(0, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
  text += "\n]}\n";
  return gzip(text);
}

}  // namespace buda::perf
