// Command ndd finds near-duplicate documents. It makes fingerprints of documents, stores
// them in permuted tables, and finds exactly the fingerprints within k bits of a query: single
// queries, batches of millions, or over HTTP.
//
//	main.go, root.go, exit.go      the program: signals, commands, exit statuses
//	complete.go, help.go, man.go   completion, the pages of help/, manual pages
//	corpus/ design/ index/ inspect/ query/ dedup/ copies/ passages/ mapreduce/ serve/   the commands, by job
//	cli/                           common to all commands: flags, inputs, outputs, messages
//	server/                        the HTTP server of `ndd serve`
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// If the reader of standard output closes it (| head), the next write fails like any other, so that
	// unfinished files are removed.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruptible returns a context that the first signal cancels, so that unfinished files are removed. A second signal
// ends the process at once, unless it arrives together with the first: timeout(1) sends one to the process and one to
// its group.
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
