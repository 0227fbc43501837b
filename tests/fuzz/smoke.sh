#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The fuzzers of the readers that all others stand on, for some seconds each, from small files of this tree: smoke.sh BUILD_DIR SECONDS
# (`make fuzz` runs all fuzzers for longer). What breaks one is left in BUILD_DIR/found, and the exit code is 1.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
seeds=$build/smoke-seeds
rm -rf "$seeds"
mkdir -p "$build/found" "$seeds/json" "$seeds/yaml" "$seeds/tensors" "$seeds/graph"
number=0
for file in "$source"/schemas/*/*.json; do
  number=$((number + 1))
  cp "$file" "$seeds/json/$number.json"
done
cp "$source"/share/devices/*.yaml "$source"/share/examples/netlists/*.yaml "$seeds/yaml"
cp "$source"/share/examples/digits/digits.expected.npz "$source"/share/examples/digits/digits.labels.npz "$seeds/tensors"
cp "$source"/schemas/buda.graph-1/*.json "$seeds/graph"
result=0
for name in json yaml tensors graph; do
  if "$build/fuzz/fuzz_$name" -max_total_time="$2" -seed=1 -max_len=60000 -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$build/found/$name-" \
    "$seeds/$name" > "$build/found/$name.log" 2>&1; then
    echo "$name: $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$build/found/$name.log"), nothing found"
  else
    echo "$name: FOUND; the end of $build/found/$name.log:"
    tail -n 30 "$build/found/$name.log"
    result=1
  fi
done
exit $result
