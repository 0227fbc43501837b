// SPDX-License-Identifier: Apache-2.0
// The units that compute nothing: synchronisation, configuration, general-purpose registers, and address counters.
//
// Source: tt-isa-documentation, WormholeB0: STALLWAIT, SEMINIT, SEMPOST, SEMGET, SEMWAIT, SETC16, WRCFG, RDCFG, RMWCIB, SETDMAREG,
// ADDDMAREG, STOREREG, ATGETM, ATRELM, and ADCs.
#include "coprocessor.hpp"
#include "fields.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::tensix {
namespace {

Step nothing(Coprocessor&, std::size_t, std::uint32_t) { return Step::done; }

// What units do takes effect at once here, and only the time when they are done is waited for.
Step stallwait(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("STALLWAIT");
  static const isa::Field kConditions = kOpcode.field("conditions"), kBlocked = kOpcode.field("blocked");
  const std::uint32_t conditions = get(word, kConditions) == 0 ? 0x7f : get(word, kConditions);
  const bool waits = ((conditions & 0x100) != 0 && c.src_a.to_unpack().valid) || ((conditions & 0x200) != 0 && c.src_b.to_unpack().valid) ||
                     ((conditions & 0x400) != 0 && !c.src_a.to_compute().valid) ||
                     ((conditions & 0x800) != 0 && !c.src_b.to_compute().valid);
  if (waits) return Step::waits;
  Cycle met = c.time.units_done(thread, conditions);
  if ((conditions & 0x100) != 0) met = std::max(met, c.src_a.to_unpack().since);
  if ((conditions & 0x200) != 0) met = std::max(met, c.src_b.to_unpack().since);
  if ((conditions & 0x400) != 0) met = std::max(met, c.src_a.to_compute().since);
  if ((conditions & 0x800) != 0) met = std::max(met, c.src_b.to_compute().since);
  c.time.latch(thread, get(word, kBlocked), met);
  return Step::done;
}

// Calls `change` for each semaphore of a mask until one says that it is not done.
template <class Change>
Step for_semaphores(std::uint32_t mask, Change&& change) {
  for (std::size_t i = 0; i < 8; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (const Step step = change(i); step != Step::done) return step;
  }
  return Step::done;
}

Step seminit(Coprocessor& c, std::size_t, std::uint32_t word) {
  static const NamedOpcode kOpcode("SEMINIT");
  static const isa::Field kSemaphores = kOpcode.field("semaphores"), kValue = kOpcode.field("value"), kMost = kOpcode.field("most");
  return for_semaphores(get(word, kSemaphores), [&](std::size_t i) {
    c.semaphores[i] = get(word, kValue);
    c.semaphore_limits[i] = get(word, kMost);
    c.time.semaphores[i] = c.time.now + 1;
    c.happened |= kForSemaphores;
    return Step::done;
  });
}

template <int by>
Step semchange(Coprocessor& c, std::size_t, std::uint32_t word) {
  static const isa::Field kSemaphores = NamedOpcode("SEMPOST").field("semaphores");
  return for_semaphores(get(word, kSemaphores), [&](std::size_t i) { return c.change_semaphore(i, by, c.time.now + 1); });
}

Step semwait(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SEMWAIT");
  static const isa::Field kSemaphores = kOpcode.field("semaphores"), kCondition = kOpcode.field("condition"),
                          kBlocked = kOpcode.field("blocked");
  const std::uint32_t condition = get(word, kCondition);
  if (condition == 0) return c.fail("it waits for no condition");
  Cycle met = 0;
  const Step step = for_semaphores(get(word, kSemaphores), [&](std::size_t i) {
    met = std::max(met, c.time.semaphores[i]);
    const bool waits = ((condition & 1) != 0 && c.semaphores[i] == 0) || ((condition & 2) != 0 && c.semaphores[i] >= c.semaphore_limits[i]);
    return waits ? Step::waits : Step::done;
  });
  if (step == Step::done) c.time.latch(thread, get(word, kBlocked), met);
  return step;
}

// Nobody ever gets the others.
bool is_mutex(std::uint32_t index) { return index != 1 && index < 8; }

Step atgetm(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const isa::Field kMutex = NamedOpcode("ATGETM").field("mutex");
  const std::uint32_t index = get(word, kMutex);
  if (!is_mutex(index)) return c.fail(cat("there is no mutex ", index));
  if (c.mutexes[index] != 0 && c.mutexes[index] != thread + 1) return Step::waits;
  c.mutexes[index] = static_cast<std::uint8_t>(thread + 1);
  c.time.now = std::max(c.time.now, c.time.mutexes[index]);
  return Step::done;
}

Step atrelm(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const isa::Field kMutex = NamedOpcode("ATRELM").field("mutex");
  const std::uint32_t index = get(word, kMutex);
  if (!is_mutex(index)) return c.fail(cat("there is no mutex ", index));
  if (c.mutexes[index] != thread + 1) return Step::done;
  c.mutexes[index] = 0;
  c.time.mutexes[index] = c.time.now + 1;
  c.happened |= kForMutexes;
  return Step::done;
}

Step setc16(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SETC16");
  static const isa::Field kValue = kOpcode.field("value"), kRegister = kOpcode.field("register");
  const std::uint32_t index = get(word, kRegister);
  if (index >= Config::kThreadWords) return c.fail(cat("a thread has no setting ", index));
  c.config.of_thread(thread, index) = static_cast<std::uint16_t>(get(word, kValue));
  return Step::done;
}

Step wrcfg(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("WRCFG");
  static const isa::Field kConfig = kOpcode.field("config"), kWide = kOpcode.field("wide"), kGpr = kOpcode.field("gpr");
  const std::size_t count = get(word, kWide) != 0 ? 4 : 1;
  const std::size_t to = get(word, kConfig) / count * count, from = get(word, kGpr) / count * count;
  if (to + count > Config::kWords) return c.fail(cat("there is no word ", to, " of configuration"));
  for (std::size_t i = 0; i < count; ++i) c.config.word(c.config.bank(thread), to + i) = c.gprs[thread][from + i];
  return Step::done;
}

Step rdcfg(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("RDCFG");
  static const isa::Field kConfig = kOpcode.field("config"), kGpr = kOpcode.field("gpr");
  const std::size_t from = get(word, kConfig);
  if (from >= Config::kWords) return c.fail(cat("there is no word ", from, " of configuration"));
  c.gprs[thread][get(word, kGpr)] = c.config.word(c.config.bank(thread), from);
  return Step::done;
}

template <unsigned byte>
Step rmwcib(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("RMWCIB0");
  static const isa::Field kConfig = kOpcode.field("config"), kData = kOpcode.field("data"), kMask = kOpcode.field("mask");
  const std::size_t to = get(word, kConfig);
  if (to >= Config::kWords) return c.fail(cat("there is no word ", to, " of configuration"));
  const std::uint32_t mask = get(word, kMask) << (8 * byte), data = get(word, kData) << (8 * byte);
  std::uint32_t& value = c.config.word(c.config.bank(thread), to);
  value = (value & ~mask) | (data & mask);
  return Step::done;
}

Step setdmareg(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SETDMAREG");
  static const isa::Field kHalf = kOpcode.field("half_register"), kMode = kOpcode.field("mode"), kPayload = kOpcode.field("payload");
  if (get(word, kMode) != 0) return c.fail("this mode of SETDMAREG is not executed yet");
  const std::uint32_t half = get(word, kHalf), payload = get(word, kPayload);
  std::uint32_t& gpr = c.gprs[thread][half / 2];
  gpr = half % 2 != 0 ? (gpr & 0xffffu) | payload << 16 : (gpr & 0xffff0000u) | payload;
  return Step::done;
}

template <bool multiplies>
Step gpr_arithmetic(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("ADDDMAREG");
  static const isa::Field kA = kOpcode.field("a"), kB = kOpcode.field("b"), kResult = kOpcode.field("result"),
                          kConstant = kOpcode.field("b_is_constant");
  // The two are not in the same four.
  if (get(word, kConstant) == 0 && get(word, kA) / 4 != get(word, kB) / 4)
    c.time.add_scalar(latency::kFarArithmetic - latency::kArithmetic);
  const std::uint32_t b = get(word, kConstant) != 0 ? get(word, kB) : c.gprs[thread][get(word, kB)], a = c.gprs[thread][get(word, kA)];
  c.gprs[thread][get(word, kResult)] = multiplies ? (a & 0xffffu) * (b & 0xffffu) : a + b;
  return Step::done;
}

Step storereg(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("STOREREG");
  static const isa::Field kAddress = kOpcode.field("address"), kGpr = kOpcode.field("register");
  const std::uint32_t address = 0xffb00000u | get(word, kAddress) << 2;
  if (!c.store_word(address, c.gprs[thread][get(word, kGpr)])) return c.fail(cat("there is nothing to store to at ", address));
  c.happened |= kForStreams;
  return Step::done;
}

// Sets two counters of both channels: x and y, or z and w.
template <bool z_and_w>
Step setadc_pair(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SETADCXY");
  static const isa::Field kWhich = kOpcode.field("which"), kUnits = kOpcode.field("units"), kX0 = kOpcode.field("x0"),
                          kY0 = kOpcode.field("y0"), kX1 = kOpcode.field("x1"), kY1 = kOpcode.field("y1");
  const std::uint32_t values[4] = {get(word, kX0), get(word, kY0), get(word, kX1), get(word, kY1)};
  for (std::size_t unit = 0; unit < 3; ++unit) {
    if ((get(word, kUnits) >> unit & 1) == 0) continue;
    AddressCounters& counters = c.addresses[thread][unit];
    for (std::size_t i = 0; i < 4; ++i) {
      if ((get(word, kWhich) >> i & 1) == 0) continue;
      for (auto* channels : {&counters.channel, &counters.start}) {
        auto& channel = (*channels)[i / 2];
        (z_and_w ? i % 2 != 0 ? channel.w : channel.z : i % 2 != 0 ? channel.y : channel.x) = values[i];
      }
    }
  }
  return Step::done;
}

Step setadcxx(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SETADCXX");
  static const isa::Field kX0 = kOpcode.field("x0"), kX1 = kOpcode.field("x1"), kUnits = kOpcode.field("units");
  for (std::size_t unit = 0; unit < 3; ++unit) {
    if ((get(word, kUnits) >> unit & 1) == 0) continue;
    AddressCounters& counters = c.addresses[thread][unit];
    counters.channel[0].x = counters.start[0].x = get(word, kX0);
    counters.channel[1].x = counters.start[1].x = get(word, kX1);
  }
  return Step::done;
}

Step setadc(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SETADC");
  static const isa::Field kValue = kOpcode.field("value"), kDimension = kOpcode.field("dimension"), kChannel = kOpcode.field("channel"),
                          kUnits = kOpcode.field("units");
  constexpr std::uint32_t AddressCounters::Channel::*kMembers[4] = {&AddressCounters::Channel::x, &AddressCounters::Channel::y,
                                                                    &AddressCounters::Channel::z, &AddressCounters::Channel::w};
  for (std::size_t unit = 0; unit < 3; ++unit) {
    if ((get(word, kUnits) >> unit & 1) == 0) continue;
    AddressCounters& counters = c.addresses[thread][unit];
    const auto member = kMembers[get(word, kDimension)];
    counters.channel[get(word, kChannel)].*member = counters.start[get(word, kChannel)].*member = get(word, kValue);
  }
  return Step::done;
}

}  // namespace

