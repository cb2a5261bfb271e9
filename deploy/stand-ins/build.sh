#!/usr/bin/env bash
# Makes images that stand in for the public ones of Dockerfile and docker-compose.yaml, under their names, and the
# product's own image upon one of them: to try both where no registry is reached.
#   deploy/stand-ins/build.sh BASE     an image of the engine: Debian with python3, venv, pip, ca-certificates
# Takes the host's certificates, and `weed` from the environment that ./test made (or PATH).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$here"/* "$context"
cp /etc/ssl/certs/ca-certificates.crt "$context/certificates.crt"
cp -L "$(PATH="$root/.venv/bin:$PATH" command -v weed)" "$context/weed"
build() { docker build -q --network=host --build-arg "BASE=$1" -t "$2" -f "$context/$3.Dockerfile" "$context"; }
build "$1" stand-in-python python
build "$1" postgres:17 postgres
build "$1" chrislusf/seaweedfs:4.48 store
docker build --network=host --build-arg BASE=stand-in-python -t repro-pipeline "$root"
