// What the processors of a core reach, and how its threads take turns.
#include "core.hpp"

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
    isa::kThreadIdle;
constexpr std::uint32_t kRandomSeed = 164;  // a word of configuration

bool within(std::uint32_t address, std::uint32_t base, std::uint32_t words) { return address >= base && address - base < words * 4; }

}  // namespace

// Registers, as the processor of one thread sees them.
class Core::ThreadBus final : public riscv::Bus {
 public:
  ThreadBus(Core& core, std::size_t thread) : core_(core), thread_(thread) {}

  riscv::Access load(std::uint32_t address, std::uint32_t& value) override {
    Coprocessor& c = *core_.coprocessor_;
    if (within(address, kStreamRegisterBase, kStreams * 1024)) {
      const std::uint32_t offset = address - kStreamRegisterBase;
      if (offset % 4096 >= kStreamRegisters * 4) return none(address);
      value = core_.stream(offset / 4096, offset % 4096 / 4);
      return riscv::Access::done;
    }
    if (within(address, kSemaphores, 8)) {
      value = c.semaphores[(address - kSemaphores) / 4];
      return riscv::Access::done;
    }
    if (within(address, kConfigWords, 2 * Config::kWords)) {
      const std::uint32_t index = (address - kConfigWords) / 4;
      value = c.config.word(index / Config::kWords, index % Config::kWords);
      return riscv::Access::done;
    }
    if (within(address, kGprs, 64)) {
      value = c.gprs[thread_][(address - kGprs) / 4];
      return riscv::Access::done;
    }
    if (address == kThreadIdle || address == kExpanderIdle) {
      value = 0;
      return c.idle(thread_) ? riscv::Access::done : riscv::Access::waits;
    }
    return none(address);
  }

  riscv::Access store(std::uint32_t address, std::uint32_t value) override {
    Coprocessor& c = *core_.coprocessor_;
    if (address == kQueue) return push(value);
    ++stored_;
    if (within(address, kConfigWords, 2 * Config::kWords)) {
      const std::uint32_t index = (address - kConfigWords) / 4;
      c.config.word(index / Config::kWords, index % Config::kWords) = value;
      if (index % Config::kWords == kRandomSeed) numerics::seed_random(c.vector, value);
      return riscv::Access::done;
    }
    if (within(address, kGprs, 64)) {
      c.gprs[thread_][(address - kGprs) / 4] = value;
      return riscv::Access::done;
    }
    if (within(address, kLoopWords, 9)) {
      if (!c.idle(thread_)) return riscv::Access::waits;
      c.frontend(thread_).configure((address - kLoopWords) / 4, value);
      return riscv::Access::done;
    }
    if (within(address, kSemaphores, 8)) {
      const Step step = c.change_semaphore((address - kSemaphores) / 4, value % 2 == 0 ? 1 : -1);
      return step == Step::done ? riscv::Access::done : failed(c.fault());
    }
    return core_.store_stream(address, value) ? riscv::Access::done : none(address);
  }

  riscv::Access push(std::uint32_t word) override {
    Frontend& frontend = core_.coprocessor_->frontend(thread_);
    if (!frontend.has_room()) return riscv::Access::waits;
    frontend.push(word, core_.pc(thread_));
    return riscv::Access::done;
  }

  std::string fault() const override { return fault_; }
  std::uint64_t take_stored() { return std::exchange(stored_, 0); }

 private:
  riscv::Access failed(std::string what) {
    fault_ = std::move(what);
    return riscv::Access::fault;
  }
  riscv::Access none(std::uint32_t address) { return failed(cat("it accesses ", hex_text(address), ", where it has nothing")); }

  Core& core_;
  std::size_t thread_;
  std::uint64_t stored_ = 0;
  std::string fault_;
};

Core::Core(std::size_t l1_bytes, Places places) : places_(std::move(places)), l1_(l1_bytes) { reset({}); }
Core::~Core() = default;

void Core::reset(const std::array<std::uint32_t, kThreads>& entries) {
  std::fill(streams_.begin(), streams_.end(), 0u);
  coprocessor_ =
      std::make_unique<Coprocessor>(l1_, [this](std::uint32_t address, std::uint32_t value) { return store_stream(address, value); });
  for (std::size_t t = 0; t < kThreads; ++t) {
    buses_[t] = std::make_unique<ThreadBus>(*this, t);
    processors_[t] = std::make_unique<riscv::Processor>(*buses_[t], l1_, kOwnBytes);
    processors_[t]->reset(entries[t]);
  }
  processor_fault_ = false;
  executed_ = 0;
}

bool Core::store_stream(std::uint32_t address, std::uint32_t value) {
  if (!within(address, kStreamRegisterBase, kStreams * 1024)) return false;
  const std::uint32_t offset = address - kStreamRegisterBase;
  if (offset % 4096 >= kStreamRegisters * 4) return false;
  stream(offset / 4096, offset % 4096 / 4) = value;
  return true;
}

Core::Progress Core::advance() {
  Progress progress;
  for (std::size_t t = 0; t < kThreads; ++t) {
    // As long as it is only its queue that keeps the processor from going on.
    for (bool more = true; more;) {
      const riscv::Stop stop = processors_[t]->run(kTurn);
      const std::uint64_t done = coprocessor_->advance(t);
      progress.instructions += done;
      more = stop == riscv::Stop::waits && done > 0;
      if (stop == riscv::Stop::fault || stop == riscv::Stop::halted || !coprocessor_->fault().empty()) {
        processor_fault_ = coprocessor_->fault().empty();
        fault_thread_ = processor_fault_ ? t : coprocessor_->fault_thread();
        progress.fault = true;
        executed_ += progress.instructions;
        return progress;
      }
    }
    progress.words += buses_[t]->take_stored();
  }
  executed_ += progress.instructions;
  return progress;
}

std::string Core::address_text(std::size_t thread, std::uint32_t address) const {
  const std::string place = places_ ? places_(thread, address) : std::string();
  return cat(hex_text(address), place.empty() ? std::string() : cat(" (", place, ')'));
}

std::uint32_t Core::pc(std::size_t thread) const { return processors_[thread]->pc(); }

std::string Core::fault() const {
  if (!processor_fault_)
    return cat(coprocessor_->fault(), ": ", isa::disassemble(coprocessor_->current(fault_thread_)), " from ",
               address_text(fault_thread_, coprocessor_->frontend(fault_thread_).from()));
  const std::string& what = processors_[fault_thread_]->fault();
  const std::uint32_t at = pc(fault_thread_);
  return cat(what.empty() ? std::string("it stops at ebreak") : what, ": ",
             at + 4 <= l1_.size() ? isa::riscv::disassemble(word(at), at) : std::string("nothing"));
}

std::string Core::place(std::size_t thread) const { return cat(kThreadNames[thread], " at ", address_text(thread, pc(thread))); }

std::string Core::where(std::size_t thread) const {
  const std::uint32_t waits = coprocessor_->current(thread);
  if (waits == 0) return place(thread);
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
