// SPDX-License-Identifier: Apache-2.0
// Sections of the schedule are taken up from their last op to their first, so that each costs what its ops cost.
#include <buda/balance/bounds/bounds.hpp>

#include <buda/balance/problem/phases.hpp>
#include <buda/cost/transfer_model.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <utility>

namespace buda::balance {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// The report gives whole cycles of ops and paths.
double whole_cycles(double cycles) { return std::round(std::min(cycles, 9e18)); }

// For each op those that read its result.
std::vector<std::vector<std::size_t>> readers_of(const std::vector<BoundedOp>& ops) {
  std::vector<std::vector<std::size_t>> out(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const BoundedOp::Read& read : ops[i].operands) out[read.from].push_back(i);
  return out;
}

// What sections with one end share: who reads what, and for each op and source in which section it was last read.
class SectionBooks {
 public:
  explicit SectionBooks(const std::vector<BoundedOp>& ops)
      : ops_(ops), readers_(readers_of(ops)), way_(ops.size(), 0), read_from_op_(ops.size()) {
    std::size_t sources = 0;
    for (const BoundedOp& op : ops)
      for (const BoundedOp::Read& read : op.sources) sources = std::max(sources, read.from + 1);
    read_from_source_.resize(sources);
  }

  void begin_section(std::size_t end) {
    ++section_;
    end_ = end;
    bytes_ = 0;
    longest_ = 0;
    inputs_ = 1;
  }
  void add(std::size_t op) {
    const BoundedOp& o = ops_[op];
    // Tensors that the section itself computes are not read from an earlier one.
    if (read_from_op_[op].section == section_) bytes_ -= read_from_op_[op].bytes;
    for (const auto& read : o.operands) count(read, read_from_op_);
    for (const auto& read : o.sources) count(read, read_from_source_);
    if (o.is_written || o.last_user >= end_) bytes_ += o.result_bytes;
    double behind = 0;
    for (std::size_t reader : readers_[op])
      if (reader < end_) behind = std::max(behind, way_[reader]);
    way_[op] = behind + o.choices.back().cycles;
    longest_ = std::max(longest_, way_[op]);
    inputs_ = std::max(inputs_, o.inputs);
  }
  // Through DRAM, of one input.
  double bytes() const { return bytes_; }
  // Cycles of the longest way through ops that feed each other, all at their fastest.
  double longest_way() const { return longest_; }
  std::int64_t inputs() const { return inputs_; }

 private:
  struct Known {
    std::size_t section = 0;
    double bytes = 0;
  };
  // Ops of an epoch that read the same may share it.
  void count(const BoundedOp::Read& read, std::vector<Known>& known) {
    Known& k = known[read.from];
    if (k.section == section_) return;
    k = {section_, read.bytes};
    bytes_ += read.bytes;
  }

  const std::vector<BoundedOp>& ops_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<double> way_;  // by op: from its begin to the end of the section
  std::vector<Known> read_from_op_, read_from_source_;
  std::size_t section_ = 0, end_ = 0;
  double bytes_ = 0, longest_ = 0;
  std::int64_t inputs_ = 1;
};

// The least interval for which the fewest cores of all ops of a section fit the chip.
class LeastInterval {
 public:
  LeastInterval(const std::vector<BoundedOp>& ops, std::int64_t cores) : ops_(ops), limit_(cores) {}

  // False where even the smallest choices do not fit.
  bool add(std::size_t op) {
    const auto& choices = ops_[op].choices;
    interval_ = std::max(interval_, choices.back().cycles);
    fewest_cores_ += choices.front().cores;
    std::size_t choice = choices.size() - 1;
    while (choice > 0 && choices[choice - 1].cycles <= interval_) --choice;
    cores_ += choices[choice].cores;
    if (choice > 0) next_.push({choices[choice - 1].cycles, op, choice});
    while (!next_.empty() && (cores_ > limit_ || next_.top().cycles <= interval_)) give_up();
    return cores_ <= limit_;
  }
  double interval() const { return interval_; }
  // Of any plan, at whatever interval.
  std::int64_t fewest_cores() const { return fewest_cores_; }

