package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.org/ndd/engine"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/store"
)

func little(queries []uint64) string { return string(store.Bytes64(queries)) }

// TestAnswersAreTheOracle checks that every answer of /v1/query and /v1/batch equals the oracle's, in the same order,
// for all formats, sets and k.
func TestAnswersAreTheOracle(t *testing.T) {
	const limit = 3
	n := long.Or(120, 300)
	for _, set := range sets.All(n, n, limit, 11) {
		b := start(t, newIndex(t, limit, nil, set.Base), "")
		for k := 0; k <= limit; k++ {
			var tsv, unique, lines, rows bytes.Buffer
			near := make([]Neighbours, len(set.Queries))
			for i, query := range set.Queries {
				near[i] = Neighbours{Fingerprint: fmt.Sprintf("%016x", query), K: k, Hits: []hit{}}
			}
			for _, h := range oracle.Search(set.Base, set.Queries, k) {
				f, id, of := fmt.Sprintf("%016x", h.Fingerprint), fmt.Sprint("row-", h.Row), &near[h.Query]
				line := fmt.Sprintf("%d\t%s\t%d\t%s\n", h.Query, f, h.Distance, id)
				tsv.WriteString(line)
				if len(of.Hits) == 0 || of.Hits[len(of.Hits)-1].Fingerprint != f {
					unique.WriteString(line)
					of.Hits = append(of.Hits, hit{Fingerprint: f, Distance: h.Distance})
				}
				last := &of.Hits[len(of.Hits)-1]
				last.IDs = append(last.IDs, id)
				last.Documents++
				of.Documents++
				// the layout in doc.go
				rows.WriteString(little([]uint64{uint64(h.Query), h.Fingerprint, uint64(h.Distance), uint64(h.Row)}))
				fmt.Fprintf(&lines, `{"query":%d,"fingerprint":%q,"distance":%d,"id":%q}`+"\n", h.Query, f, h.Distance, id)
			}
			for _, want := range near {
				got := ask[Neighbours](t, b, "/v1/query", fmt.Sprintf(`{"fingerprint": %q, "k": %d, "limit": 65536}`,
					want.Fingerprint, k))
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, k = %d:\n got %+v\nwant %+v", set.Name, k, got, want)
				}
			}
			for _, c := range []struct {
				path, accept, media string
				want                *bytes.Buffer
			}{
				{fmt.Sprintf("/v1/batch?k=%d", k), "", mediaTSV, &tsv},
				{fmt.Sprintf("/v1/batch?k=%d", k), "*/*", mediaTSV, &tsv},
				{fmt.Sprintf("/v1/batch?k=%d&unique=true", k), mediaTSV, mediaTSV, &unique},
				{fmt.Sprintf("/v1/batch?k=%d&unique=false", k), "application/x-ndjson;q=1, */*", mediaLines, &lines},
				{fmt.Sprintf("/v1/batch?k=%d", k), "application/octet-stream", mediaBytes, &rows},
			} {
				r := b.request(t, c.path, mediaBytes, little(set.Queries), "Accept", c.accept)
				status, header, got := b.do(t, r)
				if status != http.StatusOK || header.Get("Content-Type") != c.media || got != c.want.String() {
					t.Fatalf("%s, %s, Accept %q: %d %s, %d bytes, want %d", set.Name, c.path, c.accept, status,
						header.Get("Content-Type"), len(got), c.want.Len())
				}
			}
		}
	}
}

func TestBatchOfNothingAndOfTheMost(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, []uint64{5}), "")
	b.wants(t, http.StatusBadRequest, "/v1/batch", mediaBytes, "")
	queries := make([]uint64, fingerprintsMax)
	for i := range queries {
		queries[i] = 0xffff_ffff_ffff_0000
	}
	queries[fingerprintsMax-1] = 4
	status, body := b.send(t, "/v1/batch", mediaBytes, little(queries))
	if want := fmt.Sprintf("%d\t%016x\t1\trow-0\n", fingerprintsMax-1, 5); status != http.StatusOK || body != want {
		t.Errorf("%d %q, want %q", status, body, want)
	}
	b.wants(t, http.StatusRequestEntityTooLarge, "/v1/batch", mediaBytes, little(append(queries, 0)), "at most 65536")
}

// TestLinesStayLines checks that an answer escapes IDs with line breaks. A client can restore them.
func TestLinesStayLines(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, nil), "")
	const id = "a\tb\nc\\d\re\"<f>&"
	_, err := b.index.Load().Insert(t.Context(), engine.Doc{Fingerprint: 0x123, ID: id})
	must.Do(t, err)
	for media, format := range map[string]result.Format{mediaTSV: result.TSV, mediaLines: result.JSON} {
		_, got := b.send(t, "/v1/batch", mediaBytes, little([]uint64{1 << 40, 0x122}), "Accept", media)
		if strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %q", media, got)
		}
		var want strings.Builder
		result.NewWriter(&want, format, result.Integer, false, nil).Write(result.Row{Query: 1, Fingerprint: 0x123, Distance: 1,
			ID: id})
		if got != want.String() {
			t.Errorf("%s: %q, want %q", media, got, &want)
		}
	}
}

