// SPDX-License-Identifier: Apache-2.0
// The recording device.
#include <buda/runtime/device/trace.hpp>

#include <buda/io/json.hpp>
#include <buda/runtime/device/forwarding_device.hpp>
#include <buda/schema/codec.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::runtime {
namespace {

using JsonNode = io::Node;

class Line {
 public:
  explicit Line(const char* call) { node_.add("call", JsonNode::string(call)); }
  Line& text(const char* key, const std::string& value) {
    node_.add(key, JsonNode::string(value));
    return *this;
  }
  Line& number(const char* key, std::int64_t value) {
    node_.add(key, JsonNode::integer(value));
    return *this;
  }
  Line& shape(const Tensor& tensor) {
    node_.add("shape", schema::Codec<std::vector<std::int64_t>>::write(tensor.shape().dims()));
    return *this;
  }
  Line& numbers(const char* key, const std::map<std::string, std::int64_t>& values) {
    node_.add(key, schema::Codec<std::map<std::string, std::int64_t>>::write(values));
    return *this;
  }
  std::string done() const { return io::json_line(node_) + "\n"; }

 private:
  JsonNode node_ = JsonNode::map();
};

class TracedDevice final : public ForwardingDevice {
 public:
  TracedDevice(std::unique_ptr<Device> device, Trace& trace) : ForwardingDevice(std::move(device)), trace_(trace) {}

  Result<void> push(const std::string& queue, const Tensor& entries) override {
    trace_.push_back(Line("push").text("queue", queue).shape(entries).done());
    return ForwardingDevice::push(queue, entries);
  }
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override {
    trace_.push_back(Line("write").text("queue", queue).number("slot", slot).shape(entries).done());
    return ForwardingDevice::write(queue, slot, entries);
  }
  Result<void> start(const std::string& program, const Parameters& parameters) override {
    trace_.push_back(Line("run").text("program", program).numbers("parameters", parameters).done());
    return ForwardingDevice::start(program, parameters);
  }
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override {
    trace_.push_back(Line("pop").text("queue", queue).number("entries", entries).done());
    return ForwardingDevice::pop(queue, entries);
  }
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override {
    trace_.push_back(Line("read").text("queue", queue).number("slot", slot).number("entries", entries).done());
    return ForwardingDevice::read(queue, slot, entries);
  }

 private:
  Trace& trace_;
};

class TracedTarget final : public Target {
 public:
  TracedTarget(Target& target, Trace& trace) : target_(target), trace_(trace) {}
  Result<std::unique_ptr<Device>> open(const Program& program, const device::DeviceDescriptor& descriptor, Host& host) override {
    trace_.push_back(Line("open").text("netlist", program.netlist.file).text("device", descriptor.name).done());
    BUDA_ASSIGN(auto device, target_.open(program, descriptor, host));
    return std::unique_ptr<Device>(new TracedDevice(std::move(device), trace_));
  }
  Needs needs() const override { return target_.needs(); }
  const device::DeviceDescriptor* describe() const override { return target_.describe(); }

 private:
  Target& target_;
  Trace& trace_;
};

}  // namespace

std::unique_ptr<Target> traced(Target& target, Trace& trace) { return std::make_unique<TracedTarget>(target, trace); }

}  // namespace buda::runtime
