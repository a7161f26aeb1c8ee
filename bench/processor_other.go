//go:build !unix

package main

import "time"

// processorTime is not known on this system.
func processorTime() time.Duration { return 0 }

// systemTime is not known either.
func systemTime() time.Duration { return 0 }

// pageFaults are not known on this system.
func pageFaults() int64 { return 0 }
