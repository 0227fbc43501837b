#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a plugin author does: installs OpenBuda, starts from each template, builds it against the installation alone, checks, lists and uses it.
#   out_of_tree.sh BUILD_DIR CMAKE COMPILER CTEST
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
cmake=$2
compiler=$3
ctest=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
"$cmake" --install "$build" --prefix "$prefix" > "$work/install.log"
# Nothing of the source or build tree may be needed: only the installation is on the way.
PATH=$prefix/bin:$PATH
digits=$prefix/share/buda/examples/digits
# CMake looks beside the folders of PATH, and thus through a build tree whose tools are in use; it is no package.
if PATH=$build/bin:/usr/bin:/bin "$cmake" -S "$prefix/share/buda/examples/embedding" -B "$work/no-package" -DCMAKE_CXX_COMPILER="$compiler" > "$work/no-package.log" 2>&1; then
  echo "find_package found a package without an installation" >&2; exit 1
fi
if grep -q "$build" "$work/no-package.log"; then echo "find_package found the build tree" >&2; exit 1; fi
for kind in frontend decomposition policy target; do
  cp -r "$prefix/share/buda/templates/plugin/$kind" "$work/$kind"
  [ -s "$work/$kind/README.md" ] || { echo "the template of a $kind has no README" >&2; exit 1; }
  for page in $(grep -o 'share/doc/[a-z/]*\.md' "$work/$kind/README.md"); do
    [ -f "$prefix/$page" ] || { echo "the README of $kind names $page, which is not installed" >&2; exit 1; }
  done
  "$cmake" -S "$work/$kind" -B "$work/$kind/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/$kind.log"
  "$cmake" --build "$work/$kind/build" >> "$work/$kind.log"
  plugin=$(find "$work/$kind/build" -name "${kind}_*.so")
  exported=$(nm -D --defined-only "$plugin" | awk '{print $3}')
  [ "$exported" = buda_plugin_query ] || { echo "$plugin exports more than one symbol: $exported" >&2; exit 1; }
  "$ctest" --test-dir "$work/$kind/build" --output-on-failure > "$work/$kind.ctest" || { cat "$work/$kind.ctest"; exit 1; }
  grep -q "100% tests passed, 0 tests failed out of 1" "$work/$kind.ctest"
  echo "$kind: $(basename "$plugin") passes its suite"
done
# The installed headers are enough for each other, and private ones are not among them.
python3 "$tests/headers.py" "$compiler" "$prefix/include"
cp -r "$prefix/share/buda/templates/plugin/target" "$work/private"
sed -i '1i #include <buda/overlay/build.hpp>' "$work/private/plugin.cpp"
"$cmake" -S "$work/private" -B "$work/private/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/private.log"
if "$cmake" --build "$work/private/build" >> "$work/private.log"; then echo "a plugin could include a private header" >&2; exit 1; fi
grep -q "buda/overlay/build.hpp: No such file\|'buda/overlay/build.hpp' file not found" "$work/private.log"
# A private function that it declares itself is not exported.
cp -r "$prefix/share/buda/templates/plugin/target" "$work/undeclared"
cat >> "$work/undeclared/plugin.cpp" << 'END'
#include <string_view>
namespace buda::image {
std::string sha256_hex(std::string_view);
}
std::string undeclared_digest() { return buda::image::sha256_hex(""); }
END
"$cmake" -S "$work/undeclared" -B "$work/undeclared/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/undeclared.log"
if "$cmake" --build "$work/undeclared/build" >> "$work/undeclared.log"; then echo "a plugin could call a private function" >&2; exit 1; fi
grep -q "undefined.*sha256_hex" "$work/undeclared.log"
cd "$work"
name() { basename "$(find "$work/$1/build" -name "$1_*.so")" .so | sed "s/^$1_//"; }
echo 32 > layer.mine
importer layer.mine --plugin-path frontend/build/lib/buda/plugins/abi1 -o - | graph print - | grep -q "double = multiply(" ||
  { echo "the frontend's product is not called as its author says" >&2; exit 1; }
balancer --plugin "$(find policy/build -name 'policy_*.so')" --list-plugins | grep "^policy $(name policy) "
balancer --plugin-path policy/build/lib/buda/plugins/abi1 --list-plugins=json | grep -q "\"name\": \"$(name policy)\""
BUDA_PLUGIN_PATH=$work/policy/build/lib/buda/plugins/abi1 balancer --list-plugins | grep -q "^policy $(name policy) "
buda compile "$digits/digits.onnx" -o digits.tti --policy "$(name policy)" --plugin "$(find "$work/policy/build" -name 'policy_*.so')" -q
buda run digits.tti --inputs "$digits/digits.images.npz" --expect "$digits/digits.expected.npz" --pcc 0.999 -q
# A plugin installed into the prefix is found without being named.
"$cmake" --install "$work/policy/build" --prefix "$prefix" > /dev/null
balancer --list-plugins | grep -q "^policy $(name policy) "
echo "used the out-of-tree policy $(name policy)"
# The examples: on the scope interface, a search, and one that asks a solver of integer programs.
for policy in packing restarts cbc; do
  cp -r "$prefix/share/buda/examples/policies/$policy" "$work/$policy"
  "$cmake" -S "$work/$policy" -B "$work/$policy/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/$policy.log"
  "$cmake" --build "$work/$policy/build" >> "$work/$policy.log"
  "$ctest" --test-dir "$work/$policy/build" --output-on-failure > "$work/$policy.ctest" || { cat "$work/$policy.ctest"; exit 1; }
  buda compile "$digits/digits.onnx" -o "$policy.tti" --policy "$policy" --plugin-path "$policy/build/lib/buda/plugins/abi1" -q
  buda run "$policy.tti" --inputs "$digits/digits.images.npz" --expect "$digits/digits.expected.npz" --pcc 0.999 -q
