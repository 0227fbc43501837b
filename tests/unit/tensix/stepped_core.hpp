// SPDX-License-Identifier: Apache-2.0
// A second, simple model of the time of a core, to compare the first with: every cycle everything makes one step.
//
// It executes the processors' programs, and of the coprocessor what its time depends on: queues, the gate, units, banks of source
// registers, counters of rows. Numbers are not computed; what is packed stays as it was. It knows the instructions of kernels for copies,
// elementwise operations and products.
#pragma once

#include <buda/isa/riscv.hpp>
#include <buda/kernels/run/op_run.hpp>
#include <tensix/config.hpp>
#include <tensix/registers.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace buda::tensix::test {

class SteppedCore final : public kernels::Core {
 public:
  explicit SteppedCore(std::size_t l1_bytes) : l1_(l1_bytes) {}

  void write(std::uint32_t address, std::string_view bytes) override { std::copy(bytes.begin(), bytes.end(), l1_.begin() + address); }
  void read(std::uint32_t address, char* to, std::size_t count) override { std::copy_n(l1_.begin() + address, count, to); }
  std::uint32_t counter(std::uint32_t stream, Counter counter) override { return streams_[{stream, static_cast<std::uint32_t>(counter)}]; }
  void set_counter(std::uint32_t stream, Counter counter, std::uint32_t value) override {
    streams_[{stream, static_cast<std::uint32_t>(counter)}] = value;
  }
  void start(const std::array<std::uint32_t, kThreads>& entries) override;
  Turn advance() override;
  std::string state(const StreamName&) const override { return "stepped"; }
  int patience() const override { return 20; }

  std::uint64_t cycles() const { return last_store_; }  // until the last store to L1

 private:
  using Instruction = isa::riscv::Instruction;
  struct InFlight {
    std::uint8_t rd = 0;
    std::uint64_t number = 0;
    Cycle ready = 0;
    bool until_idle = false, loads = false;
  };
  struct Hart {
    std::uint32_t pc = 0;
    std::array<std::uint32_t, 32> x = {};
    std::array<char, 2048> own = {};
    std::deque<InFlight> unit;      // for loads and stores
    std::vector<InFlight> integer;  // one at most
    std::array<std::uint64_t, 32> writer = {};
    std::vector<Cycle> loads;
    std::uint64_t number = 0, handed_on = 0;
    Cycle free = 0, store_free = 0;
    bool ended = false;
  };
  struct Word {
    std::uint32_t word = 0;
    Cycle at = 0;
  };
  struct Thread {
    std::deque<Word> queue, between, gate;
    std::array<std::uint32_t, 32> replay = {};
    std::size_t loading = 0, load_at = 0, playing = 0, play_at = 0;
    bool executes = false;
    Cycle next = 0, matrix = 0, vector = 0;
    std::uint32_t blocked = 0, conditions = 0, semaphores = 0, semaphore_condition = 0;  // of the latched wait
    Cycle latched = 0, lifted = 0;
    std::uint32_t a = 0, b = 0, d = 0, x0 = 0, x1 = 0, w = 0;
    std::array<std::uint16_t, 57> settings = {};
    std::array<Cycle, 4> packed = {};
  };
  enum class Owner : std::uint8_t { unpacker, filling, matrix };
  struct Source {
    std::array<Owner, 2> banks = {};
    std::size_t unpack = 0, matrix = 0;
  };
  struct Job {
    std::int64_t bytes = 0;
    std::uint32_t speed = 4;
    Cycle begin = 0;
    std::size_t thread = 0, source = 0, bank = 0;
    bool gives = true;
  };

  void step_hart(std::size_t t);
  bool can_issue(Hart& hart, const Instruction& i, std::size_t t, std::uint32_t address) const;
  void issue(Hart& hart, const Instruction& i, std::size_t t);
  bool load(Hart& hart, const Instruction& i, std::size_t t, InFlight& f);
  void store(Hart& hart, const Instruction& i, std::size_t t);
  void step_front(Thread& thread);
  void step_gate(std::size_t t);
  void step_wait(std::size_t t);
  bool passes(std::size_t t, std::uint32_t word);
  bool matrix(std::size_t t, std::uint32_t word);
  bool unpacks(std::size_t t, std::uint32_t word);
  bool packs(std::size_t t, std::uint32_t word);
  void step_unpackers();
  bool idle(std::size_t t) const;
  bool waits(std::size_t t, std::uint32_t conditions) const;
  void move(Thread& thread, std::uint32_t index) const;
  std::uint32_t bits(std::size_t word, unsigned low, unsigned width) const {
    return config_[word] >> low & (width == 32 ? ~0u : (1u << width) - 1);
  }

  std::vector<char> l1_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> streams_;
  std::array<std::uint32_t, 256> config_ = {};
  std::array<Hart, kThreads> harts_;
  std::array<Thread, kThreads> threads_;
  std::array<Source, 2> sources_;
  std::array<std::deque<Job>, 2> jobs_;
  std::array<std::uint32_t, 8> semaphores_ = {}, most_ = {};
  std::multimap<Cycle, std::function<void()>> later_;
  std::array<Cycle, 128> dest_ = {};
  std::array<Cycle, 4> packers_ = {};
  std::array<std::array<std::uint32_t, 64>, kThreads> gprs_ = {};
  Cycle now_ = 0, last_store_ = 0, matrix_ = 0, vector_ = 0, scalar_ = 0, config_free_ = 0, unpack_ = 0, moved_ = 0;
  bool stream_changed_ = false;
  std::string fault_;
};

}  // namespace buda::tensix::test
