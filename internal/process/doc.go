// Package process runs commands that outlive the daemon: each under a small supervisor of its own, the homing binary
// re-executed in a hidden mode, working in one directory per process. It also is the client that starts supervisors,
// finds them again after a restart, reads their output and kills their groups.
//
// The directory of a process, made exclusively, is all that the two sides share:
//
//	command.json    what is to be run, written before the supervisor starts
//	lock            flock held from before the supervisor is forked until it ends: held means alive, nothing else does
//	started         who supervises and who leads the command's group; on disk before the command is executed
//	leader.json     the leader ended but left something in its group
//	exit.json       how it ended; written once, whole or not at all
//	kill            a kill is wanted, and why
//	output.log      the first and the last bytes of the output; output.count tells how to read it
//	control         FIFO: a byte in it makes the supervisor look for a kill
//	gate.*          FIFOs that hang up when started, leader.json or exit.json is there, or the supervisor is gone
//
// Both halves lean on the kernel for what must hold when either is killed at any instruction: the lock passes from the
// client to the supervisor by inheritance, so it is never free in between; a gate hangs up with its last writer, so a
// wait needs neither a process number nor polling; the leader gets SIGKILL with its supervisor.
//
// A supervisor outlives the daemon, but not a service manager that ends whatever the daemon has started: under systemd the
// unit needs KillMode=process. Told to stop by SIGTERM, a supervisor ends its command and records it as killed.
//
// The package knows nothing of sessions, owners or notices, and decides nothing about what an end means.
package process
