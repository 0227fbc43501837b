// SPDX-License-Identifier: Apache-2.0
// What the processors of a core reach, and how its threads take turns.
#include "core.hpp"

#include "debug/observer.hpp"

#include <buda/base/text.hpp>
#include <buda/isa/memory_map.hpp>
#include <buda/isa/opcodes.hpp>
#include <buda/isa/riscv.hpp>
#include <buda/numerics/vector_functions.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace buda::tensix {
namespace {

constexpr std::size_t kOwnBytes = 2048;  // of each compute thread's processor
constexpr std::uint64_t kTurn = 2000;    // instructions of a processor
using isa::kConfigWords, isa::kExpanderIdle, isa::kGprs, isa::kLoopWords, isa::kQueue, isa::kSemaphores, isa::kStreamRegisterBase,
    isa::kThreadIdle, isa::kWallClock;
constexpr std::uint32_t kRandomSeed = 164;  // a word of configuration

// Whether an instruction reads words of configuration that processors store, or may expand to one that does.
bool reads_config(std::uint32_t word) {
  static const auto kCodes = [] {
    std::array<bool, 256> codes = {};
    for (const char* name :
         {"UNPACR", "PACR", "MVMUL", "ELWADD", "ELWSUB", "ELWMUL", "MOVA2D", "SFPLOAD", "SFPSTORE", "RDCFG", "MOP", "REPLAY"})
      codes[isa::find_opcode(name)->code] = true;
    return codes;
  }();
  return kCodes[word >> 24];
}

bool within(std::uint32_t address, std::uint32_t base, std::uint32_t words) { return address >= base && address - base < words * 4; }

std::uint32_t word_at(std::span<const std::uint8_t> l1, std::uint32_t address) {
  std::uint32_t word = 0;
  if (std::size_t{address} + 4 <= l1.size()) std::memcpy(&word, l1.data() + address, 4);
  return word;
}

// Instruction by instruction. `stop`: why the observer ends it.
riscv::Stop run_observed(riscv::Processor& processor, Observer& observer, std::size_t thread, Cycle until, std::string& stop) {
  for (std::uint64_t n = 0; n < kTurn; ++n) {
    const std::uint64_t executed = processor.executed();
    ProcessorStep step{processor.cycle(), processor.pc(), word_at(processor.l1(), processor.pc())};
    const isa::riscv::Instruction i = isa::riscv::decode(step.word);
    step.first = processor.reg(i.rs1);
    step.second = processor.reg(i.rs2);
    if (auto why = observer.before(thread, step.pc)) {
      stop = std::move(*why);
      return riscv::Stop::budget;
    }
    const riscv::Stop result = processor.run(1, until);
    if (processor.executed() == executed) return result;
    until = std::min(until, processor.until());
    step.result = processor.reg(i.rd);
    step.cycles = processor.cycle() - step.at;
    if (auto why = observer.after(thread, step)) {
      stop = std::move(*why);
      return riscv::Stop::budget;
    }
    if (result != riscv::Stop::budget || processor.cycle() > until) return result;
  }
  return riscv::Stop::budget;
}

}  // namespace

// Registers, as the processor of one thread sees them.
class Core::ThreadBus final : public riscv::Bus {
 public:
  ThreadBus(Core& core, std::size_t thread) : core_(core), thread_(thread) {}

  riscv::Access load(std::uint32_t address, std::uint32_t& value, Cycle& time) override {
    Coprocessor& c = *core_.coprocessor_;
    if (within(address, kStreamRegisterBase, kStreams * 1024)) {
      const std::uint32_t offset = address - kStreamRegisterBase;
      if (offset % 4096 >= kStreamRegisters * 4) return none(address);
      if (time > until_) return riscv::Access::later;
      core_.polled_[thread_] = offset / 4096 * kStreamRegisters + offset % 4096 / 4;
      value = core_.stream(offset / 4096, offset % 4096 / 4);
      time += latency::kStreamLoad;
      return riscv::Access::done;
    }
    if (within(address, kSemaphores, 8)) {
      if (time > until_) return riscv::Access::later;
      value = c.semaphores[(address - kSemaphores) / 4];
      time += latency::kSyncLoad;
      return riscv::Access::done;
    }
    if (within(address, kConfigWords, 2 * Config::kWords)) {
      const std::uint32_t index = (address - kConfigWords) / 4;
      value = c.config.word(index / Config::kWords, index % Config::kWords);
      time += latency::kConfigLoad;
      unread_config_ = false;
      return riscv::Access::done;
    }
    if (within(address, kGprs, 64)) {
      value = c.gprs[thread_][(address - kGprs) / 4];
      time += latency::kConfigLoad;
      return riscv::Access::done;
    }
    if (address == kThreadIdle || address == kExpanderIdle) {
      if (!c.idle(thread_)) return waits(kIdle);
      value = 0;
      time = latency::kSyncLoad + (address == kThreadIdle ? std::max(time, c.time.done(thread_)) : time);
      return riscv::Access::done;
    }
    if (address == kWallClock) {
      value = static_cast<std::uint32_t>(time);
      time += latency::kClockLoad;
      return riscv::Access::done;
    }
    return none(address);
  }

