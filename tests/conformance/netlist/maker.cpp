// SPDX-License-Identifier: Apache-2.0
// Blocks, queues, operands, and the netlist around the ops.
#include "maker.hpp"

namespace buda::judge {

std::string NetlistMaker::run() {
  inputs_ = 1 + pick(2);
  loops_ = 1 + pick(2);
  chips_ = chance(20) ? 2 : 1;
  if (chance(12)) tile_ = one_of({TileDim{1, 32}, TileDim{2, 32}, TileDim{4, 32}, TileDim{8, 32}, TileDim{16, 32}, TileDim{32, 16}});
  const int ops = 1 + pick(3);
  for (int i = 0; i < ops; ++i) {
    chip_ = pick(chips_);
    if (tile_ == TileDim{}) {
      add_op();
    } else {
      small_tile_op();
    }
  }
  if (chance(10) && on_[0].count < 5) second_view();
  std::string text = cat("devices: {arch: wormhole_b0}\nqueues:\n", queues_, "graphs:\n");
  std::string executes;
  for (int chip = 0; chip < chips_; ++chip) {
    if (on_[chip].ops.empty()) continue;
    text += cat("  g", chip, ":\n    target_device: ", chip, "\n    input_count: ", inputs_, "\n", on_[chip].ops);
    executes += cat("    - execute: {graph_name: g", chip, ", queue_settings: {", join(on_[chip].settings, ", "), "}}\n");
  }
  text += cat(view_graph_, "programs:\n  - run:\n    - var: {$c_inputs: ", inputs_, ", $c_zero: 0, $c_loops: ", loops_,
              "}\n    - staticvar: {$l: 0, $g: 0}\n    - loop: $c_loops\n", executes, "    - varinst: [$l, incwrap, $c_inputs, ",
              2 * entries(), "]\n", "    - varinst: [$g, incwrap, $c_inputs, ", 2 * entries(), "]\n    - endloop\n", view_program_);
  if (!fused_.empty()) text += cat("fused_ops:\n", fused_);
  return text;
}

int NetlistMaker::divisor(int n) {
  int d = 0;
  do d = 1 + pick(n);
  while (n % d != 0);
  return d;
}

Block NetlistMaker::block_of(Shape3 s) {
  Block b;
  b.t = s.t;
  b.gr = std::min(divisor(s.rt), 4);
  while (s.rt % b.gr != 0) --b.gr;
  b.gc = std::min(divisor(s.ct), 4);
  while (s.ct % b.gc != 0) --b.gc;
  b.ur = divisor(s.rt / b.gr);
  b.uc = divisor(s.ct / b.gc);
  b.m = s.rt / b.gr / b.ur;
  b.n = s.ct / b.gc / b.uc;
  return b;
}

Block NetlistMaker::random_block(int most_ublock) {
  Block b;
  b.gr = 1 + pick(2);
  b.gc = 1 + pick(2);
  b.t = one_of({1, 1, 2, 3, 4});
  b.m = 1 + pick(2);
  b.n = 1 + pick(2);
  do {
    b.ur = 1 + pick(2);
    b.uc = 1 + pick(2);
  } while (b.ur * b.uc > most_ublock);
  return b;
}

Formats NetlistMaker::formats() {
  Formats f;
  const bool a = chance(20);
  auto one = [&] {
    return a ? one_of({"Float16", "Bfp8", "Bfp4", "Lf8"}) : one_of({"Float16_b", "Float16_b", "Bfp8_b", "Float32", "Bfp4_b", "Bfp2_b"});
  };
  f.in = one();
  f.out = one();
  f.intermed = a ? "Float16" : one_of({"Float16_b", "Float16_b", "Bfp8_b"});
  f.acc = a ? "Float16" : one_of({"Float16_b", "Float16_b", "Float32"});
  if (f.acc == "Float32") f.intermed = "Float32";
  return f;
}

std::string NetlistMaker::listed(std::initializer_list<std::string> parts) {
  std::vector<std::string> there;
  for (const auto& p : parts)
    if (!p.empty()) there.push_back(p);
  return join(there, ", ");
}

std::string NetlistMaker::queue(const std::string& input, const Block& b, const std::string& df, const std::string& kind,
                                const std::string& more, int slots, TileDim tile) {
  const bool outside = input == "HOST";
  const std::string name = cat(outside ? "in" : "out", queue_number_++);
  const bool host = kind == "queue" && more.empty() && chip_ == 0 && chance(6);
  std::vector<std::string> buffers, ports;
  for (int i = 0; i < b.gr * b.gc; ++i) {
    if (host) {
      buffers.push_back(cat(0x10000000 + host_address_++ * 0x200000));
    } else {
      buffers.push_back(cat("[", address_ % 6, ", ", 0x10000000 + address_ / 6 * 0x200000, "]"));
      ++address_;
    }
    ports.push_back(cat(pick(3)));
  }
  const std::string place = host ? "loc: host, host: [" : "loc: dram, dram: [";
  const std::string port = host || !chance(5) ? "" : cat(", read_ports: [", join(ports, ", "), "], write_ports: [", join(ports, ", "), "]");
  queues_ += cat("  ", name, ": {type: ", kind, ", input: ", outside && chance(5) ? std::string("net2net_other") : input,
                 ", entries: ", slots > 0 ? slots : entries(), ", ", b.text(),
                 more.find("ublock_order") == std::string::npos ? cat(", ublock_order: ", one_of({"r", "c"})) : std::string(), ", df: ", df,
                 tile_text(tile), ", target_device: ", chip_, ", ", place, join(buffers, ", "), "]", port, more, "}\n");
  return name;
}

void NetlistMaker::stream(const std::string& name) {
  on_[chip_].settings.push_back(cat(name, ": {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, rd_ptr_global: $g}"));
}

void NetlistMaker::constant(const std::string& name) {
  on_[chip_].settings.push_back(
      cat(name, ": {prologue: ", chance(50), ", epilogue: false, zero: false, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero}"));
}

std::string NetlistMaker::input_queue(const Block& b, const std::string& df, const std::string& more, TileDim tile) {
  const bool ram = chance(30);
  const std::string name = queue("HOST", b, df, ram ? "ram" : "queue", more, ram ? 1 : 0, tile);
  if (ram) {
    constant(name);
  } else {
    stream(name);
  }
  return name;
}

// A producer and manipulations that make `wanted` of it; the latter go into `maps_` for input number i.
std::string NetlistMaker::operand(std::size_t i, Shape3 wanted, const std::string& df, bool may_transpose, bool maps, TileDim tile) {
  std::vector<std::string> tms;
  Shape3 s = wanted;
  if (maps && chance(10) && s.rt > 1) {
    maps_ += cat(", input_", i, "_pad: {rt: 1, ct: 0, pad_value: ", one_of({"0.0", "1.0", "-0.5"}), "}");
    --s.rt;
  }
  const bool pads = maps_.find(cat("input_", i, "_pad")) != std::string::npos;
  if (maps && !pads && !in_fused_ && s.ct > 1 && chance(10)) {
    // A pad in the list has only slices behind it.
    if (s.t % 2 == 0 && chance(50)) s.t /= 2, s.rt *= 2, tms.emplace_back("vslice: 2");
    tms.push_back(cat("pad: [0, 1, ", one_of({"0.0", "0.25"}), "]"));
    --s.ct;
  }
  const int count = maps ? pick(4) : 0;
  bool transposed = false;
  for (int k = 0; k < count; ++k) {
    const int n = 2 + pick(2);
    switch (pick(8)) {
      case 0:
        if (s.rt % n == 0) s.rt /= n, tms.push_back(cat("broadcast: {r: ", n, "}"));
        break;
      case 1:
        if (s.ct % n == 0) s.ct /= n, tms.push_back(cat("broadcast: {c: ", n, "}"));
        break;
      case 2:
        if (s.t > 1) tms.push_back(cat("broadcast: {z: ", s.t, "}")), s.t = 1;
        break;
      case 3:
        if (s.t % n == 0 && s.ct * n <= 12) s.t /= n, s.ct *= n, tms.push_back(cat("hslice: ", n));
        break;
      case 4:
        if (s.t % n == 0 && s.rt * n <= 12) s.t /= n, s.rt *= n, tms.push_back(cat("vslice: ", n));
        break;
      case 5:
        if (s.ct % n == 0 && s.t * n <= 8) s.t *= n, s.ct /= n, tms.push_back(cat("hstack: ", n));
        break;
      case 6:
        if (s.rt % n == 0 && s.t * n <= 8) s.t *= n, s.rt /= n, tms.push_back(cat("vstack: ", n));
        break;
      default:
        if (may_transpose && !transposed && tile == TileDim{}) std::swap(s.rt, s.ct), tms.push_back("transpose"), transposed = true;
        break;
    }
  }
  std::reverse(tms.begin(), tms.end());
  if (maps && chance(8)) {
    maps_ += cat(", input_", i, "_unpad: {rt: 1, ct: 0}");
    ++s.rt;
  }
  if (!tms.empty()) {
    std::vector<std::string> items;
    for (const auto& tm : tms) items.push_back(tm == "transpose" ? tm : cat("{", tm, "}"));
    maps_ += cat(", input_", i, "_tms: [", join(items, ", "), "]");
  }
  for (const auto& made : made_)
    if (made.df == df && made.shape == s && made.tile == tile && chance(70)) return made.name;
  for (const auto& q : shared_)
    if (q.df == df && q.shape == s && q.tile == tile && q.chip == chip_ && chance(50)) {
      if (chance(50) && q.reader != cat("op", op_number_)) maps_ += cat(", forked_dram_inputs: [", q.name, ": ", q.reader, "]");
      return q.name;
    }
  const std::string name = input_queue(block_of(s), df, "", tile);
  shared_.push_back({name, df, cat("op", op_number_), s, tile, chip_});
  return name;
}

std::string NetlistMaker::relu() {
  return chance(20) ? cat("relu_en: true, relu_mode: ", one_of({"min", "max"}), ", relu_threshold: ", one_of({"0.0", "0.5"})) : "";
}

void NetlistMaker::emit(const std::string& type, const Block& b, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& in_df, Formats f, std::string attributes, Freedom free, TileDim tile) {
  const std::string name = cat("op", op_number_);
  const bool turned = type != "matmul" && type != "nop" && type != "datacopy" && maps_.find("transpose") != std::string::npos;
  // Gradients wait in out_df, and the packer does not add all formats.
  const bool waits = f.intermed == f.out || attributes.find("l1_acc") == std::string::npos;
  const bool gradient = free.gradient && f.acc != "Int32" && type != "maximum" && !turned && waits && chance(8);
  const bool untilized =
      !gradient && free.untilize && free.order == "r" && (f.out == "Float16" || f.out == "Float16_b" || f.out == "Float32") && chance(10);
  if (gradient) f.intermed = f.out;
  const bool coarse = f.intermed == "Bfp4_b" || f.intermed == "Bfp2_b" || f.intermed == "Bfp4";
  if (coarse && type != "reduce") f.out = f.intermed = f.intermed == "Bfp4" ? "Bfp8" : "Bfp8_b";
  std::string more;
  if (gradient) more += ", gradient_op: true";
  if (untilized) more += ", untilize_output: true";
  // Turned, an op must not reach into the rows of the next one.
  if (b.gr != b.gc && b.gc <= 2 && type != "ethernet_datacopy" && chance(10)) more += ", grid_transpose: true";
  if (chance(4)) more += ", overlay_size: 131072";
  if (chance(6)) more += cat(", input_buf_min_size_tiles: [", join(std::vector<std::string>(inputs.size(), "4"), ", "), "]");
  if (chance(6)) more += cat(", input_dram_io_buf_size_tiles: [", join(std::vector<std::string>(inputs.size(), "8"), ", "), "]");
  if (f.acc != "Float32" && f.acc != "Int32" && chance(6)) {
    const bool bfp8 = f.out.starts_with("Bfp8") || f.intermed.starts_with("Bfp8");
    attributes = listed({attributes, cat("stoch_rnd_mode: ", bfp8 ? "fpu" : one_of({"fpu", "pack", "all"}))});
  }
  Chip& chip = on_[chip_];
  chip.ops +=
      cat("    ", name, ": {type: ", type, type == "ethernet_datacopy" ? std::string() : cat(", grid_loc: [", 2 * chip.count, ", 0]"), ", ",
          b.text(), tile_text(tile), ", inputs: [", join(inputs, ", "), "], in_df: [", join(in_df, ", "), "], out_df: ", f.out,
          ", intermed_df: ", f.intermed, ", acc_df: ", f.acc,
          ", math_fidelity: ", f.acc == "Int32" ? "HiFi4" : one_of({"LoFi", "HiFi2", "HiFi2_B", "HiFi3", "HiFi4", "HiFi4"}),
          ", ublock_order: ", free.order, ", buf_size_mb: ", b.t % 2 == 0 ? 4 : 2,
          attributes.empty() ? "" : cat(", attributes: {", attributes, "}"), maps_, more, "}\n");
  if (type != "ethernet_datacopy") ++chip.count;
  ++op_number_;
  maps_.clear();
  if (gradient) {
    const std::string sums = queue(name, b, f.out, "ram", cat(", ublock_order: ", free.order), 1, tile);
    chip.settings.push_back(
        cat(sums, ": {prologue: true, epilogue: true, zero: ", chance(50), ", rd_ptr_global: $c_zero, wr_ptr_global: $c_zero}"));
    return;
  }
  if (untilized) {
    const Shape3 s = b.shape();
    queue(name, Block{1, 1, s.t, s.rt, s.ct, 1, 1}, f.out, "queue", "", 0, tile);
    return;
  }
  Shape3 stored = b.shape();
  std::string map;
  if (free.store_maps && chance(12)) {
    if (stored.ct % 2 == 0 && chance(50)) {
      map = "hslice: 2", stored.t *= 2, stored.ct /= 2;
    } else if (stored.t % 2 == 0) {
      map = chance(50) ? "hstack: 2" : "vstack: 2", stored.t /= 2;
      (map[0] == 'h' ? stored.ct : stored.rt) *= 2;
    }
  }
  queue(name, block_of(stored), f.out, "queue", map.empty() ? "" : cat(", input_tms: [", map, "]"), 0, tile);
  made_.push_back({name, f.out, b.shape(), tile});
}

// A ram that an op has written, slot by slot, read through another ram at the same place with blocks of its own.
void NetlistMaker::second_view() {
  const std::string df = one_of({"Float16_b", "Bfp8_b", "Float32"});
  chip_ = 0;
  const Block b = random_block(4);
  const Formats f{df, df, "Float16_b", "Float16_b"};
  const std::vector<std::string> in = {operand(0, b.shape(), df, false)};
  const std::string writer = cat("op", op_number_);
  on_[0].ops +=
      cat("    ", writer, ": {type: ", one_of({"datacopy", "tanh"}), ", grid_loc: [", 2 * on_[0].count, ", 0], ", b.text(), ", inputs: [",
          in[0], "], in_df: [", df, "], out_df: ", df,
          ", intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi4, ublock_order: r, buf_size_mb: ", b.t % 2 == 0 ? 4 : 2, maps_,
          "}\n");
  maps_.clear();
  ++on_[0].count;
  ++op_number_;
  const int first = address_;
  const std::string cache = queue(writer, b, df, "ram", ", layout: tilized", inputs_);
  on_[0].settings.push_back(cat(
      cache, ": {prologue: false, epilogue: false, zero: false, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero, global_wrptr_autoinc: 1}"));
  // As many tiles in each buffer: slots become ts, or rows of ublocks columns.
  Block view = b;
  int slots = inputs_;
  if (slots == 2 && chance(50)) slots = 1, view.t *= 2;
  if (chance(50)) std::swap(view.m, view.ur);
  if (chance(50)) std::swap(view.m, view.n);
  const int after = address_;
  address_ = first;
  const std::string name = queue("HOST", view, df, "ram", cat(", alias: ", cache), slots);
  address_ = after;
  const std::string reader = cat("op", op_number_++);
  view_graph_ = cat("  v:\n    target_device: 0\n    input_count: ", slots, "\n    ", reader, ": {type: nop, grid_loc: [0, 0], ",
                    view.text(), ", inputs: [", name, "], in_df: [", df, "], out_df: ", df,
                    ", intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi4, ublock_order: ", one_of({"r", "c"}),
                    ", buf_size_mb: ", view.t % 2 == 0 ? 4 : 2, "}\n");
  queue(reader, block_of(view.shape()), df, "queue", "", slots);
  view_program_ = cat("    - execute: {graph_name: v, queue_settings: {", name,
                      ": {prologue: false, epilogue: false, zero: false, read_only: true, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero, "
                      "rd_ptr_autoinc: 1}}}\n");
}

}  // namespace buda::judge
