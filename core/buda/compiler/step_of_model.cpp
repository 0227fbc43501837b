// SPDX-License-Identifier: Apache-2.0
// Importer and autograd, one after the other.
#include <buda/compiler/step_of_model.hpp>

#include <buda/autograd/training_step.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/import.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/compiler/training.hpp>

#include <map>
#include <utility>

namespace buda::compiler {

Result<graph::Graph> step_of_model(const plugin::ModelSource& model, const StepRequest& request, const plugin::Registries& registries,
                                   Host& host) {
  const std::map<std::string, schema::OptionValues> no_options;
  const PluginSet plugins{registries, no_options};
  plugin::ImportOptions import = request.import;
  import.training = true;
  if (import.name.empty()) import.name = model_name(model.path);
  BUDA_ASSIGN(auto graph, import_model(model, request.frontend, import, plugins, host));

  autograd::StepOptions options;
  options.form = autograd::StepForm::programs;
  options.loss_from_file = request.loss_graph;
  options.loss_on_host = request.loss.empty() && !request.loss_graph;
  if (!request.loss.empty()) {
    BUDA_ASSIGN(options.loss, autograd::parse_loss(request.loss));
  }
  BUDA_ASSIGN(options.optimizer, autograd::parse_optimizer(request.optimizer));
  options.update = request.update == "plain"     ? autograd::Update::plain
                   : request.update == "float32" ? autograd::Update::float32
                                                 : autograd::Update::pairs;
  options.frozen = request.frozen;
  options.prediction = request.prediction;
  options.gives_gradients = true;
  options.sums_gradients = true;
  BUDA_ASSIGN(auto step, training_step(std::move(graph), std::move(options), plugins, host));
  if (step.doubt) host.report(*step.doubt);
  return std::move(step.graph);
}

}  // namespace buda::compiler
