#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# chroot.sh DEB_DIR SOURCE_DIR: the Debian packages in a bare system: they install, lintian finds no error, the tools compile and run a model,
# manual pages and completions are there, the Python module passes its tests, and the example programs are built against them. Needs root, and debootstrap's mirror. 77: not root.
set -eu
debs=$(cd "$1" && pwd) source=$(cd "$2" && pwd)
[ "$(id -u)" = 0 ] || exit 77
lintian --allow-root --fail-on error "$debs"/*.deb
root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
# The mirror that this system uses.
mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
mount -t proc proc "$root/proc"
cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
cp "$debs"/*.deb "$root/tmp/"
mkdir -p "$root/tmp/source/share" "$root/tmp/source/tests"
cp -r "$source/share/examples" "$root/tmp/source/share/"
cp -r "$source/tests/python" "$source/tests/models" "$root/tmp/source/tests/"
examples=/tmp/source/share/examples
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
in_root apt-get update -q >/dev/null
in_root sh -c 'apt-get install -yq --no-install-recommends /tmp/openbuda_*.deb /tmp/libopenbuda1_*.deb' >/dev/null
in_root sh -ec "cd /tmp && buda compile $examples/digits/digits.onnx -o digits.tti"
run_digits="buda run /tmp/digits.tti --inputs $examples/digits/digits.images.npz"
in_root sh -ec "$run_digits -o /tmp/out.npz --expect $examples/digits/digits.expected.npz --pcc 0.999 && $run_digits -o /tmp/out.npz --target grid -q"
in_root sh -ec 'for tool in /usr/bin/buda /usr/bin/balancer /usr/bin/tti-pack; do zcat /usr/share/man/man1/$(basename $tool).1.gz | grep -q "^.SH OPTIONS\|^.SH SYNOPSIS"; $tool --version; done'
in_root bash -ec 'source /usr/share/bash-completion/completions/buda; COMP_WORDS=(buda compile --devi) COMP_CWORD=2; _openbuda; [[ ${COMPREPLY[*]} == --device ]]'
in_root sh -c 'apt-get install -yq --no-install-recommends /tmp/python3-openbuda_*.deb' >/dev/null
in_root sh -ec 'for part in module ops; do python3 /tmp/source/tests/python/${part}_test.py /usr /tmp/source; done'
in_root sh -c 'apt-get install -yq --no-install-recommends /tmp/libopenbuda-dev_*.deb g++ cmake make' >/dev/null
for program in embedding embedding-runtime; do
  in_root sh -ec "cmake -S $examples/$program -B /tmp/$program >/dev/null && cmake --build /tmp/$program >/dev/null"
done
in_root sh -ec "/tmp/embedding/embed /usr $examples/digits/digits.onnx $examples/digits/digits.images.npz /tmp/embedded.tti"
in_root sh -ec "/tmp/embedding-runtime/serve /usr golden /tmp/digits.tti $examples/digits/digits.images.npz /tmp/served.npz && $run_digits --expect /tmp/served.npz --max-error 0 -q"
in_root apt-get purge -yq openbuda libopenbuda1 libopenbuda-dev python3-openbuda >/dev/null
[ ! -e "$root/usr/lib/buda" ] && [ ! -e "$root/usr/lib/python3/dist-packages/openbuda" ] && [ ! -e "$root/usr/bin/balancer" ]
