package config

import "github.com/spf13/viper"

// layers puts candidates for the leaves on top of each other: flag > HOMING_ variable > file > usual variable > default.
//
// The layers are viper's. It lowers the case of keys, splits them at its delimiter, collapses maps and reads the process's
// environment when asked to; so it is given nothing but the paths of known leaves as flat keys, whole candidates as values,
// and variables that were looked up already. No data of a user is ever a key of it.
type layers struct{ v *viper.Viper }

func newLayers() layers {
	return layers{v: viper.NewWithOptions(viper.KeyDelimiter("\x1f"))}
}

// fallback puts a candidate at the bottom, in place of an earlier fallback.
func (l layers) fallback(path string, c candidate) { l.v.SetDefault(path, c) }

// merge puts a layer above the fallbacks and above the layers merged before it.
func (l layers) merge(layer map[string]candidate) error {
	m := make(map[string]any, len(layer))
	for path, c := range layer {
		m[path] = c
	}
	return l.v.MergeConfigMap(m)
}

// override puts a candidate above everything else.
func (l layers) override(path string, c candidate) { l.v.Set(path, c) }

// top gives the candidate that wins.
func (l layers) top(path string) candidate {
	c, _ := l.v.Get(path).(candidate)
	return c
}
