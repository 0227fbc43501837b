// SPDX-License-Identifier: Apache-2.0
// Loading of plugins, and every sentence with which one is refused.
#include <buda/plugin/abi.h>
#include <buda/balance/policy/policy.hpp>
#include <buda/cli/signals.hpp>
#include <buda/cli/tool.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/json.hpp>
#include <buda/io/temporary_directory.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/guard.hpp>
#include <buda/plugin/loader.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

// The fixture calls it, which no plugin could do with the private function itself.
extern "C" const char* running_plugin_of_test();
extern "C" const char* running_plugin_of_test() { return buda::plugin::running_plugin(); }

namespace buda::plugin {
namespace {

class Loader : public ::testing::Test {
 protected:
  std::string refusal(const std::string& file) {
    auto r = load_plugin(file, registries_, host_);
    return r ? "loaded" : r.failure().diagnostics().front().code + " " + r.failure().diagnostics().front().message;
  }
  static std::string fixture(const std::string& name) { return std::string(FIXTURE_DIR) + "/" + name + ".so"; }

  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  Host host_{*fs_, sink_};
  Registries registries_;
};

TEST_F(Loader, AGoodPluginIsRegisteredWithItsOriginAndItsOptions) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  const auto* found = registries_.frontends.find("fixture");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->from.file, fixture("good"));
  EXPECT_EQ(found->from.version, "1.2");
  auto made = make(registries_, registries_.frontends, Kind::frontend, "fixture", {}, host_);
  ASSERT_TRUE(made);
  ImportOptions options;
  options.name = "g";
  EXPECT_EQ((*made)->import({}, options, host_)->name, "g");
  EXPECT_EQ(fs_->files_read().count(fixture("good")), 1u) << "a used plugin is a dependency";
  EXPECT_EQ(refusal(fixture("good")), "loaded") << "a second time is no second registration";
}

TEST_F(Loader, EveryRefusalIsASentenceOfItsOwn) {
  auto begins = [&](const std::string& name, const std::string& expected) {
    std::string got = refusal(fixture(name));
    EXPECT_EQ(got.substr(0, expected.size()), expected) << name;
  };
  begins("nowhere", "PL002 there is no such plugin file");
  begins("not-a-plugin", "PL004 it is a shared library but not an OpenBuda plugin");
  begins("missing", "PL003 it cannot be loaded as a shared library: undefined symbol: nobody_defines_this");
  begins("magic", "PL004 its information does not begin with the magic number");
  begins("struct", "PL005 its information has 8 bytes");
  const std::string own = interface_text(BUDA_ABI_GENERATION, BUDA_ABI_HEADERS);
  begins("generation", "PL005 it was built for plugin interface " + interface_text(BUDA_ABI_GENERATION + 1, BUDA_ABI_HEADERS) +
                           ", and this program has " + own + "; build it again with the headers of this OpenBuda");
  begins("stale", "PL005 it was built for plugin interface 1.0badcafe, and this program has " + own);
  begins("policy", "PL005 it registers a frontend, but was built with the headers of a policy");
  begins("cxx", "PL005 it was built for the C++ ABI 'another compiler'");
  begins("anonymous", "PL004 its name, version, description, license or C++ ABI is missing");
  begins("null", "PL004 its buda_plugin_query gives no information");
  begins("failing", "PL008 its registration failed: the moon is in the wrong phase");
  begins("nameless", "PL004 it registers a frontend without a name");
  begins("twice", "PL007 it registers the frontend 'fixture' twice");
  begins("throwing", "PL012 it threw while it was loaded: out of ideas; please report this to its author");
  begins("throwing-7", "PL012 it threw while it was loaded: an object that is not a std::exception");
  begins("macro", "PL008 its registration failed: thrown in the plugin");
  EXPECT_TRUE(registries_.frontends.all().empty()) << "a refused plugin leaves nothing behind";
  EXPECT_EQ(refusal(FIXTURE_DIR).substr(0, 5), "PL002");
}

