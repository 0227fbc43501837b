// A target: something that can hold a compiled model and run its programs.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/tensor.hpp>

namespace {

using namespace buda;

class MyDevice final : public runtime::Device {
 public:
  explicit MyDevice(const runtime::Program& program) : netlist_(program.netlist) {}

  // Tensors are (w, z, r, c): w entries, each with the (z, r, c) that the queue holds.
  Result<void> push(const std::string& name, const Tensor& entries) override {
    BUDA_ASSIGN(const netlist::Queue* queue, find(name));
    std::int64_t room = queue->entries - waiting_[name], count = entries.shape()[0];
    if (count > room)
      return input_error("MY002", {netlist_.file}, "queue '" + name + "' has no room for " + std::to_string(count) + " entries");
    waiting_[name] += count;  // Keep the entries themselves, too.
    return success();
  }
  Result<void> write(const std::string& name, std::int64_t, const Tensor&) override {
    BUDA_TRY(find(name));
    return success();
  }
  // Run the program's epochs here, or begin here and go on in advance(); netlist::ProgramVm reads programs for you.
  Result<void> start(const std::string& program, const runtime::Parameters&) override {
    return input_error("MY001", {netlist_.file}, "program '" + program + "': this target cannot compute yet");
  }
  Result<Tensor> pop(const std::string& name, std::int64_t entries) override {
    BUDA_TRY(find(name));
    return input_error("MY003", {netlist_.file}, "queue '" + name + "' does not hold " + std::to_string(entries) + " entries");
  }
  Result<std::int64_t> waiting(const std::string& name) override {
    BUDA_TRY(find(name));
    return waiting_[name];
  }
  Result<Tensor> read(const std::string& name, std::int64_t, std::int64_t entries) override {
    BUDA_ASSIGN(const netlist::Queue* queue, find(name));
    Shape entry = runtime::entry_shape(*queue);
    return Tensor::zeros(DType::f32, Shape{entries, entry[0], entry[1], entry[2]});  // Give what is there.
  }

 private:
  // Whatever is asked, the answer is a value or a reason.
  Result<const netlist::Queue*> find(const std::string& name) const {
    for (const netlist::Queue& queue : netlist_.queues)
      if (queue.name == name) return &queue;
    return input_error("MY004", {netlist_.file}, "the netlist has no queue '" + name + "'");
  }

  netlist::Netlist netlist_;
  std::map<std::string, std::int64_t> waiting_;
};

class Mine final : public runtime::Target {
 public:
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host&) override {
    return std::unique_ptr<runtime::Device>(std::make_unique<MyDevice>(program));
  }
};

}  // namespace

BUDA_PLUGIN(.name = "mine", .version = "0.1", .description = "what it is for", .license = "Apache-2.0") {
  registrar.add_target({.name = "mine",
                        .summary = "takes a model, and says that it cannot run it",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          return std::unique_ptr<runtime::Target>(std::make_unique<Mine>());
                        }});
}
