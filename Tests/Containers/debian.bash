# A bare Debian 12 in a folder; sourced by tests.
# shellcheck shell=bash

# Where this machine's apt gets Debian from; empty where it does not say.
debian_mirror() { sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1 || true; }

# make_debian FOLDER LOG [OPTION…]: with the sources of this machine's apt; options are debootstrap's. $DEBIAN_SUITE for another than bookworm.
make_debian() {
    local root=$1 log=$2 suite=${DEBIAN_SUITE:-bookworm} mirror
    shift 2
    mirror=$(debian_mirror)
    debootstrap --variant=minbase "$@" "$suite" "$root" ${mirror:+"$mirror"} >"$log" 2>&1 || return
    [ "$suite" = bookworm ] || return 0
    if cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/" 2>/dev/null; then : >"$root/etc/apt/sources.list"; fi
}
