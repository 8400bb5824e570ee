package view

// The words are for tests to hold against the lists of reasons.
var (
	ReasonWords = reasonWords
	EndWords    = endWords
)
