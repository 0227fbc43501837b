// What a kernel is told when it starts, in one place for kernels and for whoever loads them: words at a fixed address in L1, the same for
// the three threads of a core.
#pragma once

#include <stdint.h>

namespace tt {

// Version of what kernels of others rely on: this file, and the templates that they derive from or call.
enum : uint32_t { kAbi = 1 };

// Version of what a compiled kernel is loaded with: Arguments, tables, and which family does what. Kernels of another version are not run.
enum : uint32_t { kArgumentsVersion = 2 };

// Tiles of one operand in L1: `tiles` slots of `tile_bytes` (a multiple of 16), each a header of 16 bytes and the tile. A stream's counters
// say how many tiles have arrived in it and how many were taken.
struct Ring {
  uint32_t address;
  uint32_t tile_bytes;
  uint32_t tiles;
  uint32_t stream;
};

// Where a thread's end of a ring is.
struct KeptEnd {
  uint32_t slot, count;
};

enum : uint32_t { kInputs = 16, kBuffers = 9, kThreadsWithRings = 2 };

struct Arguments {
  uint32_t done[3];  // by thread: inputs that it has done
  uint32_t runs;     // inputs that the kernel does, one after the other; 0: one
  Ring inputs[kInputs];
  Ring output;
  Ring between;    // partial sums of a matmul, as many as a matrix of the output has tiles
  uint32_t tiles;  // of the output; of a matmul, of one matrix of it
  // Of a matmul.
  uint32_t matrices;                // of the output
  uint32_t blocks;                  // of the inner dimension, for each matrix of the output
  uint32_t inner;                   // tiles of the inner dimension in a block
  uint32_t block_rows, block_cols;  // of the output, in its blocks
  uint32_t rows, cols;              // of one of these, in tiles
  // Of an output that leaves as rows of numbers, the same counts, and the bytes of such a row. Each message is a row of blocks. Of an input
  // that comes so, too: each message is 32 rows of a block.
  uint32_t row_bytes;
  uint32_t adds;  // the output is added to what is in its ring
  // Of steps (families/steps.h).
  uint32_t rounds;  // how often all of them are executed
  uint32_t table;   // where their table is
  uint32_t input_count;
  uint32_t round_tiles[kInputs];  // of each input, in a round
  Ring buffers[kBuffers];         // between steps; of the stream of the first, register 4 counts the steps that are packed
  uint32_t begun;                 // inputs that all threads may begin
  // Where the ends of the rings of inputs and output are from one input to the next: those of the unpack thread, and of the pack thread.
  KeptEnd ends[kThreadsWithRings][kInputs + 1];
};

// What a thread prints (dprint.h): messages of two words and more, which are the address of the format, the count of numbers, and these.
// `written` and `read` count words.
enum : uint32_t { kPrintAddress = 0x15000, kPrintWords = 128 };
struct PrintRing {
  uint32_t written, read;
  uint32_t words[kPrintWords];
};

// The marks of a thread's zones (zones.h), two words each: the address of the zone's name, with kZoneEnds where the zone ends, and the
// cycle. `written` and `read` count words, `lost` marks for which there was no room. They are where the others print: kernels do one or the
// other.
enum : uint32_t { kZoneAddress = kPrintAddress, kZoneWords = 128, kZoneEnds = 0x80000000u };
struct ZoneRing {
  uint32_t written, read, lost;
  uint32_t words[kZoneWords];
};

enum : uint32_t { kArgumentsAddress = 0x15c00, kArgumentsBytes = 1024 };

}  // namespace tt
