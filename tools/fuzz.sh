#!/usr/bin/env bash
# Runs every fuzz target of the module, found by its name: for the given time (10s), or for the given number of inputs
# (2000x), each.
set -euo pipefail
cd "$(dirname "$0")/.."
grep -rnoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | while IFS=: read -r file _ target; do
	target=${target#func }
	echo "+ $target (${file#./})"
	go test -run='^$' -fuzz="^$target\$" -fuzztime="$1" -fuzzminimizetime=10x "./$(dirname "${file#./}")"
done
