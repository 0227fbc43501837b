// SPDX-License-Identifier: Apache-2.0
// One cycle after the other.
#include "stepped_core.hpp"

#include <buda/base/text.hpp>
#include <buda/isa/opcodes.hpp>
#include <tensix/fields.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace buda::tensix::test {
namespace {

using O = isa::riscv::Operation;

std::uint32_t field(std::uint32_t word, std::string_view name) {
  const isa::Opcode* opcode = isa::find_opcode(static_cast<std::uint8_t>(word >> 24));
  for (const isa::Field& f : opcode->fields())
    if (f.name == name) return get(word, f);
  return 0;
}
std::string_view name_of(std::uint32_t word) { return isa::find_opcode(static_cast<std::uint8_t>(word >> 24))->name; }

bool is_branch(O o) { return o >= O::beq && o <= O::bgeu; }
bool is_store(O o) { return o >= O::sb && o <= O::sw; }
bool is_load(O o) { return o >= O::lb && o <= O::lhu; }
bool reads_two(O o) { return is_branch(o) || is_store(o) || (o >= O::add && o <= O::remu); }
bool reads_one(O o) { return o > O::jal && o < O::fence; }

std::uint32_t result_of(O o, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (o) {
    case O::addi:
    case O::add:
      return a + b;
    case O::sub:
      return a - b;
    case O::slti:
    case O::slt:
      return sa < sb;
    case O::sltiu:
    case O::sltu:
      return a < b;
    case O::xori:
    case O::xor_:
      return a ^ b;
    case O::ori:
    case O::or_:
      return a | b;
    case O::andi:
    case O::and_:
      return a & b;
    case O::slli:
    case O::sll:
      return a << (b & 31);
    case O::srli:
    case O::srl:
      return a >> (b & 31);
    case O::srai:
    case O::sra:
      return static_cast<std::uint32_t>(sa >> (b & 31));
    case O::mul:
      return a * b;
    case O::mulhu:
      return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    case O::divu:
      return b == 0 ? ~0u : a / b;
    case O::remu:
      return b == 0 ? a : a % b;
    default:
      return 0;
  }
}
bool taken(O o, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  return o == O::beq ? a == b : o == O::bne ? a != b : o == O::blt ? sa < sb : o == O::bge ? sa >= sb : o == O::bltu ? a < b : a >= b;
}

// Bits of STALLWAIT's mask that hold an instruction.
std::uint32_t held_by(std::string_view name) {
  static const std::set<std::string_view> sync = {"SEMINIT", "SEMPOST", "SEMGET", "SEMWAIT", "STALLWAIT"},
                                          scalar = {"SETDMAREG", "STOREREG", "DMANOP"};
  if (name.substr(0, 3) == "SFP") return 256;
  if (sync.count(name) != 0) return 2;
  if (scalar.count(name) != 0) return 1 | 32;
  if (name.substr(0, 5) == "UNPAC") return 1 | 8;
  if (name == "PACR") return 1 | 4;
  if (name == "SETC16" || name.substr(0, 6) == "RMWCIB") return 128;
  if (name.substr(0, 6) == "SETADC") return 1;
  return 64;
}

}  // namespace

void SteppedCore::start(const std::array<std::uint32_t, kThreads>& entries) {
  for (std::size_t t = 0; t < kThreads; ++t) harts_[t].pc = entries[t];
}

kernels::Core::Turn SteppedCore::advance() {
  stream_changed_ = false;
  for (int n = 0; n < 20000 && !stream_changed_ && fault_.empty(); ++n, ++now_) {
    for (auto end = later_.upper_bound(now_); later_.begin() != end; later_.erase(later_.begin())) later_.begin()->second();
    for (std::size_t t = 0; t < kThreads; ++t) step_wait(t);
    for (std::size_t t = 0; t < kThreads; ++t) step_gate(t);
    for (Thread& thread : threads_) step_front(thread);
    step_unpackers();
    for (std::size_t t = 0; t < kThreads; ++t) step_hart(t);
  }
  Turn turn;
  turn.busy = stream_changed_;
  if (!fault_.empty()) turn.fault = fault_;
  return turn;
}

