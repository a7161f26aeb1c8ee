package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"ndd/engine/corpus/document"
	"ndd/engine/near/cluster"
)

// A bar shows progress on standard error, when that is a terminal, and
// otherwise nothing. set may be called from many goroutines and as often as
// one likes.
type bar struct {
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

// newBar begins a bar of a task; total may be 0 while it is unknown.
func (g *globals) newBar(task string, total int64, unit func(int64) decor.Decorator) *bar {
	if g.quiet || g.noProgress || !isTerminal(g.stderr) {
		return &bar{}
	}
	p := mpb.New(mpb.WithOutput(g.stderr), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	b := p.New(total, mpb.BarStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(task+" ")), mpb.AppendDecorators(unit(total)))
	g.messages.bar.Store(p)
	return &bar{progress: p, bar: b, messages: g.messages}
}

func bytesUnit(total int64) decor.Decorator {
	if total > 0 {
		return decor.CountersKibiByte("% .1f / % .1f")
	}
	return decor.CurrentKibiByte("% .1f")
}

func countUnit(int64) decor.Decorator { return decor.CountersNoUnit("%d / %d") }

func (b *bar) set(done int64) {
	if b.bar == nil {
		return
	}
	now := time.Now().UnixNano()
	if last := b.last.Load(); now-last < int64(50*time.Millisecond) || !b.last.CompareAndSwap(last, now) {
		return
	}
	b.bar.SetCurrent(done)
}

// end removes the bar.
func (b *bar) end() {
	if b.bar == nil {
		return
	}
	b.bar.Abort(true)
	b.progress.Wait()
	b.messages.bar.CompareAndSwap(b.progress, nil)
}

// newMeterBar is a bar that follows the bytes of a meter by itself.
func (g *globals) newMeterBar(task string, m *document.Meter) *meterBar {
	return newMeterBar(g.newBar(task, 0, bytesUnit), func() (int64, int64) { return m.Bytes.Load(), 0 })
}

// newCompareBar is a bar that follows fingerprints while they are compared, and says how many duplicates there are
// so far.
func (g *globals) newCompareBar(task string, m *cluster.Meter) *meterBar {
	unit := func(int64) decor.Decorator {
		return decor.Any(func(decor.Statistics) string { return compared(m) })
	}
	return newMeterBar(g.newBar(task, 0, unit), func() (int64, int64) { return m.Compared.Load(), m.Total.Load() })
}

// compared is what stands behind the bar of a comparison.
func compared(m *cluster.Meter) string {
	percent := 100 * m.Compared.Load() / max(1, m.Total.Load())
	return fmt.Sprintf("%d %%, %s near so far", percent, humanize.Comma(m.Joined.Load()))
}

// newMeterBar moves a bar by what it reads every now and then: what is done, and the total if it is known.
func newMeterBar(on *bar, read func() (done, total int64)) *meterBar {
	b := &meterBar{bar: on, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				done, total := read()
				if total > 0 && b.bar.bar != nil {
					b.bar.bar.SetTotal(total, false)
				}
				b.set(done)
			case <-b.stop:
				return
			}
		}
	}()
	return b
}

// meterBar is a bar with the goroutine that moves it.
type meterBar struct {
	*bar
	stop, done chan struct{}
}

func (b *meterBar) end() {
	close(b.stop)
	<-b.done
	b.bar.end()
}
