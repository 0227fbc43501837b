// A target: something that can hold a compiled model and run its programs.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>

namespace {

using namespace buda;

class MyDevice final : public runtime::Device {
 public:
  explicit MyDevice(const runtime::Program& program) : netlist_(program.netlist) {}

  // Tensors are (w, z, r, c): w entries, each with the (z, r, c) that the queue holds.
  Result<void> push(const std::string& queue, const Tensor& entries) override {
    queues_[queue].push_back(entries);
    return success();
  }
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override {
    rams_[queue][slot] = entries;
    return success();
  }
  // Run the program's epochs here, or begin here and go on in advance(); netlist::ProgramVm reads programs for you.
  Result<void> start(const std::string& program, const runtime::Parameters&) override {
    return input_error("MY001", {netlist_.file}, "program '" + program + "': this target cannot compute yet");
  }
  Result<Tensor> pop(const std::string& queue, std::int64_t) override { return input_error("MY002", {}, "queue '" + queue + "' is empty"); }
  Result<std::int64_t> waiting(const std::string& queue) override { return static_cast<std::int64_t>(queues_[queue].size()); }
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t) override { return rams_[queue][slot]; }

 private:
  netlist::Netlist netlist_;
  std::map<std::string, std::vector<Tensor>> queues_;
  std::map<std::string, std::map<std::int64_t, Tensor>> rams_;
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
