#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an image gives when one process runs it, one pushes its inputs and one pops its outputs.
#   served.sh BUILD_DIR IMAGE INPUTS.npz OUTPUTS.npz
set -eu
process() { what=$1; shift; "$build/tests/shared_io" "$build" "$what" "$name" "$@"; }
build=$1 name=openbuda-served-$$
process serve "$2" > /dev/null & server=$!
process push-file "$3" & pusher=$!
process pop-file "$4"
wait $pusher
wait $server