 private:
  // An op does with its next smaller choice from so many cycles on.
  struct Step {
    double cycles;
    std::size_t op, choice;
    bool operator<(const Step& other) const { return cycles > other.cycles; }
  };
  void give_up() {
    const Step step = next_.top();
    next_.pop();
    const auto& choices = ops_[step.op].choices;
    interval_ = std::max(interval_, step.cycles);
    cores_ -= choices[step.choice].cores - choices[step.choice - 1].cores;
    if (step.choice > 1) next_.push({choices[step.choice - 2].cycles, step.op, step.choice - 1});
  }

  const std::vector<BoundedOp>& ops_;
  std::int64_t limit_, cores_ = 0, fewest_cores_ = 0;
  double interval_ = 0;
  std::priority_queue<Step> next_;
};

// Of a section that the books hold: the first input takes the longest way, where ops do not overlap, and each further one the interval;
// DRAM moves all of them. The change to an epoch comes before.
double section_cycles(const SectionBooks& books, const LeastInterval& pace, const BoundedChip& chip) {
  const double dram = whole_cycles(books.bytes() / chip.dram_bytes_per_cycle), interval = std::max(pace.interval(), dram);
  const double first = chip.ops_overlap ? interval : std::max(books.longest_way(), interval);
  return chip.change_cycles(pace.fewest_cores()) + first + static_cast<double>(books.inputs() - 1) * interval;
}

}  // namespace

double UniversalBound::cycles() const { return std::max({cores, op, dram}); }

std::string_view UniversalBound::limiter() const {
  if (cores >= std::max(op, dram)) return "cores";
  return op >= dram ? "slowest op" : "DRAM";
}

UniversalBound universal_bound(const std::vector<BoundedOp>& ops, const BoundedChip& chip) {
  double work = 0, slowest = 0, bytes = 0, half_cycles = 0;
  std::map<std::size_t, double> sources;
  for (const BoundedOp& op : ops) {
    double least = kUnbounded;
    for (const CoreCost& c : op.choices) least = std::min(least, static_cast<double>(c.cores) * c.cycles);
    const auto inputs = static_cast<double>(op.inputs);
    work += inputs * least;
    slowest = std::max(slowest, inputs * op.choices.back().cycles);
    if (op.is_written) bytes += inputs * op.result_bytes;
    for (const auto& read : op.sources) sources[read.from] = std::max(sources[read.from], inputs * read.bytes);
    half_cycles += 0.5 * inputs;
  }
  for (const auto& [source, read] : sources) bytes += read;
  // Paths of one epoch are given in whole cycles; so may each of many be half a cycle shorter.
  const double dram = std::max(bytes / chip.dram_bytes_per_cycle - half_cycles, 0.0);
  // There is one epoch at least. A core loads its program, and computes; memory may be at work for others meanwhile.
  const double change = chip.change_cycles(1);
  return {change + work / static_cast<double>(chip.cores), change + slowest, dram};
}

ScheduleBound::ScheduleBound(std::vector<BoundedOp> ops, const BoundedChip& chip)
    : ops_(std::move(ops)), chip_(chip), least_(ops_.size() + 1, kUnbounded), from_(ops_.size() + 1, 0) {
  least_[0] = 0;
  SectionBooks books(ops_);
  for (std::size_t end = 1; end <= ops_.size(); ++end) {
    books.begin_section(end);
    LeastInterval pace(ops_, chip_.cores);
    for (std::size_t begin = end; begin-- > 0;) {
      if (!pace.add(begin)) break;
      books.add(begin);
      if (const double sum = least_[begin] + section_cycles(books, pace, chip_); sum < least_[end]) {
        least_[end] = sum;
        from_[end] = begin;
      }
      if (ops_[begin].begins_epoch) break;
    }
  }
}

double ScheduleBound::of_epoch(std::size_t begin, std::size_t end) const {
  SectionBooks books(ops_);
  books.begin_section(end);
  LeastInterval pace(ops_, chip_.cores);
  for (std::size_t op = end; op-- > begin;) {
    if (!pace.add(op)) return kUnbounded;
    books.add(op);
  }
  return section_cycles(books, pace, chip_);
}

std::vector<std::size_t> ScheduleBound::cuts() const {
  std::vector<std::size_t> out{ops_.size()};
  for (std::size_t end = ops_.size(); end > 0; end = from_[end]) out.push_back(from_[end]);
  std::reverse(out.begin(), out.end());
  return out;
}

