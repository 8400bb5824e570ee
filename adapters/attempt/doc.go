// Package attempt makes calls of a platform's HTTP API as adapters need them: one attempt, never a second, and an error that
// says how far it came and holds no secret. What an answer means is each adapter's own.
package attempt
