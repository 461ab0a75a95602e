# An engine for tests in containers, and its base images; sourced by them.
# It reads $work (a folder for the test), $prepare and $if_possible, and sets $engine once containers can be run.
# shellcheck shell=bash disable=SC2154,SC2034

readonly swift_image=swift:6.3-bookworm debian_image=debian:bookworm-slim
engine=
daemon=

say() { printf '%(%T)T %s\n' -1 "$*"; }

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# skip WHY: what the test needs is not there.
skip() {
    if $if_possible; then
        printf '%s: skipped: %s\n' "${0##*/}" "$1"
        exit 0
    fi
    fail "$1"
}

start_engine() {
    if docker info >/dev/null 2>&1; then
        engine=there
        return
    fi
    [ "$(id -u)" -eq 0 ] || skip 'no engine is running, and starting one needs root'
    command -v dockerd >/dev/null || skip "there is no dockerd: apt-get install docker.io"
    local folder=${HANDKIT_DOCKER:-/tmp/handkit-docker}
    $prepare || [ -d "$folder/data" ] || skip "there are no base images in $folder; --prepare makes them"
    mkdir -p "$folder"
    export DOCKER_HOST=unix://$folder/docker.sock
    [ ! -d "$folder/cfg" ] || export DOCKER_CONFIG=$folder/cfg
    # Another engine on this machine may have both already, and they stay its.
    if ! ip link show docker0 >/dev/null 2>&1; then iptables-save >"$work/iptables" 2>/dev/null || true; fi
    dockerd --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/dockerd.pid" --host "$DOCKER_HOST" \
        --storage-driver overlay2 >"$folder/dockerd.log" 2>&1 &
    daemon=$!
    for _ in $(seq 60); do
        if docker info >/dev/null 2>&1; then
            engine=ours
            return
        fi
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.5
    done
    skip "dockerd did not start: $(tail -n 1 "$folder/dockerd.log")"
}

# dockerd leaves its bridge and its rules behind.
stop_engine() {
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    if [ -s "$work/iptables" ]; then
        ip link delete docker0 2>/dev/null || true
        iptables-restore <"$work/iptables" || true
    fi
}

make_bases() {
    if ! docker image inspect "$debian_image" >/dev/null 2>&1; then
        $prepare || skip "there is no image $debian_image; --prepare makes one"
        say "making $debian_image"
        debootstrap --variant=minbase bookworm "$work/root" >"$work/debootstrap.log"
        cp /etc/apt/sources.list.d/*.sources "$work/root/etc/apt/sources.list.d/" 2>/dev/null && : >"$work/root/etc/apt/sources.list"
        rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/*_*
        tar -C "$work/root" -c . | docker import --change 'CMD ["bash"]' - "$debian_image" >/dev/null
        rm -rf "$work/root"
    fi
    if ! docker image inspect "$swift_image" >/dev/null 2>&1; then
        $prepare || skip "there is no image $swift_image; --prepare makes one"
        say "making $swift_image"
        local toolchain
        toolchain=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
        tar -C "$toolchain" --exclude='usr/bin/*lldb*' --exclude='usr/lib/*lldb*' --exclude='usr/bin/sourcekit-lsp' --exclude='usr/bin/clangd' \
            --exclude='usr/bin/docc' --exclude='usr/lib/libsourcekitd*' --exclude='usr/share/doc*' -c usr | docker import - "$swift_image" >/dev/null
        docker build --quiet --tag "$swift_image" - >/dev/null <<DOCKERFILE
FROM $swift_image AS toolchain
FROM $debian_image
COPY --from=toolchain /usr /usr
DOCKERFILE
    fi
}