// Leave the unit for loads and stores, enter it, enter the integer unit.
void SteppedCore::step_hart(std::size_t t) {
  Hart& hart = harts_[t];
  for (InFlight& f : hart.unit)
    if (f.until_idle && idle(t)) {
      f.until_idle = false;
      f.ready = now_ + 3;
    }
  if (!hart.unit.empty() && !hart.unit.front().until_idle && hart.unit.front().ready <= now_) {
    const InFlight f = hart.unit.front();
    hart.unit.pop_front();
    if (hart.writer[f.rd] == f.number) hart.writer[f.rd] = 0;
  }
  hart.handed_on = 0;
  if (!hart.integer.empty() && now_ >= hart.free && hart.unit.size() < 8) {
    hart.unit.push_back(hart.integer.front());
    hart.handed_on = hart.integer.front().loads ? 0 : hart.integer.front().number;
    hart.integer.clear();
  }
  if (hart.ended || !hart.integer.empty() || now_ < hart.free) return;
  std::uint32_t word;
  std::memcpy(&word, l1_.data() + hart.pc, 4);
  const Instruction i = isa::riscv::decode(word);
  const auto known = [&](std::uint8_t r) { return r == 0 || hart.writer[r] == 0 || hart.writer[r] == hart.handed_on; };
  if (reads_one(i.operation) && !known(i.rs1)) return;
  if (reads_two(i.operation) && !known(i.rs2)) return;
  if (!can_issue(hart, i, t, hart.x[i.rs1] + static_cast<std::uint32_t>(i.immediate))) return;
  issue(hart, i, t);
}

bool SteppedCore::can_issue(Hart& hart, const Instruction& i, std::size_t t, std::uint32_t address) const {
  constexpr std::size_t kDepths[] = {32, 16, 16};
  const bool pushes = i.operation == O::push || (is_store(i.operation) && address == 0xffe40000u);
  if (pushes) return threads_[t].queue.size() < kDepths[t];
  const bool own = address >= 0xffb00000u && address < 0xffb00800u;
  if (is_load(i.operation) && !own) {
    hart.loads.erase(std::remove_if(hart.loads.begin(), hart.loads.end(), [&](Cycle until) { return until <= now_; }), hart.loads.end());
    return hart.loads.size() < 4;
  }
  return !is_store(i.operation) || address >= l1_.size() || now_ >= hart.store_free;
}

void SteppedCore::issue(Hart& hart, const Instruction& i, std::size_t t) {
  InFlight f{0, ++hart.number, now_ + 2, false, is_load(i.operation)};
  const O o = i.operation;
  std::uint32_t next = hart.pc + 4;
  Cycle cycles = 1, bubble = 0;
  const auto immediate = static_cast<std::uint32_t>(i.immediate);
  const auto set = [&](std::uint32_t value) {
    if (i.rd != 0) hart.x[i.rd] = value;
    f.rd = i.rd;
  };
  if (o == O::push) {
    threads_[t].queue.push_back({immediate, now_});
  } else if (o == O::lui || o == O::auipc) {
    set(immediate + (o == O::auipc ? hart.pc : 0));
  } else if (o == O::jal || o == O::jalr) {
    const std::uint32_t to = ((o == O::jal ? hart.pc : hart.x[i.rs1]) + immediate) & ~1u;
    hart.ended = to == hart.pc;
    set(next);
    next = to;
  } else if (is_branch(o)) {
    const bool jumps = taken(o, hart.x[i.rs1], hart.x[i.rs2]);
    if (jumps) next = hart.pc + immediate;
    if (jumps != (i.immediate < 0)) bubble = 2;
  } else if (is_load(o)) {
    if (!load(hart, i, t, f)) return;
  } else if (is_store(o)) {
    store(hart, i, t);
  } else if (o >= O::addi && o <= O::remu) {
    if (o >= O::mul && o < O::div) cycles = 2;
    if (o >= O::div) fault_ = "it divides";
    set(result_of(o, hart.x[i.rs1], o < O::add ? immediate : hart.x[i.rs2]));
  } else {
    fault_ = cat("the stepped core does not know ", isa::riscv::disassemble(0, hart.pc));
  }
  if (!is_load(o)) f.ready = now_ + cycles + 1;
  if (f.rd != 0) hart.writer[f.rd] = f.number;
  hart.integer.push_back(f);
  hart.free = now_ + cycles + bubble;
  hart.pc = next;
  // A bubble delays what follows, not the branch itself.
  if (bubble > 0) {
    hart.unit.push_back(f);
    hart.integer.clear();
  }
}

