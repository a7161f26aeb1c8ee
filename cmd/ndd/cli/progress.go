package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"ndd/engine/corpus/document"
	"ndd/engine/near/cluster"
)

// Progress shows on standard error how far a command is. Its first fields are flags.
type Progress struct {
	Format         string // of the log
	Quiet, verbose bool
	off            bool

	stderr   io.Writer
	log      *slog.Logger
	messages *messages // the destination of the log
}

// A Bar shows progress on standard error if that is a terminal, and lines of the log otherwise
// (told.go). It is drawn ten times a second, however often it is set; Set may be called from many
// goroutines.
type Bar struct {
	done, total atomic.Int64
	end         func()
}

// messages writes the lines of the log, above the bar while there is one, which would draw over
// lines between its own.
type messages struct {
	out io.Writer
	bar atomic.Pointer[mpb.Progress]
}

func (m *messages) Write(p []byte) (int, error) {
	if b := m.bar.Load(); b != nil {
		if n, err := b.Write(p); !errors.Is(err, mpb.ErrDone) {
			return n, err
		}
	}
	return m.out.Write(p)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A progressText returns the text behind a bar for an amount done, the total, which is 0 while it
// is unknown, and the time since the start.
type progressText func(done, total int64, took time.Duration) string

// NewBar begins the bar of a task. While total is 0, for unknown, only the text is shown.
func (p *Progress) NewBar(task string, total int64, text progressText) *Bar {
	b := &Bar{}
	b.total.Store(total)
	b.end = p.draw(task, text, nil, func() (int64, int64) { return b.done.Load(), b.total.Load() })
	return b
}

// draw draws a bar until the returned function is called. It calls read for the amount done and the
// total. m is nil where no documents are read.
func (p *Progress) draw(task string, text progressText, m *document.Meter,
	read func() (done, total int64)) (end func()) {
	told := p.tell(task, text, m, read)
	if p.silent() {
		return told
	}
	container := mpb.New(mpb.WithOutput(p.stderr), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	begun, filler := time.Now(), mpb.BarStyle().Build()
	fill := func(w io.Writer, s decor.Statistics) error {
		if s.Current, s.Total = read(); s.Total <= 0 {
			return nil
		}
		return filler.Fill(w, s)
	}
	bar := container.MustAdd(0, mpb.BarFillerFunc(fill), mpb.PrependDecorators(decor.Name(task+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			done, total := read()
			return text(done, total, time.Since(begun))
		})))
	p.messages.bar.Store(container)
	return sync.OnceFunc(func() {
		told()
		bar.Abort(true)
		container.Wait()
		p.messages.bar.CompareAndSwap(container, nil)
	})
}

// silent reports whether no bar is drawn.
func (p *Progress) silent() bool { return p.Quiet || p.off || !isTerminal(p.stderr) }

// BytesUnit is a [progressText] for amounts in bytes.
func BytesUnit(done, total int64, took time.Duration) string {
	return amounts(done, total, took, func(n int64) string { return humanize.IBytes(uint64(n)) })
}

// CountUnit is a [progressText] for counts.
func CountUnit(done, total int64, took time.Duration) string {
	return amounts(done, total, took, humanize.Comma)
}

// amounts formats an amount done with the total, the rate and the time left, as far as they are
// known: "1.5 GiB / 4.0 GiB, 300 MiB/s, 9s left". Rates appear after the first second.
func amounts(done, total int64, took time.Duration, write func(int64) string) string {
	text := write(done)
	if total > 0 {
		text += " / " + write(total)
	}
	rate := float64(done) / took.Seconds()
	if took < time.Second || done <= 0 {
		return text
	}
	if rate >= 1 {
		text += ", " + write(int64(rate)) + "/s"
	}
	if total > done {
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		text += ", " + left.Round(time.Second).String() + " left"
	}
	return text
}

// Set moves the bar to the amount done.
func (b *Bar) Set(done int64) { b.done.Store(done) }

// SetOf sets the total and moves the bar to the amount done.
func (b *Bar) SetOf(done, total uint64) {
	b.total.Store(int64(total))
	b.done.Store(int64(done))
}

// End removes the bar. Later calls do nothing.
func (b *Bar) End() { b.end() }

// NewMeterBar returns a bar that follows the bytes of a meter.
func (p *Progress) NewMeterBar(task string, m *document.Meter) *Bar {
	return &Bar{end: p.draw(task, reading(m), m, func() (int64, int64) { return m.Bytes.Load(), 0 })}
}

// NewInputBar returns a bar that follows the bytes of a meter while inputs are read. The sizes of
// files are looked up meanwhile; for pipes and objects the bar has no total.
func (p *Progress) NewInputBar(ctx context.Context, task string, inputs []string, m *document.Meter) *Bar {
	return p.NewShareBar(ctx, task, inputs, document.Options{Meter: m})
}

// NewShareBar is [Progress.NewInputBar] of the files of a share.
func (p *Progress) NewShareBar(ctx context.Context, task string, inputs []string, o document.Options) *Bar {
	m := o.Meter
	if p.Quiet || p.off || slices.ContainsFunc(inputs, document.ReadOnce) {
		return p.NewMeterBar(task, m)
	}
	b := &Bar{}
	end := p.draw(task, reading(m), m, func() (int64, int64) { return m.Bytes.Load(), b.total.Load() })
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		if p.silent() { // until the first line; most commands end before
			select {
			case <-ctx.Done():
			case <-time.After(tellEach / 2):
			}
		}
		b.total.Store(sizeOf(ctx, o.Files(ctx, inputs)))
	})
	b.end = func() {
		cancel()
		looking.Wait()
		end()
	}
	return b
}

// sizeOf returns the size of all files, or 0 if ctx ends first or one is not known.
func sizeOf(ctx context.Context, files iter.Seq2[document.File, error]) (bytes int64) {
	for f, err := range files {
		if ctx.Err() != nil {
			return 0
		}
		if err != nil {
			continue // reading the file reports the error
		}
		size, known := f.Size()
		if !known {
			return 0
		}
		bytes += size
	}
	return bytes
}

// NewCompareBar returns a bar that follows fingerprints while they are compared and shows the
// number of duplicates so far.
func (p *Progress) NewCompareBar(task string, m *cluster.Meter) *Bar {
	text := func(done, total int64, _ time.Duration) string {
		share := fmt.Sprintf("%d %%", 100*done/max(1, total))
		if n := m.Joined.Load(); n > 0 { // large inputs are searched for what is near at all, before it is joined
			share += fmt.Sprintf(", %s near so far", humanize.Comma(n))
		}
		return share
	}
	return &Bar{end: p.draw(task, text, nil, func() (int64, int64) { return m.Compared.Load(), m.Total.Load() })}
}
