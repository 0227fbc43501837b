// What a kernel has at hand on its processor: pushing instructions, registers, and waiting.
//
// Source: tt-isa-documentation, WormholeB0: PushTensixInstruction, BabyRISCV memory map, TTSync, and STALLWAIT.
#pragma once

#include <arguments.h>
#include <isa.h>

namespace tt {

inline volatile uint32_t& at(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// A constant instruction stands in the program itself: words whose low two bits are not 11 are pushed, rotated right by two.
template <uint32_t word>
inline void issue() {
  asm volatile(".word %0" : : "i"(word << 2 | word >> 30));
}
// One that is known only when the kernel runs.
inline void push(uint32_t word) { at(0xffe40000u) = word; }

inline volatile uint32_t& config(uint32_t word) { return at(0xffef0000u + 4 * word); }
// A processor goes on behind a load until an instruction needs the value: this one does.
inline void wait_for_value(uint32_t value) { asm volatile("addi x0, %0, 0" : : "r"(value)); }
// Processor and coprocessor see configuration in the order in which it was written only after it was read back.
inline void config_written() { wait_for_value(config(0)); }
// Until the thread's instructions are executed.
inline void wait_idle() { wait_for_value(at(0xffe80004u)); }

inline const volatile Arguments& arguments() { return *reinterpret_cast<const volatile Arguments*>(kArgumentsAddress); }

// Streams: register 3 counts what was taken, 4 what has arrived; 16 bits each.
enum : uint32_t { kTaken = 3, kArrived = 4 };
inline volatile uint32_t& stream_register(uint32_t stream, uint32_t number) { return at(0xffb40000u + 4096 * stream + 4 * number); }

// Units of which STALLWAIT can wait for, and that it can keep from beginning something.
enum : uint32_t { kWaitUnpackers = 6, kWaitPackers = 0x78, kWaitMatrixUnit = 0x80, kWaitVectorUnit = 0x4000, kWaitSrcA = 0x400 };
enum : uint32_t { kBlockSync = 2, kBlockScalar = 32, kBlockMatrixUnit = 64, kBlockAll = 511 };

// Stores a counter when the units have done what was pushed before.
inline void store_counter(uint32_t stream, uint32_t number, uint32_t value, uint32_t units) {
  const uint32_t gpr = 4;
  push(SETDMAREG::word | SETDMAREG::half_register(2 * gpr) | SETDMAREG::payload(value & 0xffff));
  push(SETDMAREG::word | SETDMAREG::half_register(2 * gpr + 1));
  push(STALLWAIT::word | STALLWAIT::blocked(kBlockScalar) | STALLWAIT::conditions(units));
  push(STOREREG::word | STOREREG::register_(gpr) | STOREREG::address((0x40000 + 4096 * stream + 4 * number) >> 2));
}

// A ring as its reader or its writer goes through it. From one input to the next it goes on where it was, but for rings between steps,
// which begin anew. A thread has one end of a ring that moves.
class RingEnd {
 public:
  explicit RingEnd(const volatile Ring& ring)
      : address_(ring.address), tile_bytes_(ring.tile_bytes), tiles_(ring.tiles), stream_(ring.stream), number_(number_of(ring)) {
    if (number_ > kInputs) return;
    slot_ = kept(number_).slot;
    count_ = kept(number_).count;
  }
  RingEnd(const RingEnd&) = delete;
  ~RingEnd() {
    if (number_ > kInputs) return;
    kept(number_).slot = slot_;
    kept(number_).count = count_;
  }

  uint32_t address(uint32_t ahead) const {
    uint32_t slot = slot_ + ahead;
    if (slot >= tiles_) slot -= tiles_;
    return address_ + slot * tile_bytes_;
  }
  void wait_for(uint32_t tiles) const {
    while (((stream_register(stream_, kArrived) - count_) & 0xffff) < tiles) {
    }
  }
  // For one tile more than `ahead`.
  void wait_for_room(uint32_t ahead) const {
    while (((count_ - stream_register(stream_, kTaken)) & 0xffff) + ahead >= tiles_) {
    }
  }
  // Without telling: for a second reader of the ring.
  void pass(uint32_t tiles) {
    slot_ += tiles;
    if (slot_ >= tiles_) slot_ -= tiles_;
    count_ += tiles;
  }
  void take(uint32_t tiles) { move(tiles, kTaken, kWaitUnpackers); }
  void put(uint32_t tiles) { move(tiles, kArrived, kWaitPackers); }

 private:
  static volatile KeptEnd& kept(uint32_t number) {
    return const_cast<volatile Arguments&>(arguments()).ends[TT_THREAD == 0 ? 0 : 1][number];
  }
  // In Arguments: inputs, output, and those between steps.
  static uint32_t number_of(const volatile Ring& ring) { return static_cast<uint32_t>(&ring - arguments().inputs); }

  void move(uint32_t tiles, uint32_t number, uint32_t units) {
    pass(tiles);
    store_counter(stream_, number, count_, units);
  }

  uint32_t address_, tile_bytes_, tiles_, stream_, number_;
  uint32_t slot_ = 0, count_ = 0;
};

// Semaphore 1 counts the tiles of the destination register that wait to be packed.
enum : uint32_t { kSlotsSemaphore = 1 << 1, kToDestSemaphore = 1 << 2, kWhileZero = 1, kWhileFull = 2 };

template <uint32_t semaphores, uint32_t condition>
inline void wait_semaphore() {
  issue<SEMWAIT::word | SEMWAIT::blocked(kBlockAll) | SEMWAIT::semaphores(semaphores) | SEMWAIT::condition(condition)>();
}

}  // namespace tt