  riscv::Access store(std::uint32_t address, std::uint32_t value, Cycle& time) override {
    Coprocessor& c = *core_.coprocessor_;
    if (address == kQueue) return push(value, time);
    if (within(address, kConfigWords, 2 * Config::kWords)) {
      const std::uint32_t index = (address - kConfigWords) / 4;
      if (c.frontend(thread_).holds(&reads_config) &&
          !tolerates(Check::config_race, "it stores configuration that instructions before it in the queue may still read"))
        return riscv::Access::fault;
      unread_config_ = true;
      ++stored_;
      c.config.word(index / Config::kWords, index % Config::kWords) = value;
      if (index % Config::kWords == kRandomSeed) numerics::seed_random(c.vector, value);
      return riscv::Access::done;
    }
    if (within(address, kGprs, 64)) {
      ++stored_;
      c.gprs[thread_][(address - kGprs) / 4] = value;
      return riscv::Access::done;
    }
    if (within(address, kLoopWords, 9)) {
      if (!c.idle(thread_)) return waits(kIdle);
      ++stored_;
      c.frontend(thread_).macro_operations().configure((address - kLoopWords) / 4, value);
      return riscv::Access::done;
    }
    if (time > until_) return riscv::Access::later;
    ++stored_;
    if (within(address, kSemaphores, 8)) {
      const std::size_t index = (address - kSemaphores) / 4;
      const int by = value % 2 == 0 ? 1 : -1;
      if (const auto wrong = c.semaphore_problem(index, by))
        return tolerates(Check::semaphore_range, *wrong) ? riscv::Access::done : riscv::Access::fault;
      c.change_semaphore(index, by, time + 1);
      limit(time);
      return riscv::Access::done;
    }
    if (!core_.store_stream(address, value)) return none(address);
    c.happened |= kForStreams;
    limit(time);
    return riscv::Access::done;
  }

  Pushed push(std::span<const riscv::Instruction> code, Cycle& time) override {
    if (unread_config_) {  // what may be wrong is reported where the processor is
      const riscv::Access next = push(static_cast<std::uint32_t>(code[0].immediate), time);
      return {next == riscv::Access::done ? 1u : 0u, next};
    }
    PushedWords& queue = core_.coprocessor_->frontend(thread_).queue();
    const Cycle earliest = std::max(time, queue.room_since());
    const auto word_at = [code](std::size_t number, std::uint32_t& word) {
      if (number == code.size() || code[number].operation != riscv::Operation::push) return false;
      word = static_cast<std::uint32_t>(code[number].immediate);
      return true;
    };
    const std::size_t count = queue.push_run(word_at, core_.processor(thread_).pc(), time);
    if (count > 0) pushed(earliest);
    std::uint32_t word;
    return {count, word_at(count, word) ? waits(kRoom) : riscv::Access::done};
  }

  std::string fault() const override { return fault_; }

  bool permits(std::uint32_t address, std::uint32_t bytes, bool writes) override {
    const L1Access& map = core_.access;
    if (map.allows(address, bytes, L1Access::kTiles | L1Access::kShared | L1Access::program(thread_))) return true;
    const std::string place = cat(writes ? "it stores " : "it loads ", bytes, " bytes ", writes ? "to " : "from ", hex_text(address));
    if (writes && map.has_program(address, bytes, thread_))
      return tolerates(Check::code_overwritten, cat(place, ", where the program of another thread is"));
    return tolerates(Check::outside_buffers, cat(place, ", outside the op's buffers and its program"));
  }
  bool tolerates(Check check, const std::string& what) override {
    if (core_.checks.tolerates(check, thread_, what)) return true;
    fault_ = sentence(check, what);
    return false;
  }

