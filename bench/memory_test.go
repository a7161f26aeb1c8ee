package main

import (
	"fmt"
	"sync"
	"testing"
)

var printMemory = sync.OnceFunc(func() { fmt.Printf("memory: %v\n", machineMemory()) })

// reportMemory puts the machine's figures beside a benchmark's own.
func reportMemory(b *testing.B) memoryFigures {
	b.Helper()
	printMemory()
	b.ReportMetric(machineMemory().ReadGBps, "machine-GB/s")
	return machineMemory()
}
