#!/bin/sh
# chroot.sh DEB_DIR SOURCE_DIR: the Debian packages in a bare system: they install, lintian finds no error, the tools compile and run a model,
# manual pages and completions are there, and a program is built against them. Needs root, and debootstrap's mirror. 77: not root.
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
cp -r "$source/share/examples/digits" "$source/share/examples/embedding" "$root/tmp/"
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
in_root apt-get update -q >/dev/null
in_root sh -c 'apt-get install -yq --no-install-recommends /tmp/openbuda_*.deb /tmp/libopenbuda1_*.deb' >/dev/null
in_root sh -ec 'cd /tmp && buda compile digits/digits.onnx -o digits.tti && buda run digits.tti --inputs digits/digits.images.npz -o out.npz --expect digits/digits.expected.npz --pcc 0.999'
in_root sh -ec 'buda run /tmp/digits.tti --inputs /tmp/digits/digits.images.npz -o /tmp/out.npz --target grid -q'
in_root sh -ec 'for tool in /usr/bin/buda /usr/bin/balancer /usr/bin/tti-pack; do zcat /usr/share/man/man1/$(basename $tool).1.gz | grep -q "^.SH OPTIONS\|^.SH SYNOPSIS"; $tool --version; done'
in_root bash -ec 'source /usr/share/bash-completion/completions/buda; COMP_WORDS=(buda compile --devi) COMP_CWORD=2; _openbuda; [[ ${COMPREPLY[*]} == --device ]]'
in_root sh -c 'apt-get install -yq --no-install-recommends /tmp/python3-openbuda_*.deb' >/dev/null
in_root python3 -c 'import openbuda; print(openbuda.load_image("/tmp/digits.tti").get_input_shapes())'
in_root sh -c 'apt-get install -yq --no-install-recommends /tmp/libopenbuda-dev_*.deb g++ cmake make' >/dev/null
in_root sh -ec 'cmake -S /tmp/embedding -B /tmp/build >/dev/null && cmake --build /tmp/build >/dev/null && /tmp/build/embed /usr /tmp/digits/digits.onnx /tmp/digits/digits.images.npz /tmp/embedded.tti'
in_root apt-get purge -yq openbuda libopenbuda1 libopenbuda-dev python3-openbuda >/dev/null
[ ! -e "$root/usr/lib/buda" ] && [ ! -e "$root/usr/lib/python3/dist-packages/openbuda" ] && [ ! -e "$root/usr/bin/balancer" ]
