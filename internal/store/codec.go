package store

import "encoding/json"

// appendValue appends a record in the form in which it is stored.
func appendValue(dst []byte, record any) ([]byte, error) {
	b, err := json.Marshal(record)
	return append(dst, b...), err
}

// decodeValue reads a stored record. The record keeps nothing of v.
func decodeValue[T any](v []byte, record *T) error { return json.Unmarshal(v, record) }
