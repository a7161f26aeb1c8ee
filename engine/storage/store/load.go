package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"ndd/engine/memory"
)

// readBytes is the size of one read from the file.
const readBytes = 8 << 20

// Load is [Open] for a file that is read into memory outside the Go heap, with huge pages, instead of
// being mapped: random probes are faster there than in a mapped file with pages of 4 KiB. It takes the
// size of the file in memory, which the caller has reserved (package memory), and reads with the given
// number of goroutines until ctx ends. Later changes of the file have no effect.
func Load(ctx context.Context, path string, kind Kind, threads int) (*File, error) {
	return open(path, kind, func(file *os.File, bytes int64) ([]byte, func() error, error) {
		if int64(int(bytes)) != bytes {
			return nil, nil, fmt.Errorf("%s: %d bytes do not fit this machine's address space", path, bytes)
		}
		buffer, err := memory.Make[uint8](int(bytes))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := readAll(ctx, file, buffer.Data, threads); err != nil {
			buffer.Free()
			return nil, nil, err
		}
		return buffer.Data, func() error { buffer.Free(); return nil }, nil
	})
}

// readAll fills data from the beginning of the file.
func readAll(ctx context.Context, file *os.File, data []byte, threads int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(threads, 1))
	for at := 0; at < len(data); at += readBytes {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err := file.ReadAt(data[at:min(at+readBytes, len(data))], int64(at))
			if errors.Is(err, io.EOF) {
				err = &CorruptError{File: file.Name(), Section: "trailer", Block: -1, Offset: int64(at), Why: "the file was truncated while it was read"}
			}
			return err
		})
	}
	return group.Wait()
}
