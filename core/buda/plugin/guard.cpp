// SPDX-License-Identifier: Apache-2.0
// One wrapper per interface; every method forwards inside a guard.
#include <buda/plugin/guard.hpp>

#include <buda/balance/policy/policy.hpp>
#include <buda/base/lack.hpp>
#include <buda/base/late_library.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/tensor.hpp>

#include <new>
#include <system_error>
#include <utility>

namespace buda::plugin {

Guard::Guard(const Provenance& from, const char* kind)
    : code_(plugin_code(cat(kind, " of plugin '", from.plugin, "' ", from.version, " (", from.file, ")"), from.file)) {}

std::string Guard::describe_exception(const char* method) const {
  std::string what;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const PluginError&) {
    throw;
  } catch (const LateLibraryError&) {
    throw;
  } catch (const std::system_error& e) {
    if (is_lack(e.code())) throw;
    what = e.what();
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "an object that is not a std::exception";
  }
  return cat(code_.who, ": ", method, "() threw: ", what, "; a plugin must not throw, please report this to its author");
}

namespace {

class GuardedFrontend final : public Frontend {
 public:
  GuardedFrontend(std::unique_ptr<Frontend> inner, const Provenance& from) : inner_(std::move(inner)), guard_(from, "frontend") {}
  ~GuardedFrontend() override { guard_.end(inner_); }
  int recognizes(std::string_view head, const std::string& file_name) const override {
    return guard_.call("recognizes", [&] { return inner_->recognizes(head, file_name); });
  }
  std::vector<ReadOperator> operators() const override {
    return guard_.call("operators", [&] { return inner_->operators(); });
  }
  Result<graph::Graph> import(const ModelSource& source, const ImportOptions& options, Host& host) override {
    return guard_.call("import", [&] { return inner_->import(source, options, host); });
  }

 private:
  std::unique_ptr<Frontend> inner_;
  Guard guard_;
};

class GuardedDecomposition final : public passes::Decomposition {
 public:
  GuardedDecomposition(std::unique_ptr<passes::Decomposition> inner, const Provenance& from)
      : inner_(std::move(inner)), guard_(from, "decomposition") {}
  ~GuardedDecomposition() override { guard_.end(inner_); }
  std::vector<std::string> consumes() const override {
    return guard_.call("consumes", [&] { return inner_->consumes(); });
  }
  std::vector<std::string> produces() const override {
    return guard_.call("produces", [&] { return inner_->produces(); });
  }
  int priority() const override {
    return guard_.call("priority", [&] { return inner_->priority(); });
  }
  bool matches(const graph::Graph& graph, const graph::Node& node) const override {
    return guard_.call("matches", [&] { return inner_->matches(graph, node); });
  }
  Result<void> rewrite(graph::GraphEditor& editor, graph::NodeId id) override {
    return guard_.call("rewrite", [&] { return inner_->rewrite(editor, id); });
  }
  std::vector<std::string> differentiates() const override {
    return guard_.call("differentiates", [&] { return inner_->differentiates(); });
  }
  Result<std::vector<graph::ValueRef>> gradient(graph::GraphEditor& editor, graph::NodeId id,
                                                const std::vector<graph::ValueRef>& incoming) override {
    return guard_.call("gradient", [&] { return inner_->gradient(editor, id, incoming); });
  }

 private:
  std::unique_ptr<passes::Decomposition> inner_;
  Guard guard_;
};

class GuardedPolicy final : public balance::Policy {
 public:
  GuardedPolicy(std::unique_ptr<balance::Policy> inner, const Provenance& from) : inner_(std::move(inner)), guard_(from, "policy") {}
  ~GuardedPolicy() override { guard_.end(inner_); }
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator& estimator) override {
    return guard_.call("choose", [&] { return inner_->choose(std::move(placement), estimator); });
  }

 private:
  std::unique_ptr<balance::Policy> inner_;
  Guard guard_;
};

