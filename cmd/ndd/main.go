// Command ndd finds near-duplicates: it fingerprints documents, indexes
// fingerprints in permuted tables, and answers which of them are within k bits
// of a query, exactly, alone, by the million, or over HTTP.
//
//	main.go, root.go, exit.go      the program: signals, commands, exit statuses
//	complete.go, help.go, man.go   what tells about the commands: completion, pages of help/, manual pages
//	corpus/ design/ index/ inspect/ query/ dedup/ copies/ mapreduce/ serve/   the commands, by job
//	cli/                           what they share: flags, inputs, outputs, messages
//	server/, client/               the HTTP server behind `ndd serve`, and Go's client of it
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// A reader of standard output that has seen enough (| head) is an error of
	// writing like others, so that what is unfinished is removed.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruptible returns a context that the first signal cancels: the work then leaves
// nothing half written. A later one ends the process at once, but for what comes
// together with the first: timeout(1) sends two, to the process and to its group.
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
