// Command ndd finds near-duplicates: it fingerprints documents, indexes
// fingerprints in permuted tables, and answers which of them are within k bits
// of a query, exactly, alone, by the million, or over HTTP.
//
//	main.go, root.go     the program: signals, flags that all commands share, exit status
//	fingerprint.go ...   one file a command
//	input.go, output.go  what commands read and write
//	server/              the HTTP server behind `ndd serve`
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The first signal cancels the work, which then leaves nothing half
	// written; a second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
