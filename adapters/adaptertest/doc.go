// Package adaptertest is the conformance suite of the adapters: one table of behaviours that the core relies on, played
// against a fake of the platform that behaves like the real one.
//
// An adapter's own test ties its fake to the suite by implementing Platform and calling Run. Each behaviour has a
// platform, a network and a clock of its own (a bubble of testing/synctest), so that hours of silence and dead connections
// take no time, and nothing is shared. What a platform cannot do is declared in Traits with its reason. What each platform
// was seen to do is kept in testdata and is what docs/adapters.md shows; a document that says something else fails a test.
//
// The fakes live in folders below; Foreign checks them against client libraries that others wrote.
package adaptertest
