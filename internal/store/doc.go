// Package store keeps the machine's records in one bbolt file and a log beside it. It writes batches, loads what lives at a
// start, and reads committed records for everybody who is not the writer. It decides nothing.
//
// This is the only package that imports bbolt, so that a second engine can stand behind the same writer. Sync is never
// switched off, and no function here calls out while a transaction is open.
//
// Layout: a batch is appended to the log and comes to its tables later (log.go, commit.go). There is one bucket for each
// machine.Table, and one with the suffix ".done" for what is over, so that a start reads only what lives. Keys are the ids
// themselves, which sort in the order in which they were made; entries lie under "<session>\x00<8 bytes, big endian>", the
// journal of a batch in one record under the number of its first line, 8 bytes, big endian, the list of a place's
// conversations under "<route key>\x00<session>". The bucket "meta" holds the schema version under "schema", the machine's
// own counters under "meta", and which log goes on from the tables under "log", while there is one.
//
// Values: sessions, routes, lanes, turns, actions, processes, completions, outgoing messages, previews, entries, the journal,
// marks, positions and the machine's counters are in protobuf's wire format (fields.go), with the numbers that records.go gives
// their fields; a record that is zero has no bytes at all. Delegations, aliases, pauses and events set aside are
// JSON, as all records were once. An old value is JSON until it is written again, and needs no migration: JSON begins with '{', which no
// value of the other form does.
package store
