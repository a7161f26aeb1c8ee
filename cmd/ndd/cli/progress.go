package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/near/cluster"
)

// Progress shows the progress of a command on standard error, if that is a terminal. Its first fields are flags.
type Progress struct {
	Format         string // format of the log
	Quiet, verbose bool
	off            bool

	terminal *os.File  // standard error; nil if it is no terminal
	messages *messages // the destination of the log
}

// A Bar shows the progress of a task: a line below the messages that changes ten times a second. Many goroutines may
// call Set.
type Bar struct {
	done, total atomic.Int64
	end         func()
}

// messages writes the lines of the log and, in a terminal, one changing line below them.
type messages struct {
	out  io.Writer
	mu   sync.Mutex
	last string // changing line; "" for none
}

// Write writes lines above the changing line.
func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := io.WriteString(m.out, m.eraseCode()+string(p)+m.last)
	return len(p), err
}

// show replaces the changing line. "" removes it.
func (m *messages) show(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if line != m.last {
		io.WriteString(m.out, m.eraseCode()+line)
		m.last = line
	}
}

// eraseCode returns the control sequence that removes the changing line from the terminal. The caller holds m.mu.
func (m *messages) eraseCode() string {
	if m.last == "" {
		return ""
	}
	return "\r" + strings.Repeat(" ", len(m.last)) + "\r"
}

// terminalOf returns w if it is a terminal, and otherwise nil.
func terminalOf(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// A progressText returns the text about the progress of a task. The total is 0 if it is unknown. took is the time
// since the start.
type progressText func(done, total int64, took time.Duration) string

// NewBar returns the bar of a task. The total is 0 if it is unknown.
func (p *Progress) NewBar(task string, total int64, text progressText) *Bar {
	b := &Bar{}
	b.total.Store(total)
	b.end = p.draw(func(took time.Duration) string { return task + " " + text(b.done.Load(), b.total.Load(), took) })
	return b
}

// draw shows a text that changes, until the returned function is called.
func (p *Progress) draw(text func(took time.Duration) string) (end func()) {
	if !p.isShown() {
		return func() {}
	}
	start, stop := time.Now(), make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		redraw := time.NewTicker(100 * time.Millisecond)
		defer redraw.Stop()
		defer p.messages.show("")
		for {
			select {
			case <-stop:
				return
			case <-redraw.C:
				p.messages.show(p.fit(text(time.Since(start))))
			}
		}
	})
	return sync.OnceFunc(func() {
		close(stop)
		drawing.Wait()
	})
}

// isShown reports whether the progress is shown at all.
func (p *Progress) isShown() bool { return p.terminal != nil && !p.Quiet && !p.off }

// fit cuts a line to the columns of the terminal, without the last column.
func (p *Progress) fit(line string) string {
	columns, _, err := term.GetSize(int(p.terminal.Fd()))
	if err != nil || columns == 0 {
		columns = 80
	}
	return line[:min(len(line), columns-1)]
}

// BytesUnit is a [progressText] for amounts in bytes.
func BytesUnit(done, total int64, took time.Duration) string {
	return amounts(done, total, took, func(n int64) string { return humanize.IBytes(uint64(n)) })
}

// CountUnit is a [progressText] for counts.
func CountUnit(done, total int64, took time.Duration) string {
	return amounts(done, total, took, humanize.Comma)
}

// amounts formats an amount done with the total, the rate and the time left, if they are known: "1.5 GiB / 4.0 GiB, 300
// MiB/s, 9s left". Rates appear after the first second.
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
		remaining := time.Duration(float64(total-done) / rate * float64(time.Second))
		text += ", " + remaining.Round(time.Second).String() + " left"
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

// NewInputBar returns a bar for reading inputs, or the share of them in the options. It shows the bytes and the
// documents of the options' meter. The sizes of files are looked up meanwhile. For pipes and objects the bar has no
// total.
func (p *Progress) NewInputBar(ctx context.Context, task string, inputs []string, o format.Options) *Bar {
	b, m := &Bar{}, o.Meter
	end := p.draw(func(took time.Duration) string {
		text := task + " " + BytesUnit(m.Bytes.Load(), b.total.Load(), took)
		if n := m.Documents.Load(); n > 0 {
			text += "; " + humanize.Comma(n) + " documents"
		}
		return text
	})
	if b.end = end; !p.isShown() || slices.ContainsFunc(inputs, input.ReadOnce) {
		return b
	}
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { b.total.Store(sizeOf(ctx, o.Share.List(ctx, inputs))) })
	b.end = func() {
		cancel()
		looking.Wait()
		end()
	}
	return b
}

// sizeOf returns the size of all files. It returns 0 if ctx ends first, or if a size is unknown.
func sizeOf(ctx context.Context, files iter.Seq2[input.File, error]) (bytes int64) {
	for f, err := range files {
		if ctx.Err() != nil {
			return 0
		}
		if err != nil {
			continue // reading the file reports the error
		}
		size := f.Size()
		if size < 0 {
			return 0
		}
		bytes += size
	}
	return bytes
}

// NewCompareBar returns a bar for the comparison of fingerprints. It shows the number of duplicates so far.
func (p *Progress) NewCompareBar(task string, m *cluster.Meter) *Bar {
	return &Bar{end: p.draw(func(time.Duration) string {
		text := fmt.Sprintf("%s %d %%", task, 100*m.Compared.Load()/max(1, m.Total.Load()))
		if n := m.Joined.Load(); n > 0 { // large inputs are first searched for candidates
			text += fmt.Sprintf(", %s near so far", humanize.Comma(n))
		}
		return text
	})}
}
