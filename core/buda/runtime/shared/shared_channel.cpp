// SPDX-License-Identifier: Apache-2.0
// Layout: the header, the types as the text of a host plan, the ring of inputs, the ring of outputs.
#include <buda/runtime/shared/shared_channel.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace buda::runtime {
namespace {

constexpr std::uint64_t kMagic = 0x316f694164754200;  // "\0BudaIo1"
constexpr std::size_t kLine = 64;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

std::size_t index(Way way) { return static_cast<std::size_t>(way); }

Diagnostic wrong(const std::string& why) { return input_error("RT080", {}, cat("the shared memory ", why)); }

std::vector<host_plan::PlanTensor> plan_tensors(const std::vector<TensorType>& types) {
  std::vector<host_plan::PlanTensor> out;
  for (const TensorType& t : types) {
    host_plan::PlanTensor tensor;
    tensor.name = t.name;
    tensor.dtype = dtype_name(t.dtype);
    tensor.shape = t.shape.dims();
    out.push_back(std::move(tensor));
  }
  return out;
}

std::string text_of(const SharedChannel::Types& types) {
  host_plan::HostPlan plan;
  plan.inputs = plan_tensors(types[0]);
  plan.outputs = plan_tensors(types[1]);
  return host_plan::host_plan_text(plan);
}

Result<SharedChannel::Types> types_of(std::string_view text) {
  io::MemoryFileSystem files;
  BUDA_TRY(files.write("types", text));
  BUDA_ASSIGN(auto plan, host_plan::read_host_plan(files, "types"));
  SharedChannel::Types out;
  for (std::size_t way = 0; way < 2; ++way)
    for (const host_plan::PlanTensor& t : way == 0 ? plan.inputs : plan.outputs) {
      const auto dtype = dtype_from_name(t.dtype);
      if (!dtype) return wrong(cat("has a tensor of type '", t.dtype, '\''));
      out[way].push_back({t.name, *dtype, Shape(t.shape)});
    }
  return out;
}

}  // namespace

struct SharedChannel::Header {
  std::atomic<std::uint64_t> magic;  // written last
  std::uint64_t entries;
  std::uint64_t text_bytes;
  io::Bell bell;
  std::atomic<std::uint32_t> state;
  std::array<std::atomic<std::uint32_t>, 3> presence;
  struct alignas(kLine) Counter {
    std::atomic<std::uint64_t> batches;
  };
  std::array<Counter, 2> written, read;  // by Way
  std::array<char, 2048> failure;        // a text that ends with zero, from the time on when the state says so
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

SharedChannel::Header& SharedChannel::header() const { return *std::launder(reinterpret_cast<Header*>(memory_->data())); }
io::Bell& SharedChannel::bell() const { return header().bell; }

// The size of it all. RT080 where that cannot be.
Result<std::size_t> SharedChannel::lay_out(std::size_t text_bytes, std::uint64_t entries) {
  if (text_bytes > kMaxBytes || entries < 1 || entries > kMaxBytes) return wrong("has an impossible size");
  entries_ = entries;
  std::uint64_t end = align_up(sizeof(Header) + text_bytes, kLine);
  for (std::size_t way = 0; way < 2; ++way) {
    std::uint64_t bytes = 0;
    for (const TensorType& t : types_[way]) {
      const auto size = tensor_bytes(t.dtype, t.shape);
      if (!size || static_cast<std::uint64_t>(*size) > kMaxBytes - bytes) return wrong(cat("cannot hold tensor '", t.name, '\''));
      bytes += static_cast<std::uint64_t>(*size);
    }
    batch_bytes_[way] = bytes;
    offsets_[way] = end;
    if (bytes > 0 && entries > (kMaxBytes - end) / bytes) return wrong("has an impossible size");
    end = align_up(end + entries * bytes, kLine);
  }
  return static_cast<std::size_t>(end);
}

Result<std::unique_ptr<SharedChannel>> SharedChannel::create(const std::string& name, Types types, std::size_t entries) {
  std::unique_ptr<SharedChannel> out(new SharedChannel());
  out->types_ = std::move(types);
  const std::string text = text_of(out->types_);
  BUDA_ASSIGN(std::size_t size, out->lay_out(text.size(), entries));
  BUDA_ASSIGN(out->memory_, io::SharedMemory::create(name, size));
  auto* header = new (out->memory_->data()) Header();
  header->entries = entries;
  header->text_bytes = text.size();
  std::memcpy(out->memory_->data() + sizeof(Header), text.data(), text.size());
  header->magic.store(kMagic, std::memory_order_release);
  return out;
}

Result<std::unique_ptr<SharedChannel>> SharedChannel::open(const std::string& name) {
  std::unique_ptr<SharedChannel> out(new SharedChannel());
  BUDA_ASSIGN(out->memory_, io::SharedMemory::open(name));
  if (!out->memory_ || !out->memory_->is_claimed(static_cast<std::uint32_t>(Party::runtime)) || out->memory_->size() == 0)
    return std::unique_ptr<SharedChannel>();
  if (out->memory_->size() < sizeof(Header)) return wrong(cat("'", name, "' is too small"));
  const Header& header = out->header();
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);
  if (magic == 0) return std::unique_ptr<SharedChannel>();
  const std::uint64_t text_bytes = header.text_bytes;
  if (magic != kMagic || text_bytes > out->memory_->size() - sizeof(Header))
    return wrong(cat("'", name, "' is not of an image that is served"));
  const std::string text(reinterpret_cast<const char*>(out->memory_->data() + sizeof(Header)), text_bytes);
  BUDA_ASSIGN(out->types_, types_of(text));
  BUDA_ASSIGN(std::size_t size, out->lay_out(text_bytes, header.entries));
  if (size > out->memory_->size()) return wrong(cat("'", name, "' is too small"));
  return out;
}

