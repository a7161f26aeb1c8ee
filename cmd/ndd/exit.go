package main

import (
	"context"
	"errors"
	"syscall"

	"example.org/ndd/asm"
	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/storage/store"
)

// Exit status.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCorrupt     = 3 // corrupt or mismatched data
	exitPartly      = 4 // done in part: some input was skipped
	exitInterrupted = 130
	exitPipe        = 141 // the reader of standard output has closed it; shells report this status for SIGPIPE
)

func exitStatus(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case errors.Is(err, cli.ErrUsage), errors.Is(err, asm.ErrKernel):
		return exitUsage
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, columns.ErrCorrupt), errors.Is(err, simhash.ErrMixed),
		errors.Is(err, copies.ErrMixed), errors.Is(err, mapreduce.ErrLost), errors.Is(err, mapreduce.ErrJob),
		errors.Is(err, mapreduce.ErrRecipe):
		return exitCorrupt
	case errors.Is(err, cli.ErrPartly), errors.Is(err, mapreduce.ErrUnfinished), errors.Is(err, mapreduce.ErrSkipped):
		return exitPartly
	}
	return exitFailed
}