bool SteppedCore::load(Hart& hart, const Instruction& i, std::size_t t, InFlight& f) {
  const std::uint32_t address = hart.x[i.rs1] + static_cast<std::uint32_t>(i.immediate);
  const std::size_t bytes = i.operation == O::lw ? 4 : i.operation == O::lh || i.operation == O::lhu ? 2 : 1;
  std::uint32_t value = 0;
  Cycle latency = 8;
  if (address < l1_.size()) {
    std::memcpy(&value, l1_.data() + address, bytes);
  } else if (address >= 0xffb00000u && address < 0xffb00800u) {
    std::memcpy(&value, hart.own.data() + (address - 0xffb00000u), bytes);
    latency = 2;
  } else if (address >= 0xffb40000u && address < 0xffb80000u) {
    value = streams_[{(address - 0xffb40000u) / 4096, (address - 0xffb40000u) % 4096 / 4}];
    latency = 7;
  } else if (address == 0xffe80004u) {
    f.until_idle = !idle(t);
    latency = 3;
  } else if (address >= 0xffef0000u) {
    value = config_[(address - 0xffef0000u) / 4];
    latency = 4;
  } else {
    fault_ = cat("the stepped core has nothing at ", hex_text(address));
    return false;
  }
  if (i.operation == O::lb) value = static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
  if (i.operation == O::lh) value = static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
  if (i.rd != 0) hart.x[i.rd] = value;
  f.rd = i.rd;
  f.ready = now_ + latency;
  if (latency > 2) hart.loads.push_back(now_ + latency - 1);
  return true;
}

void SteppedCore::store(Hart& hart, const Instruction& i, std::size_t t) {
  const std::uint32_t address = hart.x[i.rs1] + static_cast<std::uint32_t>(i.immediate), value = hart.x[i.rs2];
  const std::size_t bytes = i.operation == O::sw ? 4 : i.operation == O::sh ? 2 : 1;
  if (address < l1_.size()) {
    std::memcpy(l1_.data() + address, &value, bytes);
    hart.store_free = now_ + 5;
    last_store_ = now_;
  } else if (address >= 0xffb00000u && address < 0xffb00800u) {
    std::memcpy(hart.own.data() + (address - 0xffb00000u), &value, bytes);
  } else if (address == 0xffe40000u) {
    threads_[t].queue.push_back({value, now_});
  } else if (address >= 0xffef0000u) {
    config_[(address - 0xffef0000u) / 4] = value;
  } else {
    fault_ = cat("the stepped core has nothing at ", hex_text(address));
  }
}

// From the queue through the place before the replay buffer to the gate, a word each per cycle.
void SteppedCore::step_front(Thread& thread) {
  if (thread.gate.size() < 2) {
    if (thread.playing > 0) {
      thread.gate.push_back({thread.replay[thread.play_at % 32], now_});
      ++thread.play_at;
      --thread.playing;
    } else if (!thread.between.empty() && thread.between.front().at + 2 <= now_) {
      const std::uint32_t word = thread.between.front().word;
      thread.between.pop_front();
      if (thread.loading > 0) {
        thread.replay[thread.load_at++ % 32] = word;
        --thread.loading;
        if (thread.executes) thread.gate.push_back({word, now_});
      } else if (name_of(word) != "REPLAY") {
        thread.gate.push_back({word, now_});
      } else if (field(word, "load") != 0) {
        thread.loading = field(word, "length");
        thread.load_at = field(word, "start");
        thread.executes = field(word, "execute") != 0;
      } else {
        thread.playing = field(word, "length") - 1;
        thread.play_at = field(word, "start") + 1;
        thread.gate.push_back({thread.replay[field(word, "start")], now_});
      }
    }
  }
  if (!thread.queue.empty() && thread.queue.front().at + 2 <= now_ && thread.between.size() < 8) {
    if (name_of(thread.queue.front().word).substr(0, 3) == "MOP") fault_ = "the stepped core has no macro operations";
    thread.between.push_back({thread.queue.front().word, now_});
    thread.queue.pop_front();
  }
}