done
# The default policy, as somebody else's: its sources need the installation alone, and it makes the same plans.
mkdir again && cp -r "$tests/../../plugins/policies/spread"/* again && sed -i 's/"spread"/"again"/' again/plugin.cpp
cat > again/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.25)
project(again LANGUAGES CXX)
find_package(OpenBuda REQUIRED)
file(GLOB sources *.cpp moves/*.cpp rating/*.cpp)
buda_add_plugin(again KIND policy SOURCES ${sources})
target_include_directories(plugin_policy_again PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
set_target_properties(plugin_policy_again PROPERTIES UNITY_BUILD ON)
END
"$cmake" -S again -B again/build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > again.log
"$cmake" --build again/build >> again.log || { cat again.log; exit 1; }
for policy in spread again; do
  buda compile "$digits/digits.onnx" -o "$policy.tti" --policy "$policy" --plugin-path again/build/lib/buda/plugins/abi1 --build-dir "$policy.build" -q
done
cmp spread.build/digits.yaml again.build/digits.yaml
# The tutorial of kernels, word for word: its files are the template's, and its commands run.
page=$prefix/share/doc/openbuda/tutorial/kernel.md
sed -n '/^```sh$/,/^```$/p' "$page" | sed '/^```/d' > steps.sh
for part in yaml:kernel.yaml cpp:softsign.h cmake:CMakeLists.txt; do
  sed -n "/^\`\`\`${part%%:*}\$/,/^\`\`\`\$/p" "$page" | sed '1d;$d' | diff - "$prefix/share/buda/templates/kernel/${part#*:}"
done
(PREFIX=$prefix sh -eu steps.sh) > kernel.log 2>&1 || { cat kernel.log; exit 1; }
grep -q "100% tests passed, 0 tests failed out of 2" kernel.log
# The tutorials of embedding programs, word for word, in a clone beside the installation.
mkdir clone && ln -s "$(cd "$tests/../.." && pwd)/share" clone/share
for page in embedding embedding-runtime; do
  sed -n "s#/opt/openbuda#$prefix#g; s#^    \(\(cp\|cmake\|build/\|c++\|$prefix/bin/\).*\)#\1#p" "$prefix/share/doc/openbuda/tutorial/$page.md"
done > clone/steps.sh
[ "$(wc -l < clone/steps.sh)" -eq 10 ]
PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --print-errors --exists "openbuda = $(buda --version | sed -n '1s/.* //p')"
(cd clone && CXX=$compiler PKG_CONFIG_PATH=$prefix/lib/pkgconfig sh -eu steps.sh) > embedding.log 2>&1 || { cat embedding.log; exit 1; }
buda run clone/digits.tti --inputs "$digits/digits.images.npz" --expect clone/outputs.npz --max-error 0 -q
clone/embed "$prefix" "$digits/digits.onnx" "$digits/digits.images.npz" by-pkg-config.tti 2> /dev/null
clone/build/embedding/embed "$prefix" "$digits/digits.onnx" "$digits/digits.images.npz" by-cmake.tti 2> /dev/null
cmp by-pkg-config.tti by-cmake.tti
"$cmake" -S "$prefix/share/buda/examples/generate" -B generate -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > generate.log
"$cmake" --build generate >> generate.log
# Further plugins and boards touch no test of the tools: they pass beside all of these. (The decomposition replaces relu, which shows.)
for kind in frontend target; do "$cmake" --install "$work/$kind/build" --prefix "$prefix" > /dev/null; done
sed 's/^name: .*/name: n9000/' "$prefix/share/buda/devices/n150.yaml" > "$prefix/share/buda/devices/n9000.yaml"
# One of them loads a plugin that is built for tests.
mkdir -p "$prefix/tests/unit/plugin/fixtures"
cp "$build/tests/unit/plugin/fixtures/good.so" "$prefix/tests/unit/plugin/fixtures"
python3 "$tests/../cli/run.py" --build "$prefix" "$tests"/../cli/balancer "$tests"/../cli/contract "$tests"/../cli/importer \
  "$tests"/../cli/netlist "$tests"/../cli/optimizer "$tests"/../cli/pipegen "$tests"/../cli/runner "$tests"/../cli/tti-pack
echo "the tools' tests pass beside further plugins and a further board"
