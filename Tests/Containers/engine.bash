# An engine for tests in containers, and its base images; sourced by them.
# It reads $work (a folder for the test), $prepare and $if_possible, and sets $engine once containers can be run.
# shellcheck shell=bash disable=SC2154,SC2034

readonly swift_image=swift:6.3-bookworm debian_image=debian:bookworm-slim
engine=
daemon=
had_bridge=true
# shellcheck source=Tests/Containers/debian.bash
. "${BASH_SOURCE[0]%/*}/debian.bash"

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

install_engine() {
    local missing=()
    command -v dockerd >/dev/null || missing+=(docker.io)
    command -v debootstrap >/dev/null || missing+=(debootstrap)
    [ "${#missing[@]}" -gt 0 ] || return 0
    say "installing ${missing[*]}"
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq --yes install --no-install-recommends "${missing[@]}"; } >"$work/apt" 2>&1 ||
        skip "apt-get: $(tail -n 1 "$work/apt")"
}

# fetch_plugins FOLDER: Compose and the client of BuildKit. Debian 12 has neither; those of Debian 13 are single files that run on it.
fetch_plugins() {
    local apt=$work/plugins options package
    say 'fetching Compose and buildx'
    mkdir -p "$apt"/{lists/partial,cache/archives/partial,files}
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$(debian_mirror)" >"$apt/sources"
    : >"$apt/status"
    options=(-qq -o "Dir::State::Lists=$apt/lists" -o "Dir::State::Status=$apt/status" -o "Dir::Cache=$apt/cache"
        -o "Dir::Etc::SourceList=$apt/sources" -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=root)
    (cd "$apt" && apt-get "${options[@]}" update && apt-get "${options[@]}" download docker-compose docker-buildx) >"$work/apt" 2>&1 ||
        skip "apt-get: $(tail -n 1 "$work/apt")"
    for package in "$apt"/*.deb; do dpkg-deb --extract "$package" "$apt/files"; done
    cp "$apt"/files/usr/libexec/docker/cli-plugins/* "$1/cfg/cli-plugins/"
    rm -rf "$apt"
}

start_engine() {
    if docker info >/dev/null 2>&1; then
        engine=there
        return
    fi
    [ "$(id -u)" -eq 0 ] || skip 'no engine is running, and starting one needs root'
    local folder=${HANDKIT_DOCKER:-/tmp/handkit-docker}
    if $prepare; then
        mkdir -p "$folder/cfg/cli-plugins"
        install_engine
    fi
    command -v dockerd >/dev/null || skip "there is no dockerd; --prepare installs it"
    [ -d "$folder" ] || skip "there are no base images in $folder; --prepare makes them"
    export DOCKER_HOST=unix://$folder/docker.sock
    [ ! -d "$folder/cfg" ] || export DOCKER_CONFIG=$folder/cfg
    if $prepare && ! { docker compose version && docker buildx version; } >/dev/null 2>&1; then fetch_plugins "$folder"; fi
    # Another engine on this machine may have both already, and they stay its.
    if ! ip link show docker0 >/dev/null 2>&1; then
        had_bridge=false
        iptables-save >"$work/iptables"
    fi
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
    if ! $had_bridge; then
        ip link delete docker0 2>/dev/null || true
        # What was saved names only the tables that there were.
        { printf '*%s\n%s\nCOMMIT\n' nat '' filter ':FORWARD ACCEPT [0:0]' && cat "$work/iptables"; } | iptables-restore || true
    fi
}

make_bases() {
    if ! docker image inspect "$debian_image" >/dev/null 2>&1; then
        $prepare || skip "there is no image $debian_image; --prepare makes one"
        say "making $debian_image"
        make_debian "$work/root" "$work/debootstrap" || fail "debootstrap: $(tail -n 1 "$work/debootstrap")"
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
