// Package view turns committed records into what the outside sees: the JSON objects of the command line, the texts of the
// chat commands, and the causal chain of a trace. It reads the store and changes nothing, so that the same code serves the
// admin socket of a running daemon and a command that reads while none runs.
package view
