// SPDX-License-Identifier: Apache-2.0
// What the movers of a core read and write in L1: words at fixed places, the same for the firmware (mover.cpp) and for whoever loads it.
// docs/internals/movers.md says what the records mean.
#pragma once

#include <stdint.h>

namespace mover {

// Programs, and the part of L1 for tables: where headers of tiles and stream programs would be. Where
// buffers have to be larger than in the stream programs, they may begin behind tables of kSmallTableBytes.
enum : uint32_t {
  kBrisc = 0,
  kBriscBytes = 0x2000,
  kNcrisc = 0x2000,
  kNcriscBytes = 0x4000,
  kTables = 0x1b000,
  kTableBytes = 0x18000,
  kSmallTableBytes = 0x8000,
  kHeaderBytes = 128
};

// The header, at kTables. Addresses are of L1; `ins`, `outs` and `rings` are arrays of records.
struct MoverHeader {
  uint32_t nodes[2];             // of this core, as each network addresses it
  uint32_t in_count, ins;        // of InRecord
  uint32_t out_count, outs;      // of OutRecord
  uint32_t ring_count, rings;    // of RingRecord
  uint32_t computes;             // whether the three compute threads run
  uint32_t entries[3];           // of these
  uint32_t staged;               // 16 bytes, from which a flag is multicast
  uint32_t in_done, out_done;    // set by BRISC and NCRISC when all of their records are
  uint32_t in_tiles, out_tiles;  // that they have moved: somebody may watch whether anything goes on
};

// A ring of slots, each a message. Numbers of tiles are absolute in an execution: `arrived` tiles have come, `freed` have left.
struct RingRecord {
  uint32_t address, message, slots;
  uint32_t stream;                // registers of the kernel's stream; 0 without a kernel
  uint32_t from_kernel;           // the kernel makes its tiles, otherwise it takes them
  uint32_t sums;                  // it adds to what is there, which is read before it begins
  uint32_t out_count, first_out;  // the records that send from it, one after the other
  uint32_t arrived, freed;
  uint32_t counter;  // the kernel's, when it was last read
};

// A list of tuples of so many words. Its entries are runs and loops. A run: its count twice, its first tuple, the step from one to the next
// if there are several, and for each loop around it, the outermost first, what is added to the first tuple in each turn. A loop: its turns
// twice and 1, how many entries it has, and these. Loops are in at most two others.
enum : uint32_t { kLoop = 1, kMaxDepth = 3 };
struct ListRecord {
  uint32_t next, entries;  // address of the next entry, and how many are left outside of loops
  uint32_t left;           // tuples of the run that is at work
  uint32_t step;           // address of its step
  uint32_t depth, loops;   // loops that are at work, and where their records are: one for each depth that the list has
};
struct LoopRecord {
  uint32_t begin, entries;  // address of the first entry, and how many there are
  uint32_t left;            // of these in this turn
  uint32_t turns, turn;     // that are left, with this one, and how many there were before it
};

// Tiles that come. A tuple of tiles from other cores: {tiles, address of the word that counts what this sender has sent}; of tiles that
// are read: {tiles, node | bits of the address above the 32nd, address}.
struct InRecord {
  uint32_t ring, reads, network, chunk;
  uint32_t credit_count, credits;  // of Credit: where senders are told what is free
  uint32_t group, times;           // tiles that the kernel takes so often before they are free; 0: once, each by itself
  uint32_t copies;                 // how often these tiles are in the kernel's ring
  ListRecord list;
  uint32_t now[3];            // the tuple at work; 0 tiles: there is none
  uint32_t done;              // tiles of it
  uint32_t told;              // what senders know to be free
  uint32_t announced, taken;  // of a group: messages that the kernel was told of, and has taken; of sums: read
};
struct Credit {
  uint32_t node, address;
};

// Tiles that leave. A tuple that is sent: {tiles, connection, number in the ring, number at the receiver, lowest number that is to be sent
// afterwards}; that is written: {tiles, node | bits of the address above the 32nd, number in the ring, address, lowest number}.
struct OutRecord {
  uint32_t ring, writes, network;
  uint32_t rows, row_bytes, pitch;  // what is written of a message: so many rows behind its header, so far apart; 0: all of it
  uint32_t connections;             // of Connection
  ListRecord list;
  uint32_t now[5];
  uint32_t done;
  uint32_t lowest;  // number of the ring that is still to be sent
};
struct Connection {
  uint32_t nodes;               // one, or a rectangle
  uint32_t control;             // of requests
  uint32_t address, slots;      // of the receivers' ring
  uint32_t arrived;             // the word there that counts what this sender has sent
  uint32_t credits, receivers;  // words here, one for each receiver
};

}  // namespace mover