bool SteppedCore::waits(std::size_t t, std::uint32_t conditions) const {
  const Thread& thread = threads_[t];
  for (std::size_t u = 0; u < 2; ++u)
    if ((conditions >> (1 + u) & 1) != 0)
      for (const Job& job : jobs_[u])
        if (job.thread == t) return true;
  for (std::size_t p = 0; p < 4; ++p)
    if ((conditions >> (3 + p) & 1) != 0 && now_ < thread.packed[p]) return true;
  return ((conditions & 1u << 7) != 0 && now_ < thread.matrix) || ((conditions & 1u << 14) != 0 && now_ < thread.vector) ||
         ((conditions & 1u << 10) != 0 && sources_[0].banks[sources_[0].matrix] != Owner::matrix);
}

// The latched wait sees its conditions every cycle; what it held goes on one cycle after they are met.
void SteppedCore::step_wait(std::size_t t) {
  Thread& thread = threads_[t];
  if (thread.blocked == 0 || thread.lifted != 0 || now_ <= thread.latched) return;
  bool held = waits(t, thread.conditions);
  for (std::size_t i = 0; i < 8; ++i)
    if ((thread.semaphores >> i & 1) != 0)
      held = held || ((thread.semaphore_condition & 1) != 0 && semaphores_[i] == 0) ||
             ((thread.semaphore_condition & 2) != 0 && semaphores_[i] >= most_[i]);
  if (!held) thread.lifted = now_ + 1;
}

void SteppedCore::step_gate(std::size_t t) {
  Thread& thread = threads_[t];
  if (thread.gate.empty() || thread.gate.front().at + 1 > now_ || now_ < thread.next) return;
  const std::uint32_t word = thread.gate.front().word;
  if ((thread.blocked & held_by(name_of(word))) != 0 && (thread.lifted == 0 || now_ < thread.lifted)) return;
  if (passes(t, word)) thread.gate.pop_front();
}

bool SteppedCore::passes(std::size_t t, std::uint32_t word) {
  Thread& thread = threads_[t];
  const std::string_view name = name_of(word);
  thread.next = now_ + 1;
  if (name == "SETC16") {
    thread.settings[field(word, "register")] = static_cast<std::uint16_t>(field(word, "value"));
  } else if (name.substr(0, 6) == "RMWCIB") {
    if (now_ < config_free_) return false;
    config_free_ = now_ + 1;
    const unsigned low = 8 * static_cast<unsigned>(name.back() - '0');
    std::uint32_t& value = config_[field(word, "config")];
    value = (value & ~(field(word, "mask") << low)) | (field(word, "data") & field(word, "mask")) << low;
  } else if (name.substr(0, 3) == "SEM" || name == "STALLWAIT") {
    if (name == "SEMWAIT" || name == "STALLWAIT") {
      thread.blocked = field(word, "blocked");
      thread.conditions = name == "STALLWAIT" ? field(word, "conditions") : 0;
      thread.semaphores = name == "STALLWAIT" ? 0 : field(word, "semaphores");
      thread.semaphore_condition = field(word, "condition");
      thread.latched = now_;
      thread.lifted = 0;
      return true;
    }
    later_.emplace(now_ + 1, [this, word, name] {
      for (std::size_t i = 0; i < 8; ++i) {
        if ((field(word, "semaphores") >> i & 1) == 0) continue;
        if (name == "SEMINIT") most_[i] = field(word, "most");
        semaphores_[i] = name == "SEMINIT" ? field(word, "value") : name == "SEMPOST" ? semaphores_[i] + 1 : semaphores_[i] - 1;
      }
    });
  } else if (name == "SETDMAREG" || name == "STOREREG") {
    if (now_ < scalar_) return false;
    scalar_ = thread.next = now_ + (name == "STOREREG" ? 3 : 1);
    if (name == "SETDMAREG") {
      std::uint32_t& gpr = gprs_[t][field(word, "half_register") / 2];
      const std::uint32_t payload = field(word, "payload");
      gpr = field(word, "half_register") % 2 != 0 ? (gpr & 0xffffu) | payload << 16 : (gpr & 0xffff0000u) | payload;
    } else {
      const std::uint32_t offset = (field(word, "address") << 2) - 0x40000u;
      streams_[{offset / 4096, offset % 4096 / 4}] = gprs_[t][field(word, "register")];
      stream_changed_ = true;
    }
  } else if (name.substr(0, 6) == "SETADC") {
    if (name == "SETADCXX") {
      thread.x0 = field(word, "x0");
      thread.x1 = field(word, "x1");
    }
    if (name == "SETADCZW" && (field(word, "which") & 2) != 0) thread.w = field(word, "w0");
  } else if (name.substr(0, 5) == "UNPAC") {
    return unpacks(t, word);
  } else if (name == "PACR") {
    return packs(t, word);
  } else if (name.substr(0, 3) == "SFP") {
    if (now_ < vector_) return false;
    vector_ = now_ + 1;
    thread.vector = now_ + 2;
  } else {
    return matrix(t, word);
  }
  return true;
}

