package dedup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
)

func TestCanonicalURL(t *testing.T) {
	for want, urls := range map[string]string{
		"example.org/": "http://example.org https://www.Example.org:443/ http://EXAMPLE.org.:80/index.html#top " +
			"http://example.org/a/../?utm_source=x&fbclid=1&",
		"example.org/a/b?x=1&y=2": "http://example.org/a/./b?x=1&y=2 https://example.org/c/../a/b?x=1&utm_id=3&y=2&_ga=4#x",
		"example.org/a/b?y=2&x=1": "http://example.org/a/b?y=2&x=1",
		"example.org/a/": "http://example.org/a/ http://example.org/a/index.htm http://example.org/a/b/../index.php " +
			"http://example.org/a/. http://example.org/a/b/.. http://me@example.org/a/",
		"example.org/a//b":    "http://example.org/a//b http://example.org/c/..//a//b/../b",
		"example.org/a":       "http://example.org/a",
		"example.org/A":       "http://example.org/A",
		"example.org:443/":    "http://example.org:443/",
		"example.org:8080/x":  "https://www.example.org:8080/x",
		"[::1]/x":             "http://[::1]/x",
		"example.org/a%2Fb":   "http://example.org/a%2Fb",
		"ftp://example.org/a": "ftp://example.org/a",
		"urn:x:1":             "urn:x:1",
		"http://%zz/":         "http://%zz/",
	} {
		for url := range strings.FieldsSeq(urls) {
			if got := CanonicalURL(" " + url + "\n"); got != want {
				t.Errorf("%s: %s, want %s", url, got, want)
			}
		}
	}
	if got := CanonicalURL(" "); got != "" {
		t.Errorf("%q", got)
	}
}

// TestSameURL checks that of documents with one URL only the preferred one is compared with others. If it is dropped
// for a document, so are the others.
func TestSameURL(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines strings.Builder
	for i, d := range [][2]string{
		{"http://a.org/1", rivers},             // 0 is kept
		{"", bread},                            // 1 has no URL
		{"https://www.a.org/2", rivers + "!!"}, // 2 is dropped for 0, by its text
		{"http://a.org/2#x", "another text of some words that is like none of the others here"}, // 3 is dropped with 2
		{"", "a text"}, // 4 is short
		{"http://a.org:80/1", "one more text of a few words, which nothing else says here"}, // 5 is dropped for 0
		{"http://a.org/3", bread + "."}, // 6 is dropped for 1
		{"http://a.org/4", "this text stands alone, and no other one says what it says"},
		{"http://a.org/3?utm_source=y", "the last text here is unlike all of them, too, and has a URL of 6"}, // 8
	} {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"url\":%q,\"text\":%q}\n", i, d[0], d[1])
	}
	write(t, map[string][]byte{"a.jsonl": []byte(lines.String())})
	for _, o := range []Options{{K: 3}, {K: 6, Rule: Rule{{Jaccard: 0.7}}, Texts: &Texts{}}} {
		c := read(t, "a.jsonl", ingest.Config{}, ReadOptions{SameURL: URLFields})
		r := found(t, c, o)
		var got []string
		for d := range r.Dropped() {
			got = append(got, fmt.Sprint(c.ID(d.Row), " ", d.Kept, " ", d.Jaccard > 0))
		}
		compared := fmt.Sprint(len(o.Rule) > 0)
		want := []string{"3 0 false", "5 0 false", "8 1 false", "2 0 " + compared, "6 1 " + compared}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if kept, sources := len(slices.Collect(r.Kept())), r.Sources(); kept != 4 || sources[0].Dropped != 5 {
			t.Errorf("%d kept, %+v", kept, sources)
		}
	}
	_, _, err := ReadDocuments(t.Context(), []string{"a.jsonl"}, ingest.Config{}, ReadOptions{SameURL: []string{"link"}})
	if err == nil || !strings.Contains(err.Error(), "no document has a URL in the field link; documents have the fields id, url, text") {
		t.Error(err)
	}
}
