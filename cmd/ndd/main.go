// Command ndd finds near-duplicates: it fingerprints documents, indexes
// fingerprints in permuted tables, and answers which of them are within k bits
// of a query, exactly, alone, by the million, or over HTTP.
//
//	main.go, root.go, exit.go      the program: signals, commands, exit statuses
//	complete.go, help.go, man.go   completion, the pages of help/, manual pages
//	corpus/ design/ index/ inspect/ query/ dedup/ copies/ passages/ mapreduce/ serve/   the commands, by job
//	cli/                           shared by them: flags, inputs, outputs, messages
//	server/                        the HTTP server behind `ndd serve`
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// When the reader of standard output has seen enough (| head), the next write fails like any
	// other, so that unfinished files are removed.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruptible returns a context that the first signal cancels, so that nothing is left half
// written. A second signal ends the process at once, unless it comes together with the first:
// timeout(1) sends two, to the process and to its group.
func interruptible() context.Context {
	const together = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		time.Sleep(together)
		signal.Reset(os.Interrupt, syscall.SIGTERM)
	}()
	return ctx
}