void SteppedCore::move(Thread& thread, std::uint32_t index) const {
  const std::uint32_t ab = thread.settings[7 + 2 * index], d = thread.settings[23 + index];
  thread.a = (thread.a + (ab & 63)) % 64;
  thread.b = (thread.b + (ab >> 8 & 63)) % 64;
  thread.d = (thread.d + (d & 1023)) % 1024;
}

bool SteppedCore::matrix(std::size_t t, std::uint32_t word) {
  Thread& thread = threads_[t];
  const std::string_view name = name_of(word);
  if (now_ < matrix_) return false;
  const bool product = name == "MVMUL" || name == "ELWMUL", sum = name == "ELWADD" || name == "ELWSUB", moves = name == "MOVA2D";
  const auto owned = [&](std::size_t s) { return sources_[s].banks[sources_[s].matrix] == Owner::matrix; };
  if ((product || sum || moves) && !owned(0)) return false;
  if ((product || sum) && !owned(1)) return false;
  const bool wide = bits(1, 29, 1) != 0;
  const std::uint32_t row = (thread.d + field(word, "dst") + thread.settings[1]) % 1024;
  Cycle& block = dest_[row / 8 * (wide ? 2 : 1) % dest_.size()];
  if (product && (now_ < block || now_ < moved_)) return false;
  matrix_ = now_ + 1;
  Cycle latency = 1;
  if (product || sum || moves) {
    latency = moves ? 4 : 5;
    block = now_ + latency;
    if (moves) moved_ = now_ + 4;
    move(thread, field(word, "addr_mod"));
  }
  if (name == "SETRWC") {
    const std::uint32_t which = field(word, "which");
    if ((which & 1) != 0) thread.a = field(word, "a");
    if ((which & 2) != 0) thread.b = field(word, "b");
    if ((which & 4) != 0) thread.d = field(word, "d");
  }
  thread.matrix = std::max(thread.matrix, now_ + latency);
  for (std::size_t s = 0; s < 2; ++s) {
    if (name == "ZEROACC" || (field(word, "flip") >> s & 1) == 0) continue;
    const std::size_t bank = sources_[s].matrix;
    sources_[s].matrix ^= 1;
    later_.emplace(now_ + 1, [this, s, bank] { sources_[s].banks[bank] = Owner::unpacker; });
  }
  return true;
}

