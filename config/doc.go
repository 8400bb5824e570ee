// Package config turns one YAML file, the environment and the command line's flags into one typed, checked Config, and
// can tell of every value where it came from.
//
// The struct tags of Config are the only table of keys: decoding, the names in the environment, defaults, limits, `config
// show` and the JSON Schema are all read from it. The file is read as a tree, so that letter case, the digits of an id and
// the line of every key survive; the layers above the file (environment, flags, defaults) are put on top of each other by
// viper, which lives in layers.go and sees nothing but names of known leaves.
//
// What must not be here: what a setting means to the rest of the program, reading of os.Getenv or of flags, names of
// settings looked up by text outside this package, and any import of this module's other packages. A loaded Config is a
// value; nobody changes it, a reload makes another one.
package config
