#!/usr/bin/env bash
# Measures Homing against the limit of the disk and against River on PostgreSQL, and writes docs/performance.md. It takes
# some minutes and wants a machine that does nothing else. PostgreSQL comes from Debian's package, which is installed if it is
# not there; a cluster of its own is made for the measurement, and removed.
set -euo pipefail
cd "$(dirname "$0")/../bench"
if ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then
	echo "+ apt-get install postgresql"
	apt-get update -qq && apt-get install -y -qq postgresql
fi
exec go run . -homing ../bin/homing -o ../docs/performance.md "$@"