TEST_F(Loader, APluginWithTheHeadersOfItsKindIsLoaded) {
  EXPECT_NE(BUDA_ABI_FRONTEND, BUDA_ABI_HEADERS) << "or this would show nothing";
  EXPECT_EQ(refusal(fixture("frontend")), "loaded");
  EXPECT_EQ(registries_.frontends.all().size(), 1u);
}

TEST_F(Loader, AFileThatIsNoLibraryIsRefused) {
  auto folder = io::TemporaryDirectory::make("/tmp", "buda-plugin-test-");
  ASSERT_TRUE(fs_->write(folder->path() + "/text.so", "hello"));
  EXPECT_EQ(refusal(folder->path() + "/text.so").substr(0, 47), "PL003 it cannot be loaded as a shared library: ");
}

TEST_F(Loader, ADuplicateNameNamesBothFiles) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  EXPECT_EQ(refusal(fixture("same")),
            "PL007 it registers the frontend 'fixture', which " + fixture("good") + " has registered already; rename one of them");
}

TEST_F(Loader, ATakenNameInAFolderIsTold) {
  auto folder = io::TemporaryDirectory::make("/tmp", "buda-plugin-test-");
  std::filesystem::copy_file(fixture("same"), folder->path() + "/frontend_same.so");
  SearchPath path;
  path.files = {fixture("good")};
  path.environment_directories = {folder->path(), folder->path() + "/."};
  ASSERT_TRUE(load_plugins(path, {Kind::frontend}, registries_, host_));
  ASSERT_EQ(sink_.diagnostics().size(), 1u);
  const Diagnostic& d = sink_.diagnostics().front();
  EXPECT_EQ(d.severity, Severity::warning);
  EXPECT_EQ(d.loc.file, folder->path() + "/frontend_same.so");
  EXPECT_NE(d.message.find(fixture("good")), std::string::npos) << d.message;
}

TEST_F(Loader, ANameOfAnotherKindIsTold) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  auto policy = make(registries_, registries_.policies, Kind::policy, "fixture", {}, host_);
  ASSERT_FALSE(policy);
  ASSERT_EQ(policy.failure().diagnostics()[0].notes.size(), 1u);
  EXPECT_EQ(policy.failure().diagnostics()[0].notes[0].message, "'fixture' is a frontend, of plugin " + fixture("good"));
}

TEST_F(Loader, ACrashIsThatOfThePluginThatRuns) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  auto made = make(registries_, registries_.frontends, Kind::frontend, "fixture", {}, host_);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->import({"who", {}}, {}, host_)->name, "frontend of plugin 'fixture-plugin' 1.2 (" + fixture("good") + ")");
  EXPECT_EQ(running_plugin(), nullptr);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  auto crash = [&](const char* how) {
    cli::install_signal_handlers("importer");
    static_cast<void>((*made)->import({how, {}}, {}, host_));
  };
  for (const char* how : {"crash", "abort"})
    EXPECT_EXIT(crash(how), ::testing::ExitedWithCode(cli::kBug),
                "importer: error: crashed in the frontend of plugin 'fixture-plugin' 1.2");
#endif
}

