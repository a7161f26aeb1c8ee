package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// foreignQueries are how many different queries a generator sends that nobody here wrote.
const foreignQueries = 1000

// foreign measures both servers by wrk, where it is installed: a generator that nobody here wrote.
func (b *bench) foreign(ctx context.Context, dir string, r *Result, served []string, hex func(i int) string, lasts time.Duration) error {
	wrk, err := exec.LookPath("wrk")
	if errors.Is(err, exec.ErrNotFound) {
		r.note("wrk is not installed: rows by a generator that nobody here wrote are left out")
		return nil
	}
	if err != nil {
		return err
	}
	script := filepath.Join(dir, "query.lua")
	if err := os.WriteFile(script, []byte(wrkScript(hex)), 0o644); err != nil {
		return err
	}
	for _, of := range []struct {
		name, program string
		args          []string
	}{
		{"net/http alone, a constant, by wrk", "./bench/bare", nil},
		{"queries, one fingerprint each, by wrk", "./cmd/ndd", served},
	} {
		b.say("%s", of.name)
		cells, err := b.underWrk(ctx, dir, of.program, of.args, wrk, script, lasts)
		if err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
		r.row(of.name, cells...)
	}
	r.note("by wrk: one thread, %d connections, closed loop; p50 and p99 are at the peak, not at half of it; the generator's processor time is not looked at", serveConnections)
	return nil
}

// wrkScript sends one query after the other.
func wrkScript(hex func(i int) string) string {
	var text strings.Builder
	text.WriteString("local asked, n = {}, 0\n")
	for i := range foreignQueries {
		fmt.Fprintf(&text, "asked[%d] = %q\n", i, hex(i))
	}
	fmt.Fprintf(&text, `function request()
  n = (n + 1) %% %d
  return wrk.format("POST", "/v1/query", {["Content-Type"] = "application/json"}, '{"fingerprint": "' .. asked[n] .. '"}')
end
`, foreignQueries)
	return text.String()
}

// underWrk measures a server by wrk.
func (b *bench) underWrk(ctx context.Context, dir, program string, args []string, wrk, script string, lasts time.Duration) ([]Cell, error) {
	s, err := startServer(ctx, dir, program, args)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	before := processTime(s.cmd.Process.Pid)
	seconds := max(1, int(lasts.Seconds()))
	out, err := exec.CommandContext(ctx, wrk, "-t1", fmt.Sprintf("-c%d", serveConnections), fmt.Sprintf("-d%ds", seconds), "--latency", "-s", script, "http://"+s.address).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	spent := processTime(s.cmd.Process.Pid) - before
	said := string(out)
	if strings.Contains(said, "Non-2xx") || strings.Contains(said, "Socket errors") {
		return nil, fmt.Errorf("not all was answered with 200:\n%s", said)
	}
	rate, n := wrkFigure(said, "Requests/sec:"), wrkFigure(said, "requests in")
	if !(rate > 0) || !(n > 0) {
		return nil, fmt.Errorf("wrk says:\n%s", said)
	}
	return []Cell{number(rate), number(spent.Seconds() / n * 1e6), word("-"), number(wrkFigure(said, "50%")), number(wrkFigure(said, "99%"))}, nil
}

// wrkFigure returns a number from the lines of wrk: the first of the line that has a word, without the word. Times are in ms.
func wrkFigure(said, at string) float64 {
	for line := range strings.Lines(said) {
		rest := strings.Replace(line, at, "", 1)
		if rest == line {
			continue
		}
		text, scale := strings.Fields(rest)[0], 1.0
		for unit, ms := range map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3} {
			if number, ok := strings.CutSuffix(text, unit); ok && strings.Trim(number, "0123456789.") == "" {
				text, scale = number, ms
			}
		}
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			return value * scale
		}
	}
	return math.NaN()
}