bool SharedChannel::has_batch(Way way) const {
  return header().written[index(way)].batches.load(std::memory_order_acquire) !=
         header().read[index(way)].batches.load(std::memory_order_acquire);
}

bool SharedChannel::has_room(Way way) const {
  return header().written[index(way)].batches.load(std::memory_order_acquire) -
             header().read[index(way)].batches.load(std::memory_order_acquire) <
         entries_;
}

std::byte* SharedChannel::place(Way way, std::uint64_t number) const {
  return memory_->data() + offsets_[index(way)] + number % entries_ * batch_bytes_[index(way)];
}

void SharedChannel::write(Way way, const NamedTensors& batch) {
  auto& written = header().written[index(way)].batches;
  std::byte* to = place(way, written.load(std::memory_order_relaxed));
  for (const TensorType& t : types_[index(way)]) {
    const std::string_view bytes = batch.at(t.name).bytes();
    std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
  }
  written.fetch_add(1, std::memory_order_release);
  bell().ring();
}

Result<NamedTensors> SharedChannel::read(Way way) {
  auto& read = header().read[index(way)].batches;
  const auto* from = reinterpret_cast<const char*>(place(way, read.load(std::memory_order_relaxed)));
  NamedTensors out;
  for (const TensorType& t : types_[index(way)]) {
    const auto size = static_cast<std::size_t>(*tensor_bytes(t.dtype, t.shape));
    BUDA_ASSIGN(auto tensor, Tensor::from_bytes(t.dtype, t.shape, io::Bytes(std::string(from, size))));
    out.emplace(t.name, std::move(tensor));
    from += size;
  }
  read.fetch_add(1, std::memory_order_release);
  bell().ring();
  return out;
}

bool SharedChannel::enter(Party party) {
  if (!memory_->claim(static_cast<std::uint32_t>(party))) return false;
  header().presence[static_cast<std::size_t>(party)].store(static_cast<std::uint32_t>(Presence::here), std::memory_order_release);
  bell().ring();
  return true;
}

void SharedChannel::close(Party party) {
  header().presence[static_cast<std::size_t>(party)].store(static_cast<std::uint32_t>(Presence::closed), std::memory_order_release);
  bell().ring();
}

Presence SharedChannel::presence(Party party) const {
  return static_cast<Presence>(header().presence[static_cast<std::size_t>(party)].load(std::memory_order_acquire));
}

// The claim first: who closes does so before its claim ends.
bool SharedChannel::has_died(Party party) const {
  return !memory_->is_claimed(static_cast<std::uint32_t>(party)) && presence(party) == Presence::here;
}

ChannelState SharedChannel::state() const { return static_cast<ChannelState>(header().state.load(std::memory_order_acquire)); }

void SharedChannel::finish() {
  header().state.store(static_cast<std::uint32_t>(ChannelState::finished), std::memory_order_release);
  bell().ring();
}

// Only the process that runs the image fails, from one thread.
void SharedChannel::fail(const std::string& message) {
  if (state() != ChannelState::running) return;
  const std::size_t size = std::min(message.size(), header().failure.size() - 1);
  std::copy_n(message.begin(), size, header().failure.begin());
  header().state.store(static_cast<std::uint32_t>(ChannelState::failed), std::memory_order_release);
  bell().ring();
}

std::string SharedChannel::failure() const {
  const auto& text = header().failure;
  return std::string(text.begin(), std::find(text.begin(), text.end(), '\0'));
}

}  // namespace buda::runtime
