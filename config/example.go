package config

import _ "embed"

//go:embed homing.example.yaml
var example string

// Example gives the commented file that holds every key with its default. It loads as it is and changes nothing: keys whose
// value depends on the environment, and those of what is not built yet, are commented out with a # right before the key.
func Example() []byte { return []byte(example) }
