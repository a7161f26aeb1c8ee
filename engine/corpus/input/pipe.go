package input

import (
	"context"
	"io"
	"os"
)

const pipeBytes = 128 << 10 // one read of a pipe

// Patient returns a reader of standard input or a pipe. Its reads end with the context, because more data may never
// come. A pending read of r cannot be cancelled; its goroutine ends after that read.
func Patient(ctx context.Context, r io.Reader) io.ReadCloser {
	return &patientReader{ctx: ctx, open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// OpenPipe is like [Patient] for a named pipe. The first read opens it, because opening waits for a writer.
func OpenPipe(ctx context.Context, path string) io.ReadCloser {
	return &patientReader{ctx: ctx, open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

type patientReader struct {
	ctx  context.Context
	open func() (io.ReadCloser, error)
	from *io.PipeReader // nil before the first read
}

func (p *patientReader) Read(to []byte) (int, error) {
	if p.from == nil {
		var w *io.PipeWriter
		p.from, w = io.Pipe()
		stop := context.AfterFunc(p.ctx, func() { w.CloseWithError(p.ctx.Err()) })
		go func() {
			defer stop()
			in, err := p.open()
			if err == nil {
				defer in.Close()
				_, err = io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, pipeBytes))
			}
			w.CloseWithError(err)
		}()
	}
	return p.from.Read(to)
}

// Close ends the reading.
func (p *patientReader) Close() error {
	if p.from == nil {
		return nil
	}
	return p.from.Close()
}
