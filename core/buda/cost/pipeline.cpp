// SPDX-License-Identifier: Apache-2.0
// The parts of a few inputs, each as soon as what it needs is there.
#include <buda/cost/pipeline.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace buda::cost {
namespace {

constexpr auto kParts = static_cast<std::int64_t>(kPipelineParts);
// Inputs that are followed; the interval is that of the last ones. They are even: where buffers hold two inputs, these come in pairs.
constexpr std::int64_t kInputs = kFollowedInputs, kLastInputs = 4;

// Parts that make up so much, the last one whole.
std::int64_t parts_of(double size) { return static_cast<std::int64_t>(std::ceil(size * static_cast<double>(kParts) - 1e-6)); }

// Something that handles one part after the other: a kernel, or a stream.
struct Actor {
  std::vector<double> done;  // when each part was
  double cycles = 0;         // of a part
  double start = 0;          // before which it does nothing
  double last() const { return done.empty() ? start : done.back(); }
  bool has(std::int64_t parts) const { return parts <= static_cast<std::int64_t>(done.size()); }
  bool is_complete() const { return static_cast<std::int64_t>(done.size()) == kParts * kInputs; }
  void add(double when) { done.push_back(std::max(when, last()) + cycles); }
};

// For each part of an input, how many parts of another actor must be done, counted from the same input on: negative for those before it.
using Needs = std::array<std::int64_t, kPipelineParts>;

// `parts_for(n)`: for the n-th part, from 1.
template <class Parts>
Needs needs(Parts parts_for) {
  Needs out{};
  for (std::int64_t n = 1; n <= kParts; ++n) out[static_cast<std::size_t>(n - 1)] = parts_for(n);
  return out;
}
double position(std::int64_t parts) { return static_cast<double>(parts) / static_cast<double>(kParts); }

// What is given and freed in blocks, with their ends moved to those of parts.
class Blocks {
 public:
  // `block`: part of an input.
  explicit Blocks(double block) : parts_(std::clamp(block, 1e-3, 1.0) * static_cast<double>(kParts)) {}

  // Parts up to the end of the block that the last of so many parts is in. Also of inputs before: negative.
  std::int64_t up_to_end(std::int64_t parts) const {
    const std::int64_t before = (parts + kInputs * kParts - 1) / kParts * kParts - kInputs * kParts;
    // The first whose end, moved, is not before these parts.
    const double blocks = std::floor(static_cast<double>(parts - before - 1) / parts_ + 1e-6) + 1;
    return before + std::min(static_cast<std::int64_t>(std::ceil(blocks * parts_ - 1e-6)), kParts);
  }
  // Parts that a buffer holds which has room for so much of an input, at least one block.
  std::int64_t held_by(double room) const {
    const double blocks = std::max(std::round(room * static_cast<double>(kParts) / parts_), 1.0);
    return parts_ < 1 ? std::max<std::int64_t>(parts_of(room), 2) : static_cast<std::int64_t>(blocks * std::ceil(parts_ - 1e-6));
  }

 private:
  double parts_;
};

// A stream between a producer, or a queue, and a kernel.
struct Stream {
  Actor actor;
  std::size_t from = PipelineInput::kQueue;
  double latency = 0;
  Needs given{};    // parts of the producer, for each of its own
  Needs freed{};    // parts of the kernel that takes from it
  Needs taken{};    // for each part of that kernel, those of the stream
  Needs emptied{};  // for each part of the producer, those of the stream that make room for it
};

struct Node {
  Actor kernel, writer;
  std::vector<Stream> inputs;
  bool is_written = false;
  Needs written{};         // parts of the kernel, for each of the writer
  Needs written_before{};  // for each part of the kernel, those of the writer that make room
  std::vector<Stream*> readers;
};

// How much of the result the kernel has given, or will need room for, when a part of it is done.
double given_by(const PipelineOp& op, double position) {
  const double rounds = std::max(op.rounds, 1.0), at = position * rounds, round = std::floor(at - 1e-9), within = at - round;
  const double part = op.gathers_in_output ? 1 : std::max((within - op.gathers) / std::max(1 - op.gathers, 1e-9), 0.0);
  return (std::max(round, 0.0) + part) / rounds;
}
// When the kernel has given so much of the result.
double gives(const PipelineOp& op, double position) {
  const double rounds = std::max(op.rounds, 1.0), at = position * rounds, round = std::max(std::ceil(at - 1e-6) - 1, 0.0),
               within = at - round;
  return (round + op.gathers + within * (1 - op.gathers)) / rounds;
}

class Pipeline {
 public:
  explicit Pipeline(std::span<const PipelineOp> ops) : nodes_(ops.size()) {
    for (std::size_t i = 0; i < ops.size(); ++i) make(ops, i);
    for (Node& node : nodes_)
      for (Stream& s : node.inputs)
        if (s.from != PipelineInput::kQueue) nodes_[s.from].readers.push_back(&s);
  }

  void run() {
    for (;;) {
      bool moved = false, complete = true;
      for (Node& node : nodes_) {
        moved = advance(node, true) || moved;
        complete = complete && is_complete(node);
      }
      if (complete) break;
      // Where buffers are too small by this reckoning, one part goes on without room, as late as possible: what is before may only wait.
      if (!moved && !std::any_of(nodes_.rbegin(), nodes_.rend(), [this](Node& node) { return advance(node, false); })) break;
    }
  }

  PipelineTimes times() const {
    PipelineTimes out;
    for (const Node& node : nodes_) {
      if (!last_of(node).is_complete()) continue;
      out.first = std::max(out.first, end_of(node, 1));
      out.interval = std::max(out.interval, (end_of(node, kInputs) - end_of(node, kInputs - kLastInputs)) / kLastInputs);
    }
    return out;
  }