std::span<const NamedExecute> control_instructions() {
  static constexpr NamedExecute kAll[] = {
      {"NOP", &nothing},
      {"DMANOP", &nothing},
      {"SFPNOP", &nothing},
      {"STALLWAIT", &stallwait},
      {"SEMINIT", &seminit},
      {"SEMPOST", &semchange<1>},
      {"SEMGET", &semchange<-1>},
      {"SEMWAIT", &semwait},
      {"ATGETM", &atgetm},
      {"ATRELM", &atrelm},
      {"SETC16", &setc16},
      {"WRCFG", &wrcfg},
      {"RDCFG", &rdcfg},
      {"RMWCIB0", &rmwcib<0>},
      {"RMWCIB1", &rmwcib<1>},
      {"RMWCIB2", &rmwcib<2>},
      {"RMWCIB3", &rmwcib<3>},
      {"SETDMAREG", &setdmareg},
      {"ADDDMAREG", &gpr_arithmetic<false>},
      {"MULDMAREG", &gpr_arithmetic<true>},
      {"STOREREG", &storereg},
      {"SETADCXY", &setadc_pair<false>},
      {"SETADCZW", &setadc_pair<true>},
      {"SETADCXX", &setadcxx},
      {"SETADC", &setadc},
  };
  return kAll;
}

}  // namespace buda::tensix