bool SteppedCore::unpacks(std::size_t t, std::uint32_t word) {
  Thread& thread = threads_[t];
  const std::size_t u = field(word, "unpacker");
  Source& source = sources_[u];
  if (now_ < unpack_) return false;
  const bool nop = name_of(word) == "UNPACR_NOP";
  if (nop && field(word, "kind") == 1) return source.banks[source.matrix] == Owner::unpacker;
  if (source.banks[source.unpack] != Owner::unpacker) return false;
  Job job{0, 4, now_ + 1, t, u, source.unpack, true};
  if (!nop) {
    const std::size_t descriptor = u == 0 ? 52 : 92, mode = u == 0 ? 60 : 100;
    const std::uint32_t in = bits(descriptor, 0, 4), count = thread.x1 - thread.x0 + 1;
    const std::uint32_t size = in == 0 ? 32 : in == 1 || in == 5 ? 16 : in == 2 || in == 6 || in == 10 ? 8 : in == 3 || in == 7 ? 4 : 2;
    const bool exponents = in == 2 || in == 6 || in == 3 || in == 7 || in == 11 || in == 15;
    job.bytes = count * size / 8 + (exponents ? count / 16 : 0);
    job.speed = 1u << bits(mode, 4, 2);
    job.begin = now_ + 2;
    unpack_ = thread.next = now_ + 2;
  }
  source.banks[source.unpack] = Owner::filling;
  source.unpack ^= 1;
  jobs_[u].push_back(job);
  return true;
}

void SteppedCore::step_unpackers() {
  std::array<std::uint32_t, 2> wants = {};
  for (std::size_t u = 0; u < 2; ++u)
    if (!jobs_[u].empty() && jobs_[u].front().begin <= now_ && jobs_[u].front().bytes > 0) wants[u] = jobs_[u].front().speed;
  const bool shares = wants[0] > 1 && wants[1] > 1;
  for (std::size_t u = 0; u < 2; ++u) {
    if (jobs_[u].empty() || jobs_[u].front().begin > now_ + 1) continue;
    Job& job = jobs_[u].front();
    job.bytes -= 16 * (shares ? wants[u] / 2 : wants[u]);
    if (job.bytes > 0 || (wants[u] == 0 && job.begin > now_ + 1)) continue;
    const Job done = job;
    later_.emplace(now_ + 1, [this, u, done] {
      sources_[done.source].banks[done.bank] = Owner::matrix;
      jobs_[u].pop_front();
    });
    job.begin = ~Cycle{0};
  }
}

bool SteppedCore::packs(std::size_t t, std::uint32_t word) {
  Thread& thread = threads_[t];
  const bool wide = bits(14, 0, 1) != 0;
  const std::uint32_t intermediate = bits(58, 8, 4), out = bits(58, 4, 4), count = thread.x1 - thread.x0 + 1;
  const std::uint32_t bytes = intermediate == 0 ? 4 : intermediate == 6 || intermediate == 2 ? 1 : 2;
  const std::uint32_t first = thread.w * bits(9, 12, 16) / bytes / 16;
  for (std::size_t p = 0; p < 4; ++p) {
    if (now_ < packers_[p]) return false;
    for (std::uint32_t row = 0; row < count / 16; row += 8)
      if (now_ < dest_[(first + bits(152 + p, 0, 12) + row) % 1024 / 8 * (wide ? 2 : 1) % dest_.size()]) return false;
  }
  (void)word;
  const std::uint32_t size = out == 0                            ? 32
                             : out == 1 || out == 5              ? 16
                             : out == 2 || out == 6 || out == 10 ? 8
                             : out == 3 || out == 7              ? 4
                                                                 : 2;
  const bool exponents = out == 2 || out == 6 || out == 3 || out == 7 || out == 11 || out == 15;
  const std::uint32_t words = (count * size / 8 + 15) / 16 + (exponents ? 1 : 0);
  for (std::size_t p = 0; p < 4; ++p) thread.packed[p] = packers_[p] = now_ + std::max(count / 16, words * (bits(59, 21, 1) != 0 ? 5 : 1));
  return true;
}

bool SteppedCore::idle(std::size_t t) const {
  const Thread& thread = threads_[t];
  return thread.queue.empty() && thread.between.empty() && thread.gate.empty() && thread.playing == 0 && now_ >= thread.next &&
         !waits(t, 0x7e | 1u << 7 | 1u << 14);
}

}  // namespace buda::tensix::test
