// SPDX-License-Identifier: Apache-2.0
// The importer itself: names of products, choice of the frontend, options.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <buda/plugin/frontend.hpp>

namespace buda::test {
namespace {

class Importer : public ImportTest {
 protected:
  std::string failure(const importer::Options& options) {
    auto r = run(options);
    return r ? "ok" : text_of(r.failure());
  }
};

importer::Options options_for(const std::string& model) { return {.model = model, .output = {}, .frontend = {}, .name = {}, .dims = {}}; }

// A frontend that is always as sure as it was told to be.
void add_frontend(plugin::Registries& plugins, const std::string& name, int score) {
  class Sure final : public plugin::Frontend {
   public:
    explicit Sure(int score) : score_(score) {}
    int recognizes(std::string_view head, const std::string&) const override {
      EXPECT_LE(head.size(), 4096u);
      return score_;
    }
    Result<graph::Graph> import(const plugin::ModelSource&, const plugin::ImportOptions&, Host&) override {
      return graph::Graph("unsound");
    }

   private:
    int score_;
  };
  plugin::Entry<plugin::Frontend> entry;
  entry.name = name;
  entry.make = [score](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<plugin::Frontend>> {
    return std::unique_ptr<plugin::Frontend>(std::make_unique<Sure>(score));
  };
  plugins.frontends.insert({std::move(entry), {"test", "1", "/plugins/" + name + ".so"}});
}

TEST_F(Importer, TheProductIsNamedAfterTheModel) {
  auto name = [](const std::string& model) { return importer::output_path(options_for(model)); };
  EXPECT_EQ(name("models/mlp.onnx"), "mlp.graph.json");
  EXPECT_EQ(name("mlp"), "mlp.graph.json");
  EXPECT_EQ(name("a.b/net.v2.onnx"), "net.v2.graph.json");
  EXPECT_EQ(name("dir/hand.graph.json"), "hand.graph.json");
  EXPECT_EQ(name("dir/hand.json"), "hand.graph.json");
  EXPECT_EQ(name("dir/.onnx"), ".onnx.graph.json");
  EXPECT_EQ(name("-"), "-");
}

TEST_F(Importer, TheModelIsNotOverwritten) {
  fs_.put("hand.graph.json", "{}");
  EXPECT_NE(failure(options_for("hand.graph.json")).find("IP004 the graph would overwrite the model 'hand.graph.json'"), std::string::npos);
}

TEST_F(Importer, StandardInputAndOutput) {
  fs_.put("-", small_mlp().bytes());
  ASSERT_EQ(failure(options_for("-")), "ok");
  EXPECT_TRUE(fs_.find("-")->view().starts_with("{")) << "the graph is on standard output";
  EXPECT_EQ(fs_.files().size(), 1u) << "with its weights in it";
  // What comes out goes in again, through the frontend for graphs.
  ASSERT_EQ(failure(options_for("-")), "ok");
}

TEST_F(Importer, TheNameOfTheGraph) {
  fs_.put("m.onnx", small_mlp().bytes());
  auto options = options_for("m.onnx");
  options.name = "digits";
  ASSERT_EQ(failure(options), "ok");
  EXPECT_NE(fs_.find("m.graph.json")->view().find("\"name\": \"digits\""), std::string_view::npos);
}

TEST_F(Importer, NobodyRecognisesTheFile) {
  fs_.put("notes.txt", "hello");
  EXPECT_EQ(failure(options_for("notes.txt")),
            "IP001 no frontend recognises this model\n"
            "  note: certainty of each frontend, from 0 to 100: example 0, native 0, onnx 0, stablehlo 0, tensorflow 0, tflite 0, torchscript 0\n"
            "  hint: name one with --frontend, or give the folder of another with --plugin-path\n");
  fs_.put("empty.onnx", "");
  EXPECT_EQ(failure(options_for("empty.onnx")), "IP005 the file is empty; expected a model\n");
  EXPECT_NE(failure(options_for("missing.onnx")).find("IO001"), std::string::npos);
}

TEST_F(Importer, TwoFrontendsAreEquallySure) {
  add_frontend(host_.plugins, "another", 90);
  fs_.put("m.onnx", small_mlp().bytes());
  EXPECT_EQ(failure(options_for("m.onnx")),
            "IP002 several frontends recognise this model equally well: another, onnx\n"
            "  note: certainty of each frontend, from 0 to 100: another 90, onnx 90, example 0, native 0, stablehlo 0, tensorflow 0, tflite 0, torchscript 0\n"
            "  hint: choose with --frontend another\n");
  auto options = options_for("m.onnx");
  options.frontend = "onnx";
  EXPECT_EQ(failure(options), "ok");
  options.frontend = "onyx";
  EXPECT_NE(failure(options).find("onnx"), std::string::npos) << "a spelling hint";
}

TEST_F(Importer, OnlyTheFrontendThatReadIsADependency) {
  add_frontend(host_.plugins, "timid", 1);
  fs_.put("m.onnx", small_mlp().bytes());
  ASSERT_EQ(failure(options_for("m.onnx")), "ok");
  EXPECT_EQ(fs_.files_read().count(PLUGIN_DIR "/frontend_onnx.so"), 1u);
  EXPECT_EQ(fs_.files_read().count("/plugins/timid.so"), 0u);
}

TEST_F(Importer, AnUnsoundGraphDoesNotGetOut) {
  add_frontend(host_.plugins, "careless", 100);
  fs_.put("m.onnx", small_mlp().bytes());
  std::string text = failure(options_for("m.onnx"));
  EXPECT_NE(text.find("found when checking the graph that frontend 'careless' made"), std::string::npos) << text;
  EXPECT_EQ(fs_.find("m.graph.json"), nullptr);
}

TEST_F(Importer, DimsAreNamesAndNumbers) {
  fs_.put("m.onnx", small_mlp().bytes());
  for (const char* bad : {"batch", "batch=", "=4", "batch=0", "batch=-1", "batch=4x", "batch=99999999999999999999"}) {
    auto options = options_for("m.onnx");
    options.dims = {bad};
    auto r = run(options);
    ASSERT_FALSE(r) << bad;
    EXPECT_EQ(r.failure().diagnostics()[0].code, "IP003");
    EXPECT_EQ(r.failure().diagnostics()[0].fault, Fault::usage);
  }
  auto options = options_for("m.onnx");
  options.dims = {"a=1", "a=2"};
  EXPECT_EQ(failure(options), "IP003 option --dim: 'a' is given as 1 and as 2\n");
}

}  // namespace
}  // namespace buda::test