class GuardedDevice final : public runtime::Device {
 public:
  GuardedDevice(std::unique_ptr<runtime::Device> inner, Guard guard) : inner_(std::move(inner)), guard_(guard) {}
  ~GuardedDevice() override { guard_.end(inner_); }
  Result<void> push(const std::string& queue, const Tensor& entries) override {
    return guard_.call("push", [&] { return inner_->push(queue, entries); });
  }
  Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) override {
    return guard_.call("write", [&] { return inner_->write(queue, slot, entries); });
  }
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override {
    return guard_.call("start", [&] { return inner_->start(program, parameters); });
  }
  Result<runtime::Progress> advance(const runtime::Until& until) override {
    return guard_.call("advance", [&] { return inner_->advance(until); });
  }
  std::optional<perf::Clock> clock() const override {
    return guard_.call("clock", [&] { return inner_->clock(); });
  }
  std::optional<std::int64_t> room(const std::string& queue) override {
    return guard_.call("room", [&] { return inner_->room(queue); });
  }
  bool has_values() const override {
    return guard_.call("has_values", [&] { return inner_->has_values(); });
  }
  Result<Tensor> pop(const std::string& queue, std::int64_t entries) override {
    return guard_.call("pop", [&] { return inner_->pop(queue, entries); });
  }
  Result<std::int64_t> waiting(const std::string& queue) override {
    return guard_.call("waiting", [&] { return inner_->waiting(queue); });
  }
  Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) override {
    return guard_.call("read", [&] { return inner_->read(queue, slot, entries); });
  }
  runtime::Telemetry telemetry() const override {
    return guard_.call("telemetry", [&] { return inner_->telemetry(); });
  }
  bool observe(runtime::Observer& observer) override {
    return guard_.call("observe", [&] { return inner_->observe(observer); });
  }
  bool record(perf::Sink& sink, perf::Level level) override {
    return guard_.call("record", [&] { return inner_->record(sink, level); });
  }
  std::optional<perf::Summary> summary() const override {
    return guard_.call("summary", [&] { return inner_->summary(); });
  }

 private:
  std::unique_ptr<runtime::Device> inner_;
  Guard guard_;
};

class GuardedTarget final : public runtime::Target {
 public:
  GuardedTarget(std::unique_ptr<runtime::Target> inner, const Provenance& from) : inner_(std::move(inner)), guard_(from, "target") {}
  ~GuardedTarget() override { guard_.end(inner_); }
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    BUDA_ASSIGN(auto device, guard_.call("open", [&] { return inner_->open(program, descriptor, host); }));
    return std::unique_ptr<runtime::Device>(new GuardedDevice(std::move(device), guard_));
  }
  runtime::Needs needs() const override {
    return guard_.call("needs", [&] { return inner_->needs(); });
  }
  const device::DeviceDescriptor* describe() const override {
    return guard_.call("describe", [&] { return inner_->describe(); });
  }

 private:
  std::unique_ptr<runtime::Target> inner_;
  Guard guard_;
};

}  // namespace

std::unique_ptr<Frontend> guarded(std::unique_ptr<Frontend> inner, const Provenance& from) {
  return std::make_unique<GuardedFrontend>(std::move(inner), from);
}
std::unique_ptr<passes::Decomposition> guarded(std::unique_ptr<passes::Decomposition> inner, const Provenance& from) {
  return std::make_unique<GuardedDecomposition>(std::move(inner), from);
}
std::unique_ptr<balance::Policy> guarded(std::unique_ptr<balance::Policy> inner, const Provenance& from) {
  return std::make_unique<GuardedPolicy>(std::move(inner), from);
}
std::unique_ptr<runtime::Target> guarded(std::unique_ptr<runtime::Target> inner, const Provenance& from) {
  return std::make_unique<GuardedTarget>(std::move(inner), from);
}

}  // namespace buda::plugin
