package main

import (
	"os"
	"testing"
	"time"
)

func TestBare(t *testing.T) {
	dir, _ := os.MkdirTemp("/work/main/bench", "tmp")
	defer os.RemoveAll(dir)
	l, err := openBareLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []int{1, 16, 256} {
		n, took, err := closedLoop(c, 2*time.Second, l.cycle)
		t.Log(c, float64(n)/took.Seconds(), "cycles/s", err)
	}
	l.close()
}
