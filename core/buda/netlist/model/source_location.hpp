// SPDX-License-Identifier: Apache-2.0
// Source locations of the parts of a netlist, in 12 bytes each.
#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// Line and column from 1; zeros for what a program made. The file's name is kept once, in the Netlist.
struct SourceLocation {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A field a diagnostic may point to.
enum class Field : std::uint8_t {
  type,
  input,
  input_tms,
  entries,
  grid_size,
  t,
  mblock,
  ublock,
  ublock_order,
  df,
  tile_dim,
  target_device,
  loc,
  buffers,
  ports,
  layout,
  alias,
  grid_loc,
  grid_transpose,
  inputs,
  in_df,
  out_df,
  intermed_df,
  acc_df,
  math_fidelity,
  buf_size_mb,
  untilize_output,
  gradient_op,
  overlay_size,
  input_buf_min_size_tiles,
  input_dram_io_buf_size_tiles,
  forked_dram_inputs,
  attributes,
  attribute,  // one of them; its index is attribute_number()
  tms,
  pad,
  unpad,
  input_count,
  output,
  pop,
  pop_last,
  zero_point,
  intermediates,
  schedules,
  // Of a queue setting.
  prologue,
  epilogue,
  zero,
  read_only,
  rd_ptr_local,
  rd_ptr_global,
  wr_ptr_global,
  rd_ptr_autoinc,
  global_rdptr_autoinc,
  global_wrptr_autoinc,
};

// The places of one element's fields. Not part of its value: two elements that differ in places only are equal.
class SourceLocations {
 public:
  SourceLocation self;  // the element's name

  // `index` tells the elements of a list, or the fields of several inputs, apart.
  void set(Field field, SourceLocation place, int index = -1) { entries_.push_back({field, static_cast<std::int16_t>(index), place}); }
  // The place of an element of a field; without one that of the whole field, and without that the owner's own.
  SourceLocation of(Field field, int index = -1) const {
    SourceLocation whole = self;
    for (const auto& e : entries_) {
      if (e.field != field) continue;
      if (e.index == index) return e.place;
      if (e.index < 0) whole = e.place;
    }
    return whole;
  }
  // The place of an attribute; without one that of all attributes, and without that the owner's own.
  SourceLocation of_attribute(int number) const {
    for (const auto& e : entries_)
      if (e.field == Field::attribute && e.index == number) return e.place;
    return of(Field::attributes);
  }
  friend bool operator==(const SourceLocations&, const SourceLocations&) { return true; }

 private:
  struct Entry {
    Field field;
    std::int16_t index;
    SourceLocation place;
  };
  std::vector<Entry> entries_;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