  std::uint64_t take_stored() { return std::exchange(stored_, 0); }
  // Until when it may do what others see.
  void turn(Cycle until) { until_ = until; }
  unsigned cause() const { return cause_; }

 private:
  riscv::Access push(std::uint32_t word, Cycle& time) {
    PushedWords& queue = core_.coprocessor_->frontend(thread_).queue();
    if (!queue.has_room()) return waits(kRoom);
    if (unread_config_ && reads_config(word) &&
        !tolerates(Check::config_race, cat("it stored configuration and did not read it back before it pushed ", isa::disassemble(word))))
      return riscv::Access::fault;
    time = std::max(time, queue.room_since());
    queue.push(word, core_.processor(thread_).pc(), time);
    pushed(time);
    return riscv::Access::done;
  }
  // A word, or the first of some, at this time.
  void pushed(Cycle at) {
    core_.polled_[thread_].reset();
    limit(at + latency::kFrontend);
  }
  void limit(Cycle until) {
    until_ = std::min(until_, until);
    core_.processors_[thread_]->limit(until);
  }
  riscv::Access waits(unsigned cause) {
    cause_ = cause;
    return riscv::Access::waits;
  }
  riscv::Access failed(std::string what) {
    fault_ = std::move(what);
    return riscv::Access::fault;
  }
  riscv::Access none(std::uint32_t address) { return failed(cat("it accesses ", hex_text(address), ", where it has nothing")); }

  Core& core_;
  std::size_t thread_;
  std::uint64_t stored_ = 0;
  Cycle until_ = kNever;
  unsigned cause_ = 0;
  bool unread_config_ = false;  // by the processor, since it stored some
  std::string fault_;
};

Core::Core(std::size_t l1_bytes, Places places) : access(l1_bytes), places_(std::move(places)), memory_(l1_bytes), l1_(memory_.bytes()) {
  checks.place = [this](std::size_t thread) { return where(thread); };
  reset({});
}
Core::~Core() = default;

void Core::reset(const std::array<std::uint32_t, kThreads>& entries) {
  std::fill(streams_.begin(), streams_.end(), 0u);
  coprocessor_ = std::make_unique<Coprocessor>(l1_, access, checks,
                                               [this](std::uint32_t address, std::uint32_t value) { return store_stream(address, value); });
  for (std::size_t t = 0; t < kThreads; ++t) {
    buses_[t] = std::make_unique<ThreadBus>(*this, t);
    processors_[t] = std::make_unique<riscv::Processor>(*buses_[t], l1_, kOwnBytes);
    processors_[t]->reset(entries[t]);
  }
  coprocessor_->observer = observer;
  processor_fault_ = false;
  stop_.clear();
  polled_ = {};
  executed_ = 0;
  for (std::size_t a = 0; a < kAgents; ++a) turns_.set(a, a < kThreads ? 0 : kNever);
}

bool Core::store_stream(std::uint32_t address, std::uint32_t value) {
  if (!within(address, kStreamRegisterBase, kStreams * 1024)) return false;
  const std::uint32_t offset = address - kStreamRegisterBase;
  if (offset % 4096 >= kStreamRegisters * 4) return false;
  stream(offset / 4096, offset % 4096 / 4) = value;
  return true;
}

void Core::wake(Cycle at) {
  for (std::size_t a = 0; a < kAgents; ++a) {
    if ((turns_.cause(a) & coprocessor_->happened) == 0) continue;
    turns_.set(a, at);
    if (a >= kThreads) coprocessor_->resume(a - kThreads, at);
  }
}

// Where it waits for its own thread of the coprocessor.
void Core::wake_processor(std::size_t thread) {
  const unsigned cause = turns_.cause(thread);
  const PushedWords& queue = coprocessor_->frontend(thread).queue();
  const bool room = cause == kRoom && queue.has_room(), idle = cause == kIdle && coprocessor_->idle(thread);
  if (!room && !idle) return;
  turns_.set(thread, std::max(processors_[thread]->cycle(), idle ? coprocessor_->time.done(thread) : queue.room_since()));
}

