// Package gateway carries out what the machine decided: it asks models, tends processes, sends messages, supervises the
// accounts, and turns what people and platforms do into requests. It reports back by requests and changes nothing by
// itself; a lane of a session is a turn's step in hand, and no goroutine while idle.
//
// It names no platform: those are adapters behind chat.Adapter, and one account after the other is the same to it.
package gateway
