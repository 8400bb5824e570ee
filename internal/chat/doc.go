// Package chat is the vocabulary between the core and the platforms: addresses, route keys, events that came in, messages
// that go out, and the contract of an adapter.
//
// It is a leaf that imports only the standard library. It holds no policy (who may talk, which session answers), no state
// and no platform's particulars: those are facts that an adapter declares as values of these types.
package chat
