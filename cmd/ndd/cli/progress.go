package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// A Bar shows progress on standard error, when that is a terminal, and
// otherwise nothing. Set may be called from many goroutines and as often as
// one likes.
type Bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
	last     atomic.Int64 // when it was drawn, in nanoseconds
	messages *messages
}

// messages are the lines of the log, written above a bar while there is one: between its own lines they
// would be drawn over.
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

// isTerminal says whether what is written to w is shown to a person.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progressText returns the text behind a bar for what is done of a total, which is 0 while it is
// unknown, and the time since the start.
type progressText func(done, total int64, took time.Duration) string

// NewBar begins a bar of a task; total may be 0 while it is unknown: then there is only the text.
func (g *Globals) NewBar(task string, total int64, text progressText) *Bar {
	if g.Quiet || g.noProgress || !isTerminal(g.Stderr) {
		return &Bar{}
	}
	p := mpb.New(mpb.WithOutput(g.Stderr), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	begun := time.Now()
	b := p.New(total, fillWhenKnown{}, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(task+" ")),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string { return text(s.Current, s.Total, time.Since(begun)) })))
	g.messages.bar.Store(p)
	return &Bar{progress: p, bar: b, messages: g.messages}
}

// fillWhenKnown makes bars that are drawn from when their total is known.
type fillWhenKnown struct{}

// Build is part of mpb's interface.
func (fillWhenKnown) Build() mpb.BarFiller {
	filler := mpb.BarStyle().Build()
	return mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
		if s.Total <= 0 {
			return nil
		}
		return filler.Fill(w, s)
	})
}

// BytesUnit returns the text for amounts in bytes.
func BytesUnit(done, total int64, took time.Duration) string {
	return amounts(done, total, took, func(n int64) string { return humanize.IBytes(uint64(n)) })
}

// CountUnit returns the text for numbers of things.
func CountUnit(done, total int64, took time.Duration) string {
	return amounts(done, total, took, humanize.Comma)
}

// amounts writes what is done, of how much, how fast, and how long that will still take, as far as
// each is known: "1.5 GiB / 4.0 GiB, 300 MiB/s, 9s left". Rates are told after a second.
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

// Set moves the bar to what is done.
func (b *Bar) Set(done int64) {
	if b.bar == nil {
		return
	}
	now := time.Now().UnixNano()
	if last := b.last.Load(); now-last < int64(50*time.Millisecond) || !b.last.CompareAndSwap(last, now) {
		return
	}
	b.bar.SetCurrent(done)
}

// SetOf is [Bar.Set] where the total comes with what is done.
func (b *Bar) SetOf(done, total uint64) {
	if b.bar != nil && total > 0 {
		b.bar.SetTotal(int64(total), false)
	}
	b.Set(int64(done))
}

// End removes the bar.
func (b *Bar) End() {
	if b.bar == nil {
		return
	}
	b.bar.Abort(true)
	b.progress.Wait()
	b.messages.bar.CompareAndSwap(b.progress, nil)
}

// NewMeterBar returns a bar that follows the bytes of a meter by itself.
func (g *Globals) NewMeterBar(task string, m *document.Meter) *meterBar {
	return newMeterBar(g.NewBar(task, 0, BytesUnit), func() (int64, int64) { return m.Bytes.Load(), 0 })
}

// NewInputBar returns a bar that follows the bytes of a meter while inputs are read. It fills once their
// sizes are known, which are looked up meanwhile; those of pipes never are.
func (g *Globals) NewInputBar(ctx context.Context, task string, inputs []string, m *document.Meter) *meterBar {
	on := g.NewBar(task, 0, BytesUnit)
	if on.bar == nil || slices.ContainsFunc(inputs, document.ReadOnce) {
		return newMeterBar(on, func() (int64, int64) { return m.Bytes.Load(), 0 })
	}
	var total atomic.Int64
	ctx, cancel := context.WithCancel(ctx)
	b := newMeterBar(on, func() (int64, int64) { return m.Bytes.Load(), total.Load() })
	sized := make(chan struct{})
	go func() {
		defer close(sized)
		total.Store(sizeOf(ctx, inputs))
	}()
	b.cancel = func() { cancel(); <-sized }
	return b
}

// sizeOf returns the size of all files of the inputs, 0 if that cannot be known.
func sizeOf(ctx context.Context, inputs []string) (bytes int64) {
	for f, err := range document.Files(ctx, inputs) {
		if ctx.Err() != nil {
			return 0
		}
		if err != nil {
			continue // what is wrong with it is said when it is read
		}
		if info, err := os.Stat(f.Path); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// NewCompareBar returns a bar that follows fingerprints while they are compared, and shows how many duplicates there are
// so far.
func (g *Globals) NewCompareBar(task string, m *cluster.Meter) *meterBar {
	text := func(int64, int64, time.Duration) string { return compared(m) }
	return newMeterBar(g.NewBar(task, 0, text), func() (int64, int64) { return m.Compared.Load(), m.Total.Load() })
}

// compared returns the text behind the bar of a comparison.
func compared(m *cluster.Meter) string {
	percent := 100 * m.Compared.Load() / max(1, m.Total.Load())
	return fmt.Sprintf("%d %%, %s near so far", percent, humanize.Comma(m.Joined.Load()))
}

// newMeterBar returns a bar that calls read ten times a second, for what is done and the total, 0 if it is unknown.
func newMeterBar(on *Bar, read func() (done, total int64)) *meterBar {
	b := &meterBar{Bar: on, stop: make(chan struct{}), done: make(chan struct{}), cancel: func() {}}
	go func() {
		defer close(b.done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				done, total := read()
				if total > 0 && b.Bar.bar != nil {
					b.Bar.bar.SetTotal(total, false)
				}
				b.Set(done)
			case <-b.stop:
				return
			}
		}
	}()
	return b
}

// meterBar is a bar with the goroutine that moves it.
type meterBar struct {
	*Bar
	stop, done chan struct{}
	cancel     func() // ends what looks for the total
	ended      sync.Once
}

// End removes the bar; another call does nothing.
func (b *meterBar) End() {
	b.ended.Do(func() {
		b.cancel()
		close(b.stop)
		<-b.done
		b.Bar.End()
	})
}
