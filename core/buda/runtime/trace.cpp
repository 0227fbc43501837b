// The recording device.
#include <buda/runtime/trace.hpp>

#include <buda/io/json.hpp>
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

class TracedDevice final : public Device {
 public:
  TracedDevice(std::unique_ptr<Device> device, Trace& trace) : device_(std::move(device)), trace_(trace) {}

  Result<void> push(const std::string& queue, const Tensor& entries) override {
    trace_.push_back(Line("push").text("queue", queue).shape(entries).done());
    return device_->push(queue, entries);
  }
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override {
    trace_.push_back(Line("write").text("queue", queue).number("slot", slot).shape(entries).done());
    return device_->write(queue, slot, entries);
  }
  Result<void> start(const std::string& program, const Parameters& parameters) override {
    trace_.push_back(Line("run").text("program", program).numbers("parameters", parameters).done());
    return device_->start(program, parameters);
  }
  Result<Progress> advance(const Until& until) override { return device_->advance(until); }
  std::optional<perf::Clock> clock() const override { return device_->clock(); }
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override {
    trace_.push_back(Line("pop").text("queue", queue).number("entries", entries).done());
    return device_->pop(queue, entries);
  }
  Result<std::int64_t> waiting(const std::string& queue) override { return device_->waiting(queue); }
  std::optional<std::int64_t> room(const std::string& queue) override { return device_->room(queue); }
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override {
    trace_.push_back(Line("read").text("queue", queue).number("slot", slot).number("entries", entries).done());
    return device_->read(queue, slot, entries);
  }
  Telemetry telemetry() const override { return device_->telemetry(); }
  bool observe(Observer& observer) override { return device_->observe(observer); }
  bool record(perf::Sink& sink, perf::Level level) override { return device_->record(sink, level); }
  std::optional<perf::Summary> summary() const override { return device_->summary(); }

 private:
  std::unique_ptr<Device> device_;
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
