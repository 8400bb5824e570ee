// Package tool is the contract with the model about tools: their names, what the model is told of them, their arguments
// as typed values, and their results as JSON. The machine decides with these values; the gateway carries out.
//
// Nothing here runs anything.
package tool