// False where the core cannot go on, or has done enough.
bool Core::run_processor(std::size_t thread, Cycle until, Progress& progress) {
  riscv::Processor& processor = *processors_[thread];
  const std::uint64_t before = processor.executed();
  buses_[thread]->turn(until);
  const riscv::Stop stop = observer != nullptr ? run_observed(processor, *observer, thread, until, stop_) : processor.run(kTurn, until);
  progress.words += buses_[thread]->take_stored();
  const bool waits = stop == riscv::Stop::waits;
  turns_.set(thread, waits || stop == riscv::Stop::ended ? kNever : processor.cycle(), waits ? buses_[thread]->cause() : 0);
  if (turns_.cause(kThreads + thread) == 0) turns_.set(kThreads + thread, coprocessor_->next_at(thread));
  if (stop == riscv::Stop::fault || stop == riscv::Stop::halted || !stop_.empty()) {
    processor_fault_ = coprocessor_->fault().empty();
    fault_thread_ = processor_fault_ ? thread : coprocessor_->fault_thread();
    progress.fault = true;
    return false;
  }
  wake_processor(thread);
  return processor.executed() - before < kTurn;
}

bool Core::run_coprocessor(std::size_t thread, Cycle until, Progress& progress) {
  progress.instructions += coprocessor_->advance(thread, until, turns_.awaited() | kForStreams);
  turns_.set(kThreads + thread, coprocessor_->next_at(thread), coprocessor_->cause(thread));
  if (!coprocessor_->fault().empty()) {
    processor_fault_ = false;
    fault_thread_ = coprocessor_->fault_thread();
    progress.fault = true;
    return false;
  }
  wake_processor(thread);
  return true;
}

Core::Progress Core::advance() {
  constexpr int kTurns = 256;
  Progress progress;
  for (int n = 0; n < kTurns; ++n) {
    Cycle until = kNever;
    const std::size_t agent = turns_.earliest(until);
    const Cycle at = turns_.when(agent);
    if (at == kNever) break;
    coprocessor_->happened = 0;
    const bool more = agent < kThreads ? run_processor(agent, until, progress) : run_coprocessor(agent - kThreads, until, progress);
    if (coprocessor_->happened != 0) wake(at);
    if (!more || (coprocessor_->happened & kForStreams) != 0) break;
  }
  executed_ += progress.instructions;
  return progress;
}

std::string Core::address_text(std::size_t thread, std::uint32_t address) const {
  const std::string place = places_ ? places_(thread, address) : std::string();
  return cat(hex_text(address), place.empty() ? std::string() : cat(" (", place, ')'));
}

std::string Core::fault() const {
  if (!processor_fault_)
    return cat(coprocessor_->fault(), ": ", isa::disassemble(coprocessor_->current(fault_thread_)), " from ",
               address_text(fault_thread_, coprocessor_->frontend(fault_thread_).from()));
  const std::string& what = stop_.empty() ? processors_[fault_thread_]->fault() : stop_;
  const std::uint32_t at = processors_[fault_thread_]->pc();
  return cat(what.empty() ? std::string("it stops at ebreak") : what, ": ",
             std::size_t{at} + 4 <= l1_.size() ? isa::riscv::disassemble(word(at), at) : std::string("nothing"));
}

std::string Core::place(std::size_t thread) const {
  return cat(kThreadNames[thread], " at ", address_text(thread, processors_[thread]->pc()));
}

std::string Core::where(std::size_t thread) const {
  const std::uint32_t waits = coprocessor_->current(thread);
  if (waits == 0 || coprocessor_->idle(thread)) return place(thread);
  return cat(place(thread), ", waiting with ", isa::disassemble(waits), " from ",
             address_text(thread, coprocessor_->frontend(thread).from()));
}

std::uint32_t Core::word(std::uint32_t address) const {
  std::uint32_t value;
  std::memcpy(&value, l1_.data() + address, 4);
  return value;
}

void Core::set_word(std::uint32_t address, std::uint32_t value) { std::memcpy(l1_.data() + address, &value, 4); }

Core::Counts Core::counts() const {
  Counts counts{0, executed_};
  for (const auto& p : processors_) counts.riscv += p->executed();
  return counts;
}

}  // namespace buda::tensix