namespace {

// Tiles of an operand that every model of the op reads: of what is cut off, or looked up by row, none need be.
std::int64_t compulsory_tiles(const OpSpec& spec, std::size_t input) {
  const bool is_whole = !spec.op.inputs[input].maps.unpad && !ops::looks_up_rows(spec.op.type);
  return is_whole ? spec.operands[input].shape.volume() : 0;
}

// Whether some implementation keeps the parameter for the inputs of an epoch: in L1, or in the kernel, which takes broadcasts for that.
bool may_be_kept(const OpSpec& spec, const std::vector<OpModel>& models, std::size_t input) {
  if (!spec.operands[input].constant) return false;
  const auto& tms = spec.op.inputs[input].maps.tms;
  if (!tms.empty() && tms.front().kind == netlist::TmKind::broadcast) return true;
  return std::any_of(models.begin(), models.end(), [&](const OpModel& m) { return m.is_resident(input); });
}

// What is read of a source for each input.
double source_bytes(const ChoiceSpace& space, std::size_t op, std::size_t input, const QueueOptions& queues) {
  const Problem& problem = *space.problem;
  const OpSpec& spec = problem.ops[op];
  const SourceSpec& source = problem.source(spec.operands[input].from.source);
  const bool is_on_host = queues.inputs_on_host && source.kind == SourceKind::input;
  // Rows of numbers and the parts of a selection matrix have other sizes in DRAM.
  if (is_on_host || source.flat || source.row_numbers || source.encoded != EncodedPart::none) return 0;
  const auto bytes =
      static_cast<double>(compulsory_tiles(spec, input)) * tile_bytes(source.format, source.tile_dim, problem.device->tile_alignment);
  return may_be_kept(spec, space.models[op].models, input)
             ? bytes / std::max(inputs_of_op(problem, OpId(static_cast<std::uint32_t>(op))), 1)
             : bytes;
}

double operand_bytes(const Problem& problem, const OpSpec& spec, std::size_t input) {
  const netlist::Op& from = problem.op(spec.operands[input].from.op).op;
  return static_cast<double>(compulsory_tiles(spec, input)) * tile_bytes(from.out_format, from.tile_dim, problem.device->tile_alignment);
}

}  // namespace

std::vector<BoundedOp> bounded_ops(const ChoiceSpace& space, const QueueOptions& queues) {
  const Problem& problem = *space.problem;
  std::vector<BoundedOp> out(problem.ops.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const OpSpec& spec = problem.ops[i];
    BoundedOp& op = out[i];
    std::vector<CoreCost> choices;
    for (const OpModel& m : space.models[i].models) choices.push_back({m.cores(), whole_cycles(m.kernel_cycles)});
    op.choices = best_choices(std::move(choices));
    op.inputs = std::max(inputs_of_op(problem, OpId(static_cast<std::uint32_t>(i))), 1);
    op.begins_epoch = space.overrides[i].epoch_break == true;
    const bool is_output = spec.outputs > 0 && !queues.outputs_on_host;
    op.is_written = is_output || spec.feeds_queued;
    if (!spec.op.untilize_output)
      op.result_bytes =
          static_cast<double>(spec.out.volume()) * tile_bytes(spec.op.out_format, spec.op.tile_dim, problem.device->tile_alignment);
    op.last_user = i;
    for (const OpUse& use : spec.users) op.last_user = std::max(op.last_user, use.op.index());
    for (std::size_t k = 0; k < spec.operands.size(); ++k) {
      const Operand& operand = spec.operands[k];
      if (operand.from.source.valid()) {
        op.sources.push_back({operand.from.source.index(), source_bytes(space, i, k, queues)});
      } else if (operand.queued) {
        op.sources.push_back({problem.sources.size() + operand.from.op.index(), operand_bytes(problem, spec, k)});
      } else {
        op.operands.push_back({operand.from.op.index(), operand_bytes(problem, spec, k)});
      }
    }
  }
  return out;
}

BoundedChip bounded_chip(const ChoiceSpace& space) {
  const Problem& problem = *space.problem;
  const cost::TransferModel transfers(*problem.device);
  return {problem.device->grid().volume(), transfers.dram_rate(), transfers.epoch_change(0),
          transfers.epoch_change(1) - transfers.epoch_change(0)};
}

bool follows_schedule(const Choice& choice) {
  return std::is_sorted(choice.ops.begin(), choice.ops.end(), [](const PlacedOp& a, const PlacedOp& b) { return a.epoch < b.epoch; });
}

}  // namespace buda::balance
