// Package agent is the contract between a turn and a model: the request that one step sends, the answer that comes back,
// and the typed errors that say how to go on.
//
// It holds no session, no state of a turn and no retry: one call of Provider.Complete is one attempt. The providers live
// in packages below this one. What a tool does is not known here; a tool is a name, a description and a schema.
package agent
