package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
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

// Progress shows the progress of a command on standard error. Its first fields are flags.
type Progress struct {
	Format         string // format of the log
	Quiet, verbose bool
	off            bool

	stderr   io.Writer
	log      *slog.Logger
	messages *messages // the destination of the log
}

// A Bar shows the progress of a task. In a terminal it is a line below the messages that changes ten times a second.
// Elsewhere it is a line of the log every ten seconds. Many goroutines may call Set.
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

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A progressText returns the text about the progress of a task. The total is 0 if it is unknown. took is the time
// since the start.
type progressText func(done, total int64, took time.Duration) string

// NewBar returns the bar of a task. The total is 0 if it is unknown.
func (p *Progress) NewBar(task string, total int64, text progressText) *Bar {
	b := &Bar{}
	b.total.Store(total)
	b.end = p.draw(task, text, nil, func() (int64, int64) { return b.done.Load(), b.total.Load() })
	return b
}

const (
	drawEach    = 100 * time.Millisecond // time between changes of the line in a terminal
	logEach     = 10 * time.Second       // time between lines of the log
	logFilesMax = 8                      // maximum number of open files in a line
)

// draw shows the progress of a task until the returned function is called. In a terminal it changes one line.
// Otherwise, and if messages are JSON, it logs a line every ten seconds. With --verbose it also logs the open files.
// read returns the amount done and the total. m is nil for a task that reads no documents.
func (p *Progress) draw(task string, text progressText, m *input.Meter,
	read func() (done, total int64)) (end func()) {
	if p.Quiet || p.off {
		return func() {}
	}
	// A goroutine draws until stop is closed.
	begun, stop := time.Now(), make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		// Without a terminal there are only lines of the log.
		tell, redraw := time.NewTicker(logEach), new(time.Ticker) // the zero Ticker never ticks
		if isTerminal(p.stderr) {
			redraw = time.NewTicker(drawEach)
			defer redraw.Stop()
			defer p.messages.show("")
		}
		defer tell.Stop()
		for {
			select {
			case <-stop:
				return
			case <-redraw.C:
				done, total := read()
				p.messages.show(p.fit(task + " " + text(done, total, time.Since(begun))))
			case <-tell.C:
				done, total := read()
				p.logOnce(task, text, m, done, total, time.Since(begun))
			}
		}
	})
	// End the drawing once.
	return sync.OnceFunc(func() {
		close(stop)
		drawing.Wait()
	})
}

// fit cuts a line to the columns of the terminal, without the last column.
func (p *Progress) fit(line string) string {
	columns, _, err := term.GetSize(int(p.stderr.(*os.File).Fd()))
	if err != nil || columns == 0 {
		columns = 80
	}
	return line[:min(len(line), columns-1)]
}

// logOnce logs the current progress.
func (p *Progress) logOnce(task string, text progressText, m *input.Meter, done, total int64, took time.Duration) {
	var open []string
	if m != nil {
		open = m.Open()
	}
	isJSON := p.Format == "json"
	switch {
	case isJSON:
		p.log.Info("progress", progressAttrs(task, m, done, total, took)...)
	case !isTerminal(p.stderr):
		p.log.Info(task + ": " + text(done, total, took))
	}
	switch {
	case len(open) == 0:
	case isJSON:
		p.log.Debug("files", "task", task, "open", open)
	default:
		more := ""
		if len(open) > logFilesMax {
			more = fmt.Sprintf(" and %d more", len(open)-logFilesMax)
		}
		p.log.Debug(task + " now: " + strings.Join(open[:min(logFilesMax, len(open))], ", ") + more)
	}
}

// progressAttrs returns the fields of a line of progress in JSON. It omits unknown ones.
func progressAttrs(task string, m *input.Meter, done, total int64, took time.Duration) []any {
	attrs := []any{slog.String("task", task), slog.Int64("done", done)}
	if total > 0 {
		attrs = append(attrs, slog.Int64("total", total))
	}
	if m != nil {
		attrs = append(attrs, slog.Int64("files", m.Files.Load()), slog.Int64("documents", m.Documents.Load()))
	}
	rate := float64(done) / took.Seconds()
	if rate > 0 && took >= time.Second {
		attrs = append(attrs, slog.Float64("per_second", rate))
		if total > done {
			attrs = append(attrs, slog.Float64("seconds_left", float64(total-done)/rate))
		}
	}
	return attrs
}

// readText returns [BytesUnit] with the number of documents.
func readText(m *input.Meter) progressText {
	return func(done, total int64, took time.Duration) string {
		said := BytesUnit(done, total, took)
		if n := m.Documents.Load(); n > 0 {
			said += "; " + humanize.Comma(n) + " documents"
		}
		return said
	}
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

// NewInputBar returns a bar for reading inputs, or the share of them in the options. It shows the bytes of the
// options' meter. The sizes of files are looked up meanwhile. For pipes and objects the bar has no total.
func (p *Progress) NewInputBar(ctx context.Context, task string, inputs []string, o format.Options) *Bar {
	b, m := &Bar{}, o.Meter
	end := p.draw(task, readText(m), m, func() (int64, int64) { return m.Bytes.Load(), b.total.Load() })
	if b.end = end; p.Quiet || p.off || slices.ContainsFunc(inputs, input.ReadOnce) {
		return b
	}
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		if !isTerminal(p.stderr) { // wait for the first line of the log; most commands end before
			select {
			case <-ctx.Done():
			case <-time.After(logEach / 2):
			}
		}
		b.total.Store(sizeOf(ctx, o.Share.List(ctx, inputs)))
	})
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
	text := func(done, total int64, _ time.Duration) string {
		share := fmt.Sprintf("%d %%", 100*done/max(1, total))
		if n := m.Joined.Load(); n > 0 { // large inputs are first searched for candidates
			share += fmt.Sprintf(", %s near so far", humanize.Comma(n))
		}
		return share
	}
	return &Bar{end: p.draw(task, text, nil, func() (int64, int64) { return m.Compared.Load(), m.Total.Load() })}
}
