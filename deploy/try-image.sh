#!/usr/bin/env bash
# Builds the image by the Dockerfile and tries it, on a Debian machine that reaches package registries but perhaps no
# registry of images: the base image is made from Debian's packages and the npm packages of Node.js and npm.
# Needs root, and the Debian packages buildah, mmdebstrap, jq and curl.   Usage: deploy/try-image.sh
set -euo pipefail
cd "$(dirname "$0")/.."
here=$(mktemp -d)
export BUILDAH_ISOLATION=chroot CONTAINERS_STORAGE_CONF=$here/storage.conf TMPDIR=$here
printf '[storage]\ndriver = "vfs"\nrunroot = "%s/run"\ngraphroot = "%s/storage"\n' "$here" "$here" > "$CONTAINERS_STORAGE_CONF"
end() {
  local status=$?
  [ ! -f "$here/data/pid" ] || kill -KILL "$(cat "$here/data/pid")" 2> /dev/null || true
  buildah umount --all > /dev/null 2>&1 || true
  rm -rf --one-file-system "$here"
  [ "$status" -eq 0 ] || echo "try-image: failed" >&2
}
trap end EXIT
fail() { echo "try-image: $*" >&2; exit 1; }

# What stands for node:VERSION-bookworm-slim: Debian, node, npm, and a user of that name.
node=$(sed -n 's/^ARG NODE=node:\([0-9.]*\)-.*/\1/p' Dockerfile)
(cd "$here" && npm pack --silent "node-linux-$(node -p process.arch)@$node" "npm@$(npm --version)" > /dev/null)
mmdebstrap --quiet --variant=minbase --mode=root --include=passwd bookworm "$here/debian.tar"
base=$(buildah from scratch)
root=$(buildah mount "$base")
tar xf "$here/debian.tar" -C "$root"
tar xf "$here"/node-linux-*.tgz -C "$root/usr/local" --strip-components=1 package/bin
mkdir -p "$root/usr/local/lib/node_modules/npm" "$root/usr/local/etc"
tar xf "$here"/npm-*.tgz -C "$root/usr/local/lib/node_modules/npm" --strip-components=1
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
chown -R 0:0 "$root/usr/local"
chmod 0755 "$root/usr/local/bin/node"
chroot "$root" sh -c 'groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node'
buildah umount "$base" > /dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$base"
buildah commit --quiet --rm "$base" localhost/arkgraph-try-base > /dev/null
rm "$here"/*.t*

# npm in the build asks where npm here asks, believes whom it believes, and finds what it has fetched already.
printf 'registry=%s\ncache=/run/npm-cache\n' "$(npm config get registry)" > "$here/npmrc"
cache=$(npm config get cache)
mkdir -p "$cache"
lend=(--volume "$here/npmrc:/usr/local/etc/npmrc:ro" --volume "$cache:/run/npm-cache:rw")
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  echo "cafile=/run/ca.crt" >> "$here/npmrc"
  lend+=(--volume "$NODE_EXTRA_CA_CERTS:/run/ca.crt:ro")
fi
# The format of OCI has no health check.
# npm opens many files at a time, more than the builder allows by default.
files=$(ulimit -Hn)
buildah bud --quiet --format docker --network host --ulimit "nofile=$files:$files" --build-arg NODE=localhost/arkgraph-try-base "${lend[@]}" --tag localhost/arkgraph-try . > /dev/null

box=$(buildah from localhost/arkgraph-try)
# Its volume is lent below.
buildah config --volume /data- "$box"
root=$(buildah mount "$box")
buildah inspect --type image localhost/arkgraph-try > "$here/image.json"
mapfile -t command < <(jq -r '.Docker.config.Cmd[]' "$here/image.json")
mapfile -t health < <(jq -r '.Docker.config.Healthcheck.Test[1:][]' "$here/image.json")
[ "$(jq -r .Docker.config.User "$here/image.json")" = node ] || fail "it does not run as node"
[ "${#health[@]}" -gt 0 ] || fail "it has no health check"
for package in typescript esbuild vitest oxlint; do [ ! -e "$root/app/node_modules/$package" ] || fail "$package is in it"; done
[ -z "$(find "$root/app" "$root/data" -name '.env*' -not -path '*/node_modules/*')" ] || fail "a file of secrets is in it"
[ "$(stat -c '%u %a' "$root/data")" = "1000 700" ] || fail "/data is not its user's alone"
writable=$(find "$root/app" "$root/usr" "$root/etc" \( -uid 1000 -o -gid 1000 -o -perm -0002 \) -not -type l)
[ -z "$writable" ] || fail "its user may write $writable"

mkdir -m 0700 "$here/data"
chown 1000:1000 "$here/data"
port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
url=http://127.0.0.1:$port
inside() { buildah run --network host --volume "$here/data:/data" --env PORT="$port" "$box" -- "$@"; }
start() {
  # shellcheck disable=SC2016 -- the shell in the image expands it
  inside sh -c 'echo $$ > /data/pid; exec "$@"' sh "${command[@]}" > "$here/log" 2>&1 &
  running=$!
  for ((turn = 0; turn < 120; turn++)); do
    kill -0 "$running" 2> /dev/null || { cat "$here/log" >&2; fail "it did not start"; }
    ! curl -sf "$url/healthz" > /dev/null || break
    sleep 0.5
  done
  inside "${health[@]}" || fail "its health check says no"
}
stop() {
  kill -TERM "$(cat "$here/data/pid")"
  wait "$running" || fail "it did not end cleanly"
  rm "$here/data/pid"
}

inside arkgraph --help > /dev/null || fail "the command arkgraph is not on its path"
start
inside arkgraph demo-crate /data/crate.zip > /dev/null
mail=try@example.org password=$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
curl -sf "$url/user" -H 'Content-Type: application/json' -d "{\"name\":\"Try\",\"email\":\"$mail\",\"password\":\"$password\"}" > /dev/null
token=$(curl -sf "$url/token" -d "username=$mail" -d "password=$password" | jq -r .access_token)
submission=$(curl -sf "$url/rocrate/upload-async" -H "Authorization: Bearer $token" -F "file=@$here/data/crate.zip" | jq -r .submissionUUID)
for ((turn = 0; turn < 120; turn++)); do
  curl -sf "$url/rocrate/upload/status/$submission" -H "Authorization: Bearer $token" > "$here/status"
  ! jq -e .completed "$here/status" > /dev/null || break
  sleep 0.5
done
jq -e .success "$here/status" > /dev/null || fail "a crate was not taken in: $(cat "$here/status")"
crate=$(jq -r .rocrateIdentifier "$here/status")
stop
start
curl -sf "$url/$crate" > /dev/null || fail "the crate is gone after a restart"
stop
echo "the image works; what it adds to its base: $(du -sm "$root/app" | cut -f 1) MB"