  PipelineEnds ends(std::int64_t input) const {
    PipelineEnds out;
    const auto last = static_cast<std::size_t>(kParts * std::clamp<std::int64_t>(input, 1, kInputs) - 1);
    for (const Node& node : nodes_) {
      double end = last_of(node).is_complete() ? last_of(node).done[last] : 0;
      for (const Stream* reader : node.readers)
        if (reader->actor.is_complete()) end = std::max(end, reader->actor.done[last]);
      out.ops.push_back(end);
      out.all = std::max(out.all, end);
    }
    return out;
  }

 private:
  static const Actor& last_of(const Node& node) { return node.is_written ? node.writer : node.kernel; }
  static double end_of(const Node& node, std::int64_t input) { return last_of(node).done[static_cast<std::size_t>(kParts * input - 1)]; }

  void make(std::span<const PipelineOp> ops, std::size_t i) {
    const PipelineOp& op = ops[i];
    Node& node = nodes_[i];
    node.kernel.cycles = op.kernel / kParts;
    node.kernel.start = node.writer.start = op.start + op.before;
    for (const PipelineInput& input : op.inputs) {
      Stream s;
      s.actor.cycles = input.transfer / kParts;
      s.actor.start = op.start;
      s.from = input.from;
      s.latency = input.latency;
      const Blocks blocks(input.block);
      const std::int64_t held = blocks.held_by(input.room);
      s.taken = needs([&](std::int64_t n) { return blocks.up_to_end(n); });
      s.freed = needs([&](std::int64_t n) { return blocks.up_to_end(n - held); });
      if (input.from != PipelineInput::kQueue) follow(ops[input.from], input, s);
      node.inputs.push_back(std::move(s));
    }
    if (op.write <= 0) return;
    node.is_written = true;
    node.writer.cycles = op.write / kParts;
    const std::int64_t held = std::max<std::int64_t>(parts_of(op.room), 1);
    node.written = needs([&](std::int64_t n) { return parts_of(gives(op, position(n))); });
    node.written_before = needs([&](std::int64_t n) { return parts_of(given_by(op, position(n))) - held; });
  }

  // What a stream needs of its producer, and the producer of it.
  static void follow(const PipelineOp& producer, const PipelineInput& input, Stream& s) {
    const Blocks windows(input.window);
    s.given = needs([&](std::int64_t n) {
      const double end = position(windows.up_to_end(n));
      return parts_of(gives(producer, std::min(position(n) + input.lead * input.window, end)));
    });
    const std::int64_t held = input.in_order ? std::max<std::int64_t>(parts_of(producer.room), 1) : windows.held_by(producer.room);
    s.emptied = needs([&](std::int64_t n) {
      const std::int64_t parts = parts_of(given_by(producer, position(n))) - held;
      return input.in_order ? parts : windows.up_to_end(parts);
    });
  }

  static bool is_complete(const Node& node) {
    return node.kernel.is_complete() && (!node.is_written || node.writer.is_complete()) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [](const Stream& s) { return s.actor.is_complete(); });
  }

  // Whether what the next part of `actor` needs of another is done. `start` is moved to when it was.
  static bool is_there(const Actor& actor, const Needs& needs, const Actor& other, double latency, double& start) {
    const auto next = static_cast<std::int64_t>(actor.done.size());
    const std::int64_t parts = next / kParts * kParts + needs[static_cast<std::size_t>(next % kParts)];
    if (parts <= 0) return true;
    if (!other.has(parts)) return false;
    start = std::max(start, other.done[static_cast<std::size_t>(parts - 1)] + latency);
    return true;
  }

  // Everything of a node as far as it goes; without `room`, one part of what lacks nothing else. Whether anything went on.
  bool advance(Node& node, bool room) {
    bool moved = false;
    const auto goes_on = [&](Actor& actor, auto can_start) {
      while (!actor.is_complete()) {
        double start = 0;
        if (!can_start(start)) return false;
        actor.add(start);
        moved = true;
        if (!room) return true;
      }
      return false;
    };
    for (Stream& s : node.inputs)
      if (goes_on(s.actor, [&](double& start) {
            if (s.from != PipelineInput::kQueue && !is_there(s.actor, s.given, nodes_[s.from].kernel, 0, start)) return false;
            return is_there(s.actor, s.freed, node.kernel, s.from == PipelineInput::kQueue ? 0 : s.latency, start) || !room;
          }))
        return true;
    if (goes_on(node.kernel, [&](double& start) {
          for (const Stream& s : node.inputs)
            if (!is_there(node.kernel, s.taken, s.actor, s.latency, start)) return false;
          for (const Stream* s : node.readers)
            if (!is_there(node.kernel, s->emptied, s->actor, 0, start) && room) return false;
          return !node.is_written || is_there(node.kernel, node.written_before, node.writer, 0, start) || !room;
        }))
      return true;
    if (node.is_written) goes_on(node.writer, [&](double& start) { return is_there(node.writer, node.written, node.kernel, 0, start); });
    return moved;
  }

  std::vector<Node> nodes_;
};

}  // namespace

PipelineTimes pipeline_times(std::span<const PipelineOp> ops) {
  if (ops.empty()) return {};
  Pipeline pipeline(ops);
  pipeline.run();
  return pipeline.times();
}

PipelineEnds pipeline_ends(std::span<const PipelineOp> ops, std::int64_t input) {
  if (ops.empty()) return {};
  Pipeline pipeline(ops);
  pipeline.run();
  return pipeline.ends(input);
}

}  // namespace buda::cost