// TestBatchClientGoes checks that if a client disconnects during a long answer, its batch ends and leaves the gate. The
// server does not report a failure.
func TestBatchClientGoes(t *testing.T) {
	t.Parallel()
	same := make([]uint64, 2000)
	b := start(t, newIndex(t, 3, nil, same), "")
	body := little(make([]uint64, 2000)) // 4 M lines, if a client reads all of them
	for range b.batches.Slots + 2 {
		c, err := net.Dial("tcp", strings.TrimPrefix(b.URL, "http://"))
		must.Do(t, err)
		fmt.Fprintf(c, "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%q, %v", line, err)
		}
		c.Close()
	}
	must.Eventually(t, "the gate is empty", func() bool { return b.batches.State().Running == 0 })
	if log := b.journal.String(); strings.Contains(log, "ERROR") {
		t.Errorf("logged as errors:\n%s", log)
	}
}

// TestFailureCutsTheAnswerOff checks that a failure in the middle of an answer cuts it off, so that the answer is
// recognizably incomplete.
func TestFailureCutsTheAnswerOff(t *testing.T) {
	b := start(t, newIndex(t, 3, nil, nil), "")
	b.Config.Handler = b.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			w.Write(make([]byte, 1<<16))
			http.NewResponseController(w).Flush()
		}
		if p := b.cutOff(w.(*answer), r, fmt.Errorf("segment 1: %w", errBroken)); p != nil {
			p.write(w)
		}
	}))
	b.wants(t, http.StatusInternalServerError, "GET /early", "", "", "segment 1")
	a, err := b.Client().Get(b.URL + "/late")
	must.Do(t, err)
	defer a.Body.Close()
	if data, err := io.ReadAll(a.Body); err == nil {
		t.Errorf("after the first bytes: %d bytes that look whole", len(data))
	}
	if log := b.journal.String(); !strings.Contains(log, "answer cut off") || !strings.Contains(log, "segment 1") {
		t.Errorf("log:\n%s", log)
	}
}

// waitMax is the maximum waiting time for an expected event, even on a slow machine.
const waitMax = 2 * time.Minute

var errBroken = errors.New("a page cannot be read")

// TestDamageIsSaid checks that if an index exists but is damaged, the status is 503, never an empty answer.
func TestDamageIsSaid(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
	}{
		{fmt.Errorf("segment 3: %w", store.ErrCorrupt), http.StatusServiceUnavailable},
		{engine.ErrClosed, http.StatusServiceUnavailable},
		{errBroken, http.StatusInternalServerError},
	} {
		if p := errorProblem(c.err); p.Status != c.status || !strings.Contains(p.Detail, c.err.Error()) {
			t.Errorf("%v: %d %s", c.err, p.Status, p.Detail)
		}
	}
}

// TestWorkTimer checks that only the time between writes counts.
func TestWorkTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, timed, stop := workContext(t.Context(), slowWriter{}, time.Minute)
		defer stop()
		for range 5 {
			time.Sleep(11 * time.Second)
			timed.Write(nil)
		}
		time.Sleep(4 * time.Second)
		if err := ctx.Err(); err != nil {
			t.Fatalf("after 59 seconds of work: %v", err)
		}
		time.Sleep(2 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) || !strings.Contains(cause.Error(),
			"1m0s") {
			t.Fatalf("after 61 seconds of work: %v", cause)
		}
	})
}

// A slowWriter takes an hour.
type slowWriter struct{}

func (slowWriter) Write([]byte) (int, error) {
	time.Sleep(time.Hour)
	return 0, nil
}

// TestBatchTimeout checks that a batch that takes too long ends with 503, or with an answer that is recognizably
// incomplete.
func TestBatchTimeout(t *testing.T) {
	b := startWith(t, newIndex(t, 3, nil, make([]uint64, 400)), "", bounds{Queue: waitMax, Timeout: time.Millisecond})
	body := little(make([]uint64, fingerprintsMax)) // 26 million rows
	r := b.request(t, "/v1/batch", "application/octet-stream", body)
	answer, err := b.Client().Do(r)
	must.Do(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable && err == nil:
		if !strings.Contains(string(text), "worked on for 1ms") {
			t.Errorf("%s", text)
		}
	case answer.StatusCode != http.StatusOK || err == nil || answer.Trailer.Get(rowsTrailer) != "":
		t.Errorf("%d, %d bytes, error %v, trailer %q", answer.StatusCode, len(text), err, answer.Trailer)
	default:
		must.Eventually(t, "it is logged", func() bool { return strings.Contains(b.journal.String(), "worked on for") })
	}
	must.Eventually(t, "the gate is empty", func() bool { return b.held() == "" })
}

// TestHotBatch checks that a batch of the maximum size queries a fingerprint of very many recent documents. With
// unique, each answer has the first document.
func TestHotBatch(t *testing.T) {
	t.Parallel()
	b := start(t, newIndex(t, 3, nil, make([]uint64, 20_000)), "")
	r := b.request(t, "/v1/batch?unique=true", "application/octet-stream", little(make([]uint64, fingerprintsMax)))
	answer, err := b.Client().Do(r)
	must.Do(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	n := 0
	for ; lines.Scan(); n++ {
		if want := fmt.Sprintf("%d\t%016x\t0\trow-0", n, 0); lines.Text() != want {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
	}
	if err := lines.Err(); err != nil || n != fingerprintsMax || answer.Trailer.Get(rowsTrailer) != fmt.Sprint(n) {
		t.Errorf("%d rows, error %v, trailer %q", n, err, answer.Trailer)
	}
}
