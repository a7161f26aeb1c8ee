package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWorkTimer: only the time between pauses counts.
func TestWorkTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, timer := workContext(t.Context(), time.Minute)
		defer timer.end()
		for range 5 {
			time.Sleep(11 * time.Second)
			timer.pause()
			time.Sleep(time.Hour)
			timer.resume()
		}
		time.Sleep(4 * time.Second)
		if err := ctx.Err(); err != nil {
			t.Fatalf("after 59 seconds of work: %v", err)
		}
		time.Sleep(2 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) || !strings.Contains(cause.Error(), "1m0s (--timeout)") {
			t.Fatalf("after 61 seconds of work: %v", cause)
		}
	})
}

// TestBatchTimeout: a batch that is worked on for too long ends: with 503, or as an answer that does not look whole.
func TestBatchTimeout(t *testing.T) {
	b := startWith(t, newIndex(t, 3, nil, make([]uint64, 400)), "", Limits{Queue: waitMax, Timeout: time.Millisecond})
	body := little(make([]uint64, batchMax)) // 26 million rows
	r := b.request(t, "POST /v1/batch", "application/octet-stream", body)
	answer, err := b.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable && err == nil:
		if !strings.Contains(string(text), "worked on for 1ms (--timeout)") {
			t.Errorf("%s", text)
		}
	case answer.StatusCode != http.StatusOK || err == nil || answer.Trailer.Get(rowsTrailer) != "":
		t.Errorf("%d, %d bytes, error %v, trailer %q", answer.StatusCode, len(text), err, answer.Trailer)
	default:
		eventually(t, "it is logged", func() bool { return strings.Contains(b.journal.String(), "--timeout") })
	}
	eventually(t, "the gate is empty", func() bool { return b.held() == "" })
}

// TestHotBatch: the most queries for a fingerprint that very many recent documents have are answered with the first one each.
func TestHotBatch(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, make([]uint64, 20_000)), "")
	r := b.request(t, "POST /v1/batch?unique=true", "application/octet-stream", little(make([]uint64, batchMax)))
	answer, err := b.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	n := 0
	for ; lines.Scan(); n++ {
		if want := fmt.Sprintf("%d\t%016x\t0\trow-0", n, 0); lines.Text() != want {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
	}
	if err := lines.Err(); err != nil || n != batchMax || answer.Trailer.Get(rowsTrailer) != fmt.Sprint(n) {
		t.Errorf("%d rows, error %v, trailer %q", n, err, answer.Trailer)
	}
}
