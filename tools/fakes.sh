#!/usr/bin/env bash
# Checks the fake platforms against client libraries that others wrote: each is installed, pinned, into a temporary folder,
# and the tests named TestForeignClient run small bots on them. Needs node and npm.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --silent grammy@1.46.0 discord.js@14.28.1 @slack/bolt@5.1.0
NODE_MODULES="$dir/node_modules" go test -count=1 -v -run '^TestForeignClient$' ./adapters/adaptertest/... | grep -v 'no test'
