// Package fakeopenai is a chat completions server that answers what a test tells it to: well-formed streams, and every
// way in which real servers and networks fail.
//
// It is for tests only, of the provider as of the whole program. It knows the protocol and nothing of the code that it
// tests, so that the two can disagree.
package fakeopenai
