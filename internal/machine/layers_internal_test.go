package machine

import (
	"reflect"
	"testing"

	"github.com/homing-gateway/homing/internal/id"
)

// A table that a batch does not know of would be lost with the batch: every layer of an overlay is in its list, once.
func TestEveryLayerIsListed(t *testing.T) {
	o := NewState(func(string) Policy { return Policy{} }, id.NewSource(nil)).Overlay()
	listed := map[uintptr]bool{}
	for _, l := range o.layers() {
		listed[reflect.ValueOf(l).Pointer()] = true
	}
	fields := reflect.ValueOf(o).Elem()
	n := 0
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.Kind() != reflect.Struct || f.NumField() == 0 || f.Type().Field(0).Type != reflect.TypeFor[Table]() {
			continue // no layer
		}
		if n++; !listed[f.Addr().Pointer()] {
			t.Errorf("layers lacks %s", fields.Type().Field(i).Name)
		}
	}
	if n != len(listed) {
		t.Errorf("the overlay has %d layers, %d are listed", n, len(listed))
	}
}
