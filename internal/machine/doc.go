// Package machine is the heart of Homing: one deterministic state machine with one writer.
//
// Requests are data: a message came in, a process ended, a send came back. The writer takes what has queued, lets Apply
// decide on each against an Overlay of the State (check first, then change), commits the changes of the whole batch as one,
// and only then lets the answers and the effects out: durable before told. While a batch is on its way to the disk the next
// one is decided upon it. Effects are data as well, and level-triggered: what Recover asks for at a start follows from the
// State alone, and is everything that remains to be done.
//
// The rules themselves live in packages session and delivery. There is no I/O here but the commit function that Run is
// given, and no goroutine but the one that calls Run and the one that writes the batch before.
package machine
