// SPDX-License-Identifier: Apache-2.0
// The movers of a worker core: BRISC (TT_THREAD 0) brings tiles into the core's rings, NCRISC (TT_THREAD 1) sends them on. What the streams
// of an overlay would do, by tables.
//
// Each visits its records in turn. A record moves what it can and never waits for another one. A request for tiles is complete before
// others are told of them: so no order between requests is relied on.
// Source: tt-isa-documentation, WormholeB0: NoC/MemoryMap, NoC/Counters, NoC/Ordering, BabyRISCV, SoftReset.
#include "tables.h"

namespace mover {

static volatile uint32_t& word(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
static volatile MoverHeader& header() { return *reinterpret_cast<volatile MoverHeader*>(kTables); }

enum : uint32_t { kTaken = 12, kArrived = 16 };  // registers 3 and 4 of a stream, in bytes
enum : uint32_t { kLargestRequest = 8192, kMessageHeader = 16 };

// Request initiators of a network: BRISC has 0 and 3, NCRISC 1 and 2, for data and for words.
enum : uint32_t { kData = TT_THREAD == 0 ? 0 : 1, kWords = TT_THREAD == 0 ? 3 : 2 };
enum {
  kTargetLow = 0,
  kTargetMid = 4,
  kReturnLow = 12,
  kReturnMid = 16,
  kTag = 24,
  kControl = 28,
  kLength = 32,
  kInline = 36,
  kStart = 40
};
enum : uint32_t { kWrite = 2, kIsInline = 8, kAnswered = 16 };
enum : uint32_t { kWritesAnswered = 0x204, kReadsAnswered = 0x208 };

static uint32_t network_base(uint32_t network) { return 0xffb20000u + (network << 16); }
static uint32_t initiator(uint32_t network, uint32_t number) { return network_base(network) + 0x400 * number; }
// This core as a network sees it.
static uint32_t own_node(uint32_t network) { return header().nodes[network]; }
static uint32_t lower(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void request(uint32_t at, uint32_t target, uint32_t target_node, uint32_t back, uint32_t back_node, uint32_t control,
                    uint32_t length) {
  while ((word(at + kStart) & 1) != 0) {
  }
  word(at + kTargetLow) = target;
  word(at + kTargetMid) = target_node;
  word(at + kReturnLow) = back;
  word(at + kReturnMid) = back_node;
  word(at + kTag) = 0;
  word(at + kControl) = control;
  word(at + kLength) = length;
  word(at + kStart) = 1;
}

// Of `counter` so many answers beyond those that there were.
static void wait_for_answers(uint32_t counter, uint32_t before, uint32_t count) {
  while (word(counter) - before < count) {
  }
}

static void put_word(uint32_t network, uint32_t node, uint32_t address, uint32_t value) {
  const uint32_t at = initiator(network, kWords);
  while ((word(at + kStart) & 1) != 0) {
  }
  word(at + kInline) = value;
  request(at, address, node, 0, own_node(network), kWrite | kIsInline, 0xfu << (address & 15));
}

#if TT_THREAD == 0
static void read_bytes(uint32_t network, uint32_t node, uint32_t from, uint32_t to, uint32_t bytes) {
  const uint32_t counter = network_base(network) + kReadsAnswered, before = word(counter);
  uint32_t count = 0;
  for (; bytes > 0; ++count) {
    const uint32_t n = lower(bytes, kLargestRequest);
    request(initiator(network, kData), from, node, to, own_node(network), kAnswered, n);
    from += n;
    to += n;
    bytes -= n;
  }
  wait_for_answers(counter, before, count);
}
#else
static void write_bytes(uint32_t network, uint32_t from, uint32_t nodes, uint32_t to, uint32_t bytes, uint32_t control,
                        uint32_t receivers) {
  const uint32_t counter = network_base(network) + kWritesAnswered, before = word(counter);
  uint32_t count = 0;
  for (; bytes > 0; count += receivers) {
    const uint32_t n = lower(bytes, kLargestRequest);
    request(initiator(network, kData), from, own_node(network), to, nodes, kWrite | kAnswered | control, n);
    from += n;
    to += n;
    bytes -= n;
  }
  wait_for_answers(counter, before, count);
}
#endif

// Goes on to the list's next run: through the beginnings of loops and back to them. False where the list ends.
static bool find_run(volatile ListRecord* list) {
  volatile LoopRecord* const loops = reinterpret_cast<volatile LoopRecord*>(list->loops);
  for (;;) {
    while (list->depth > 0 && loops[list->depth - 1].left == 0) {
      volatile LoopRecord* loop = &loops[list->depth - 1];
      loop->turns -= 1;
      if (loop->turns == 0) {
        list->depth -= 1;
        continue;
      }
      loop->turn += 1;
      loop->left = loop->entries;
      list->next = loop->begin;
    }
    volatile uint32_t& left = list->depth > 0 ? loops[list->depth - 1].left : list->entries;
    if (left == 0) return false;
    left -= 1;
    const uint32_t at = list->next, head = word(at);
    if ((head & kLoop) == 0) return true;
    volatile LoopRecord* loop = &loops[list->depth];
    loop->turns = head >> 1;
    loop->turn = 0;
    loop->entries = word(at + 4);
    loop->left = loop->entries;
    loop->begin = at + 8;
    list->next = at + 8;
    list->depth += 1;
  }
}

// The next tuple of a list, or none: then its first word is 0.
static void next_tuple(volatile ListRecord* list, volatile uint32_t* tuple, uint32_t words) {
  if (list->left > 0) {
    list->left -= 1;
    for (uint32_t i = 0; i < words; ++i) tuple[i] += word(list->step + 4 * i);
    return;
  }
  if (!find_run(list)) {
    tuple[0] = 0;
    return;
  }
  uint32_t at = list->next;
  list->left = (word(at) >> 1) - 1;
  at += 4;
  for (uint32_t i = 0; i < words; ++i) tuple[i] = word(at + 4 * i);
  at += 4 * words;
  list->step = at;
  if (list->left > 0) at += 4 * words;
  const volatile LoopRecord* const loops = reinterpret_cast<const volatile LoopRecord*>(list->loops);
  for (uint32_t depth = 0; depth < list->depth; ++depth, at += 4 * words)
    for (uint32_t i = 0; i < words; ++i) tuple[i] += loops[depth].turn * word(at + 4 * i);
  list->next = at;
}

// What the kernel has done since this was last asked, by one of its counters of 16 bits.
static uint32_t kernel_progress(volatile RingRecord* ring, uint32_t number) {
  const uint32_t now = word(ring->stream + number) & 0xffff, more = (now - ring->counter) & 0xffff;
  ring->counter = now;
  return more;
}

#if TT_THREAD == 0

enum : uint32_t { kMaxAhead = 0x7000 };  // messages of which a kernel is told at most: its counters have 16 bits

// Of a tuple.
static uint32_t words_of(volatile InRecord* in) { return in->reads != 0 ? 3 : 2; }

// Behind a group that is all there, as often as the kernel's ring has it.
static void copy_group(volatile InRecord* in, volatile RingRecord* ring) {
  const uint32_t bytes = in->group * ring->message;
  for (uint32_t i = 1; i < in->copies; ++i) read_bytes(in->network, own_node(in->network), ring->address, ring->address + i * bytes, bytes);
}

// A group of tiles that stay is announced until the kernel has taken it so often; then it is free.
static uint32_t visit_group(volatile InRecord* in, volatile RingRecord* ring) {
  const uint32_t all = in->group * in->times;
  in->taken += kernel_progress(ring, kTaken);
  if (in->taken == all) {
    ring->freed += in->group;
    in->taken = 0;
    in->announced = 0;
  }
  const uint32_t there = ring->arrived - ring->freed;
  if (there == 0) return 0;
  if (there == in->group && in->announced <= in->group) copy_group(in, ring);
  uint32_t until = there == in->group ? all : there;
  until = lower(until, in->taken + kMaxAhead);
  if (until > in->announced) {
    word(ring->stream + kArrived) = (word(ring->stream + kArrived) + until - in->announced) & 0xffff;
    in->announced = until;
  }
  return 1;
}

// The kernel has no room until all sums are there.
static uint32_t visit_sums(volatile InRecord* in, volatile RingRecord* ring) {
  if (in->now[0] == 0) return 0;
  const uint32_t tiles = lower(in->now[0] - in->done, in->chunk);
  read_bytes(in->network, in->now[1], in->now[2] + in->done * ring->message, ring->address + in->announced * ring->message,
             tiles * ring->message);
  header().in_tiles += tiles;
  in->announced += tiles;
  in->done += tiles;
  if (in->done == in->now[0]) {
    next_tuple(&in->list, in->now, 3);
    in->done = 0;
  }
  if (in->now[0] == 0) word(ring->stream + kTaken) = 0;
  return 1;
}

static uint32_t visit(volatile InRecord* in) {
  volatile RingRecord* ring = reinterpret_cast<volatile RingRecord*>(in->ring);
  if (ring->sums != 0) return visit_sums(in, ring);
  uint32_t at_work = 0;
  if (in->group != 0) {
    at_work = visit_group(in, ring);
  } else if (ring->stream != 0) {
    ring->freed += kernel_progress(ring, kTaken);
    at_work = ring->freed != ring->arrived;
  }
  const uint32_t freed = ring->freed;
  if (in->now[0] != 0) {
    at_work = 1;
    const uint32_t left = in->now[0] - in->done;
    uint32_t tiles;
    if (in->reads != 0) {
      const uint32_t slot = ring->arrived % ring->slots;
      tiles = lower(lower(ring->slots - (ring->arrived - freed), left), lower(in->chunk, ring->slots - slot));
      if (tiles != 0)
        read_bytes(in->network, in->now[1], in->now[2] + in->done * ring->message, ring->address + slot * ring->message,
                   tiles * ring->message);
    } else {
      const uint32_t sent = word(in->now[1]) - ring->arrived;
      tiles = static_cast<int32_t>(sent) <= 0 ? 0 : lower(sent, left);
    }
    if (tiles != 0) {
      ring->arrived += tiles;
      header().in_tiles += tiles;
      if (ring->stream != 0 && in->group == 0) word(ring->stream + kArrived) = ring->arrived & 0xffff;
      in->done += tiles;
      if (tiles == left) {
        next_tuple(&in->list, in->now, words_of(in));
        in->done = 0;
      }
    }
  }
  if (freed != in->told) {
    volatile Credit* credit = reinterpret_cast<volatile Credit*>(in->credits);
    for (uint32_t i = in->credit_count; i > 0; --i, ++credit) put_word(in->network, credit->node, credit->address, freed);
    in->told = freed;
  }
  return at_work;
}

// Ends the reset of the others: they begin where configuration says.
static void start_others() {
  for (uint32_t i = 0; i < 3; ++i) word(0xffef0000u + 4 * (158 + i)) = header().entries[i];
  word(0xffef0000u + 4 * 161) = 7;
  word(0xffef0000u + 4 * 162) = kNcrisc;
  word(0xffef0000u + 4 * 163) = 1;
  for (uint32_t stream = 0xffb40000u; stream < 0xffb80000u; stream += 0x1000) {
    word(stream + kTaken) = 0;
    word(stream + kArrived) = 0;
  }
  volatile RingRecord* const rings = reinterpret_cast<volatile RingRecord*>(header().rings);
  for (uint32_t i = 0; i < header().ring_count; ++i)
    if (rings[i].sums != 0) word(rings[i].stream + kTaken) = (0 - rings[i].slots) & 0xffff;
  const uint32_t seen = word(0xffef0004u);
  asm volatile("" : : "r"(seen));
  word(0xffb121b0u) = header().computes != 0 ? 0 : 0x7000;
}

static void move_tiles() {
  start_others();
  volatile InRecord* const ins = reinterpret_cast<volatile InRecord*>(header().ins);
  for (uint32_t i = 0; i < header().in_count; ++i) next_tuple(&ins[i].list, ins[i].now, words_of(&ins[i]));
  uint32_t at_work = 1;
  while (at_work != 0) {
    at_work = 0;
    for (uint32_t i = 0; i < header().in_count; ++i) at_work |= visit(&ins[i]);
  }
  header().in_done = 1;
}

#else

static uint32_t send(volatile OutRecord* out, volatile RingRecord* ring, uint32_t slot, uint32_t tiles) {
  volatile Connection* to = reinterpret_cast<volatile Connection*>(out->connections) + out->now[1];
  const uint32_t number = out->now[3] + out->done, place = number % to->slots;
  for (uint32_t i = 0; i < to->receivers; ++i) {
    const uint32_t room = word(to->credits + 4 * i) + to->slots - number;
    if (static_cast<int32_t>(room) <= 0) return 0;
    tiles = lower(tiles, room);
  }
  tiles = lower(tiles, to->slots - place);
  write_bytes(out->network, ring->address + slot * ring->message, to->nodes, to->address + place * ring->message, tiles * ring->message,
              to->control, to->receivers);
  if (to->receivers == 1) {
    put_word(out->network, to->nodes, to->arrived, number + tiles);
  } else {
    // What is read back is in L1, and may be fetched.
    word(header().staged) = number + tiles;
    const uint32_t seen = word(header().staged);
    asm volatile("" : : "r"(seen));
    write_bytes(out->network, header().staged, to->nodes, to->arrived, 4, to->control, to->receivers);
  }
  return tiles;
}

// The rows of messages, each to where it is in memory.
static void write_rows(volatile OutRecord* out, volatile RingRecord* ring, uint32_t slot, uint32_t messages) {
  const uint32_t counter = network_base(out->network) + kWritesAnswered, before = word(counter), bytes = out->row_bytes, pitch = out->pitch;
  uint32_t to = out->now[3] + out->done * out->rows * pitch, count = 0;
  for (uint32_t m = 0; m < messages; ++m) {
    uint32_t from = ring->address + (slot + m) * ring->message + kMessageHeader;
    for (uint32_t row = out->rows; row > 0; --row, from += bytes, to += pitch)
      for (uint32_t done = 0; done < bytes; done += kLargestRequest, ++count)
        request(initiator(out->network, kData), from + done, own_node(out->network), to + done, out->now[1], kWrite | kAnswered,
                lower(bytes - done, kLargestRequest));
  }
  wait_for_answers(counter, before, count);
}

static uint32_t visit(volatile OutRecord* out) {
  if (out->now[0] == 0) return 0;
  volatile RingRecord* ring = reinterpret_cast<volatile RingRecord*>(out->ring);
  const uint32_t number = out->now[2] + out->done, there = ring->arrived - number, slot = number % ring->slots;
  if (static_cast<int32_t>(there) <= 0) return 1;
  uint32_t tiles = lower(lower(there, out->now[0] - out->done), ring->slots - slot);
  if (out->rows != 0) {
    write_rows(out, ring, slot, tiles);
  } else if (out->writes != 0) {
    write_bytes(out->network, ring->address + slot * ring->message, out->now[1], out->now[3] + out->done * ring->message,
                tiles * ring->message, 0, 1);
  } else {
    tiles = send(out, ring, slot, tiles);
  }
  if (tiles == 0) return 1;
  header().out_tiles += tiles;
  out->done += tiles;
  // What comes after this tuple, and what is left of it.
  out->lowest = out->now[4];
  if (out->done == out->now[0]) {
    next_tuple(&out->list, out->now, 5);
    out->done = 0;
  } else if (static_cast<int32_t>(number + tiles - out->lowest) < 0) {
    out->lowest = number + tiles;
  }
  return 1;
}

// What has come, and has left by all of the ring's records, is free.
static void free_slots(volatile RingRecord* ring) {
  uint32_t lowest = ring->arrived;
  volatile OutRecord* out = reinterpret_cast<volatile OutRecord*>(ring->first_out);
  for (uint32_t i = 0; i < ring->out_count; ++i)
    if (static_cast<int32_t>(out[i].lowest - lowest) < 0) lowest = out[i].lowest;
  if (lowest == ring->freed) return;
  ring->freed = lowest;
  if (ring->from_kernel != 0) word(ring->stream + kTaken) = lowest & 0xffff;
}

static void move_tiles() {
  volatile OutRecord* const outs = reinterpret_cast<volatile OutRecord*>(header().outs);
  volatile RingRecord* const rings = reinterpret_cast<volatile RingRecord*>(header().rings);
  for (uint32_t i = 0; i < header().out_count; ++i) next_tuple(&outs[i].list, outs[i].now, 5);
  for (;;) {
    uint32_t at_work = 0;
    for (uint32_t i = 0; i < header().ring_count; ++i)
      if (rings[i].from_kernel != 0) rings[i].arrived += kernel_progress(&rings[i], kArrived);
    for (uint32_t i = 0; i < header().out_count; ++i) at_work |= visit(&outs[i]);
    for (uint32_t i = 0; i < header().ring_count; ++i)
      if (rings[i].from_kernel != 0 || rings[i].out_count != 0) free_slots(&rings[i]);
    // It goes on: tiles that nobody takes have to make room, too.
    if (at_work == 0) header().out_done = 1;
  }
}

#endif

}  // namespace mover

extern "C" {

// Compilers may call it, whatever they are told about libraries.
void* memset(void* to, int value, __SIZE_TYPE__ count) {
  for (__SIZE_TYPE__ i = 0; i < count; ++i) static_cast<volatile unsigned char*>(to)[i] = static_cast<unsigned char>(value);
  return to;
}

__attribute__((used)) void tt_main() {
  mover::move_tiles();
  for (;;) asm volatile("");
}

__attribute__((naked, section(".start"), used)) void _start() { asm volatile("li sp, 0xffb01000\n\tj tt_main"); }
}
