package store

import (
	"io"
	"os"
	"sync"
)

// mapSize is the address space that is mapped at once.
const mapSize = 1 << 30

// preread reads the file once, with several readers, so that the walk that follows finds it in memory: bbolt maps it for
// random access, and a cold walk would fault it in page by page.
func preread(path string) {
	f, err := os.Open(path)
	if err != nil {
		return // Open tells
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return
	}
	const readers, chunk = 4, 1 << 20
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			buf := make([]byte, chunk)
			for off := int64(r) * chunk; off < st.Size(); off += readers * chunk {
				if _, err := f.ReadAt(buf, off); err != nil && err != io.EOF {
					return
				}
			}
		})
	}
	wg.Wait()
}