TEST_F(Loader, DirectoriesGiveTheWantedKindsAndListWhatIsBroken) {
  auto folder = io::TemporaryDirectory::make("/tmp", "buda-plugin-test-");
  auto copy = [&](const std::string& from, const std::string& to) { std::filesystem::copy_file(fixture(from), folder->path() + "/" + to); };
  copy("good", "frontend_good.so");
  copy("stale", "frontend_stale.so");
  copy("same", "policy_same.so");
  copy("same", "readme.txt");
  SearchPath path;
  path.environment_directories = {"", folder->path(), "/no/such/folder"};
  ASSERT_TRUE(load_plugins(path, {Kind::frontend}, registries_, host_));
  EXPECT_EQ(registries_.frontends.names(), std::vector<std::string>{"fixture"});
  ASSERT_EQ(registries_.broken.size(), 1u);
  EXPECT_EQ(registries_.broken[0].file, folder->path() + "/frontend_stale.so");
  auto unknown = make(registries_, registries_.frontends, Kind::frontend, "fxture", {}, host_);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.failure().diagnostics()[0].hint, "did you mean 'fixture'?");
  EXPECT_EQ(unknown.failure().diagnostics()[0].notes.size(), 1u);
  EXPECT_NE(list_text(registries_, {Kind::frontend}).find("not loaded: " + folder->path() + "/frontend_stale.so"), std::string::npos);
  auto json = io::parse_json(list_json(registries_, {Kind::frontend}), "list");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("plugins")->items()[0].find("name")->text(), "fixture");
  EXPECT_EQ(json->find("broken")->size(), 1u);
}

TEST_F(Loader, WhatIsNamedOnTheCommandLineMustWork) {
  SearchPath path;
  path.files = {fixture("stale"), fixture("good")};
  path.directories = {"/no/such/folder"};
  auto r = load_plugins(path, {Kind::frontend}, registries_, host_);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.failure().diagnostics().size(), 2u);
}

TEST_F(Loader, WhatAPluginThrowsIsAFailureThatNamesIt) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  auto made = make(registries_, registries_.frontends, Kind::frontend, "fixture", {}, host_);
  ASSERT_TRUE(made);
  auto message = [&](const std::string& path) {
    auto graph = (*made)->import({path, {}}, {}, host_);
    EXPECT_FALSE(graph) << path;
    if (graph) return std::string();
    EXPECT_EQ(graph.failure().diagnostics()[0].fault, Fault::bug);
    return graph.failure().diagnostics()[0].message;
  };
  std::string who = "frontend of plugin 'fixture-plugin' 1.2 (" + fixture("good") + "): ";
  EXPECT_EQ(message("throw"), who + "import() threw: out of ideas; a plugin must not throw, please report this to its author");
  EXPECT_EQ(message("throw 7"),
            who + "import() threw: an object that is not a std::exception; a plugin must not throw, please report this to its author");
  EXPECT_EQ(message("bad id"), who +
                                   "import() threw: graph '' has no node with id 1610612736; its ids are below 0; a plugin must not throw, "
                                   "please report this to its author");
  EXPECT_THROW(static_cast<void>((*made)->import({"memory", {}}, {}, host_)), std::bad_alloc) << "nobody's bug";
  try {
    static_cast<void>((*made)->recognizes("throw", "file"));
    FAIL();
  } catch (const PluginError& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, who.size()), who);
  }
}

TEST_F(Loader, OptionsForWhatDoesNotExistAreErrors) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  schema::OptionValues depth, typo;
  depth.set("depth", "2");
  typo.set("depht", "2");
  EXPECT_TRUE(check_options(registries_, {Kind::frontend}, {{"frontend.fixture", depth}, {"policy.other", depth}}));
  auto hints = [&](const std::map<std::string, schema::OptionValues>& given) {
    auto r = check_options(registries_, {Kind::frontend}, given);
    EXPECT_FALSE(r);
    return r ? std::string() : r.failure().diagnostics()[0].hint;
  };
  EXPECT_EQ(hints({{"frontend.fxture", depth}}), "did you mean 'fixture'?");
  EXPECT_EQ(hints({{"frontend.fixture", typo}}), "did you mean 'frontend.fixture.depth'?");
}

TEST_F(Loader, OptionsOfAPluginAreChecked) {
  ASSERT_EQ(refusal(fixture("good")), "loaded");
  schema::OptionValues given;
  given.set("depht", "1");
  auto r = make(registries_, registries_.frontends, Kind::frontend, "fixture", given, host_);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.failure().diagnostics()[0].hint, "did you mean 'frontend.fixture.depth'?");
}

}  // namespace
}  // namespace buda::plugin
