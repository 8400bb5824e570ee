package machine

import "slices"

// layered is a layer of whatever table.
type layered interface {
	follow(old layered)
	changes(out []Change) []Change
	fold()
	recycle(old layered)
}

// layer is one table of an overlay: it reads through to the base and keeps what was set, in the order in which it first
// was. A nil pointer deletes.
type layer[K ~string, V any] struct {
	table Table // none: what is in it follows from another one
	base  table[K, V]
	under map[K]*V // what the batch before this one has set, as long as it may not be in base; nobody changes it any more
	set   map[K]*V
	order []K
}

// follow makes it the layer of the batch after old's.
func (l *layer[K, V]) follow(old layered) {
	o := old.(*layer[K, V])
	*l = layer[K, V]{table: o.table, base: o.base, under: o.set}
}

func (l *layer[K, V]) get(k K) (V, bool) {
	v, ok := l.set[k]
	if !ok {
		v, ok = l.under[k]
	}
	if !ok {
		v = l.base[k]
	}
	if v == nil {
		var zero V
		return zero, false
	}
	return *v, true
}

func (l *layer[K, V]) put(k K, v V) {
	if p := l.set[k]; p != nil {
		*p = v // nobody else has it before the batch is closed
		return
	}
	fresh := v // here, and not above: v itself would be allocated at every call
	l.keep(k, &fresh)
}

func (l *layer[K, V]) del(k K) { l.keep(k, nil) }

func (l *layer[K, V]) keep(k K, v *V) {
	if l.set == nil {
		l.set = map[K]*V{}
	}
	if _, ok := l.set[k]; !ok {
		l.order = append(l.order, k)
	}
	l.set[k] = v
}

// empty tells without a look at the keys that there are none.
func (l *layer[K, V]) empty() bool { return len(l.base)+len(l.under)+len(l.set) == 0 }

// all yields the keys of base and overlay in order.
func (l *layer[K, V]) all() []K {
	keys := make([]K, 0, len(l.base)+len(l.under)+len(l.set))
	for k := range l.base {
		keys = append(keys, k)
	}
	for _, m := range []map[K]*V{l.under, l.set} {
		for k := range m {
			if l.base[k] == nil {
				keys = append(keys, k)
			}
		}
	}
	keys = slices.DeleteFunc(keys, func(k K) bool { _, there := l.get(k); return !there })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// fold is for the batch whose layer this is, once the one before it was folded.
func (l *layer[K, V]) fold() {
	for k, v := range l.set {
		if v == nil {
			delete(l.base, k)
		} else {
			l.base[k] = v
		}
	}
}

// recycle takes the room of a layer that is over.
func (l *layer[K, V]) recycle(old layered) {
	was := old.(*layer[K, V])
	clear(was.set)
	l.set, l.order = was.set, empty(was.order)
}

// changes is for the batch whose layer this is, once the one before it was folded.
func (l *layer[K, V]) changes(out []Change) []Change {
	if l.table == "" {
		return out
	}
	for _, k := range l.order {
		if v := l.set[k]; v != nil {
			out = append(out, Change{l.table, string(k), v})
		} else if _, there := l.base[k]; there {
			out = append(out, Change{l.table, string(k), nil})
		}
	}
	return out
}

// empty is the room of a list.
func empty[T any](list []T) []T {
	clear(list)
	return list[:0]
}
