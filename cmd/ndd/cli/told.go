package cli

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/document"
)

const (
	tellEach = 10 * time.Second // between lines of the log about progress
	tellMost = 8                // files in flight that a line names
)

// tell writes a line of the log about a task every ten seconds, until the returned function is
// called: where standard error is no terminal, or messages are JSON. With --verbose another one
// names the files in flight, in a terminal, too.
func (p *Progress) tell(task string, text progressText, m *document.Meter,
	read func() (done, total int64)) (end func()) {
	if p.Quiet || p.off {
		return func() {}
	}
	begun, stop := time.Now(), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		tick := time.NewTicker(tellEach)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				done, total := read()
				p.tellOnce(task, text, m, done, total, time.Since(begun))
			}
		}
	})
	return sync.OnceFunc(func() {
		close(stop)
		telling.Wait()
	})
}

// tellOnce writes the lines of one moment.
func (p *Progress) tellOnce(task string, text progressText, m *document.Meter, done, total int64, took time.Duration) {
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
		if len(open) > tellMost {
			more = fmt.Sprintf(" and %d more", len(open)-tellMost)
		}
		p.log.Debug(task + " now: " + strings.Join(open[:min(tellMost, len(open))], ", ") + more)
	}
}

// progressAttrs are the fields of a line of progress in JSON; unknown ones are left out.
func progressAttrs(task string, m *document.Meter, done, total int64, took time.Duration) []any {
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

// reading is [BytesUnit] with the number of documents.
func reading(m *document.Meter) progressText {
	return func(done, total int64, took time.Duration) string {
		said := BytesUnit(done, total, took)
		if n := m.Documents.Load(); n > 0 {
			said += "; " + humanize.Comma(n) + " documents"
		}
		return said
	}
}
