#!/usr/bin/env bash
# Looks for known vulnerabilities in what the binary reaches, offline: the database is a module of its own, pinned.
# Findings of the standard library that a newer patch release of Go mends are listed in vuln-allow.txt with a date; what is
# not listed there fails. Build releases with the newest patch release.
set -euo pipefail
cd "$(dirname "$0")/.."
module=$1
dir=$(go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
[ -n "$dir" ] || { echo "the database $module could not be fetched"; exit 1; }
status=0
found=$(go tool -modfile=tools/go.mod govulncheck -db "file://$dir/data/osv" -format text ./...) || status=$?
if [ "$status" != 0 ] && [ "$status" != 3 ]; then # 3: there are findings
	printf '%s\n' "$found"
	echo "govulncheck failed with $status"
	exit 1
fi
ids=$(grep -oE '^Vulnerability #[0-9]+: GO-[0-9-]+' <<<"$found" | grep -oE 'GO-[0-9-]+' | sort -u || true)
bad=0
for id in $ids; do
	if ! grep -q "^$id " tools/vuln-allow.txt; then
		echo "$id is not in tools/vuln-allow.txt"
		bad=1
	fi
done
if [ "$bad" = 1 ]; then
	printf '%s\n' "$found"
	exit 1
fi
echo "govulncheck: $(wc -w <<<"$ids") finding(s), all allowed"
