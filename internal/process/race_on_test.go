//go:build race

package process_test

const raceDetector = true
