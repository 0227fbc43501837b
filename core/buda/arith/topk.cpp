// SPDX-License-Identifier: Apache-2.0
// topk: the k largest numbers of each row, or their indices.
//
// As the device does it, with a bitonic network: runs of k numbers are sorted locally, descending and ascending in turn; then neighbouring
// runs are merged (the larger of each pair stays in the first run) and the first run is sorted again, until one run is left. The network
// decides in which order equal numbers come out, and so which indices. With kreduce the inputs are sorted runs already. Every column of
// cores has rows of its own.
#include <buda/arith/bits.hpp>
#include <buda/arith/op.hpp>
#include <buda/arith/parts.hpp>
#include <buda/arith/special_values.hpp>

#include <buda/base/text.hpp>
#include <buda/numerics/unpack.hpp>

#include <algorithm>
#include <bit>

namespace buda::arith {
namespace {

using netlist::Op;
using netlist::TileShape;
using netlist::TopkSort;

bool is_power(std::int64_t v) { return v > 0 && std::has_single_bit(static_cast<std::uint64_t>(v)); }

// Numbers of a row that one core sorts.
std::int64_t row_length(const Op& op, TileDim in) { return op.inner_tiles() * in.cols; }

std::optional<Unable> check_topk(const OpShapes& shapes) {
  const Op& op = shapes.op;
  if (auto unable = need_inputs(shapes, 2)) return unable;
  const TileShape out = op.shape();
  if (op.inner_tiles() < 1) return Unable{"it needs the attributes m_k and u_kt, which say how many tiles a row has", "", false};
  for (std::size_t i = 0; i < 2; ++i)
    if (auto unable = need_shape(shapes, i, {out.t, out.rt, op.grid.cols * op.inner_tiles()}, op.tile_dim)) return unable;
  const std::int64_t k = op.attributes.k, length = row_length(op, op.tile_dim), width = out.ct / op.grid.cols * op.tile_dim.cols;
  if (!is_power(k) || length % k != 0 || !is_power(length / k))
    return Unable{cat("k is ", k, " and rows have ", length, " numbers"), "both have to be powers of two, and k the smaller", false};
  if (k > width) return Unable{cat("k is ", k, ", but a core's output has ", width, " columns"), "", false};
  if (is_integer(op.inputs[0].format)) return Unable{"it sorts floating-point numbers, not integers", "", false};
  const DataFormat made = op.attributes.sort == TopkSort::max ? op.inputs[0].format : op.inputs[1].format;
  if (is_integer(made) != is_integer(op.out_format))
    return Unable{cat("it makes ", format_name(made), ", but out_df is ", format_name(op.out_format)), "", false};
  return std::nullopt;
}

struct Item {
  float value;
  std::uint32_t place;  // in the row, to find the index
};

// Orders two items; of equal ones the device swaps some.
void order(bool descending, Item& first, Item& second) {
  const bool swap = descending ? second.value > first.value || (second.value < 0 && second.value == first.value)
                               : second.value < first.value || (second.value >= 0 && second.value == first.value);
  if (swap) std::swap(first, second);
}

// Sorts a bitonic run of 2^steps items.
void sort_run(Item* run, std::size_t length, int steps, bool descending, bool reversed) {
  for (int s = steps; s > 0; --s) {
    const std::size_t distance = std::size_t{1} << (s - 1);
    for (std::size_t i = 0; i < length; i += 2 * distance)
      for (std::size_t j = i; j < i + distance; ++j) {
        order(descending, run[j], run[j + distance]);
        if (reversed) std::swap(run[j], run[j + distance]);
      }
  }
}

void sort_row(std::vector<Item>& row, std::size_t k, bool sorted_runs) {
  const int log_k = std::countr_zero(k);
  if (!sorted_runs) {
    for (int phase = 0; phase < log_k; ++phase) {
      const std::size_t length = std::size_t{2} << phase;
      bool descending = true;
      for (std::size_t at = 0; at < row.size(); at += length, descending = !descending) {
        // For large k the device turns the direction of these phases in every second half of 128.
        const bool reversed = k >= 64 && (phase == 3 || phase == 4) && at % 128 >= 64;
        sort_run(row.data() + at, length, phase + 1, descending, reversed);
      }
    }
  } else if (k > 16) {
    bool descending = true;
    for (std::size_t at = 0; at < row.size(); at += k, descending = !descending) sort_run(row.data() + at, k, log_k, descending, false);
  }
  for (std::size_t distance = k; distance < row.size(); distance *= 2) {
    bool descending = true;
    for (std::size_t at = 0; at < row.size(); at += 2 * distance, descending = !descending) {
      for (std::size_t j = at; j < at + k; ++j) order(true, row[j], row[j + distance]);
      sort_run(row.data() + at, k, log_k, descending, false);
    }
  }
}

// In mode bits the network is that of the kernel (share/kernels/families/topk.h), for up to 32 numbers, by the order of words in the
// destination register: the 32 largest so far, descending, meet the next 32, ascending; of each pair the larger stays, and what stays is
// sorted again. Halves of 32 are sorted in registers and then stored, by which numbers without an exponent become zeros with their signs.
constexpr std::size_t kRun = 32;

struct WordItem {
  std::int32_t key;     // in the order of sign and magnitude
  std::uint32_t place;  // in the row
};

// Within a register of the vector unit, ascending pairs that are equal are exchanged.
void order_words(WordItem& first, WordItem& second, bool descending, bool in_register = false) {
  const bool swap = descending ? first.key < second.key : in_register ? first.key >= second.key : second.key < first.key;
  if (swap) std::swap(first, second);
}

void merge_words(WordItem* run, std::size_t length, bool descending) {
  for (std::size_t distance = length / 2; distance > 0; distance /= 2)
    for (std::size_t i = 0; i < length; ++i)
      if ((i & distance) == 0) order_words(run[i], run[i + distance], descending, length > 2 && length < 16 && distance < 4);
}

std::int32_t stored_key(std::int32_t key) {
  constexpr std::int32_t kMinWithExponent = 1 << 23;
  return key >= kMinWithExponent || key < -kMinWithExponent ? key : key < 0 ? -1 : 0;
}

void sort_words(WordItem* run, bool descending) {
  for (std::size_t length = 2; length < kRun; length *= 2)
    for (std::size_t at = 0; at < kRun; at += length) merge_words(run + at, length, at / length % 2 == 0);
  for (std::size_t i = 0; i < kRun; ++i) run[i].key = stored_key(run[i].key);
  merge_words(run, kRun, descending);
}

void sort_words_of_row(std::vector<WordItem>& row) {
  sort_words(row.data(), true);
  for (std::size_t next = kRun; next < row.size(); next += kRun) {
    sort_words(row.data() + next, false);
    for (std::size_t i = 0; i < kRun; ++i) order_words(row[i], row[next + i], true);
    merge_words(row.data(), kRun, true);
  }
}

// Numbers as a copy that keeps all bits leaves them in the destination register.
std::vector<std::int32_t> keys_of(const OpCall& call, const Value& values) {
  const numerics::Dest dest = bits::dest_form(call.op, values.format);
  const std::uint32_t kept = dest == numerics::Dest::bf16 ? 0xffff0000u : 0xffffe000u;
  bits::Words words(values.floats.size());
  numerics::unpack(values.format, numerics::copy_source_of(values.format, dest), values.floats, words);
  std::vector<std::int32_t> keys(words.size());
  std::transform(words.begin(), words.end(), keys.begin(), [kept](std::uint32_t word) {
    const auto number = static_cast<std::int32_t>(word & kept);
    return number ^ (number >> 31 & 0x7fffffff);
  });
  return keys;
}

bool takes_kernels_network(const OpCall& call) {
  return call.mode == Mode::bits && call.op.attributes.k <= static_cast<std::int64_t>(kRun) && call.op.tile_dim == TileDim{} &&
         bits::dest_form(call.op, call.inputs[0]->format) != numerics::Dest::fp32;
}

template <class T>
Value run_topk_as(const OpCall& call) {
  const Op& op = call.op;
  const Value& values = *call.inputs[0];
  const Value& picked = *call.inputs[op.attributes.sort == TopkSort::max ? 0 : 1];
  const auto k = static_cast<std::size_t>(op.attributes.k), length = static_cast<std::size_t>(row_length(op, op.tile_dim));
  const std::size_t cores = static_cast<std::size_t>(op.grid.cols), rows = values.depth() * values.rows();
  const std::size_t out_cols = static_cast<std::size_t>(op.shape().ct) * static_cast<std::size_t>(op.tile_dim.cols),
                    width = out_cols / cores;
  std::vector<T> out(rows * out_cols);
  const bool by_words = takes_kernels_network(call);
  const std::vector<std::int32_t> keys = by_words ? keys_of(call, values) : std::vector<std::int32_t>();
  in_parts(call.threads, rows, 64, [&](std::size_t begin, std::size_t end) {
    std::vector<Item> items(length);
    std::vector<WordItem> words(by_words ? length : 0);
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t core = 0; core < cores; ++core) {
        const std::size_t first = row * values.cols() + core * length;
        T* const to = out.data() + row * out_cols + core * width;
        if (by_words) {
          for (std::size_t i = 0; i < length; ++i) words[i] = {keys[first + i], static_cast<std::uint32_t>(i)};
          sort_words_of_row(words);
          for (std::size_t i = 0; i < k; ++i) to[i] = picked.data<T>()[first + words[i].place];
          continue;
        }
        for (std::size_t i = 0; i < length; ++i) items[i] = {values.floats[first + i], static_cast<std::uint32_t>(i)};
        sort_row(items, k, op.attributes.kreduce);
        for (std::size_t i = 0; i < k; ++i) to[i] = picked.data<T>()[first + items[i].place];
      }
  });
  return finish_copied(call, picked.format, std::move(out));
}

Value run_topk(const OpCall& call) {
  const Value& picked = *call.inputs[call.op.attributes.sort == TopkSort::max ? 0 : 1];
  return picked.integer() ? run_topk_as<std::int32_t>(call) : run_topk_as<float>(call);
}

double flops_topk(const Op& op) {
  return static_cast<double>(op.shape().t * op.shape().rt * op.grid.cols * op.inner_tiles()) * op.tile_dim.datums();
}

}  // namespace

const OpKind kTopk = {&check_topk, &as_on_chip<always<run_topk>, Reach::anything>, &flops_topk};

}  // namespace buda::arith
