package copies

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ndd/engine/copies/signature"
)

// signTexts names files of documents to sign in BenchmarkSign.
var signTexts = flag.String("sign.texts", "", "JSON lines with a field text to sign in BenchmarkSign: a glob (default: texts of random words)")

// TestLongText: the signatures of a long text, which are gathered in batches, are those of a short one.
func TestLongText(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 8))
	var b strings.Builder
	for b.Len() < longText {
		b.WriteString(english(random, 20))
		b.WriteString(chinese(random, 100))
	}
	for _, m := range []Method{SpotSigs, CCDet, Winnow, Shingles} {
		for _, bags := range []bool{false, true} {
			s, err := NewSigner(Options{Method: m, Bags: bags})
			if err != nil {
				t.Fatal(err)
			}
			signed := s.Append(nil, m, b.String())
			want := signature.AppendSet(nil, signed)
			if bags {
				want = signature.AppendBag(nil, signed)
			}
			if got := s.Sign(b.String()).Own; !slices.Equal(got, want) || len(want) <= signature.Batch {
				t.Errorf("%s, bags %t: a set of %d, want %d", m, bags, len(got), len(want))
			}
			short := b.String()[:1000]
			if got, want := s.Sign(short).Own, len(s.Append(nil, m, short)); len(got) > want {
				t.Errorf("%s: a short text behind a long one has %d signatures of %d", m, len(got), want)
			}
		}
	}
}

// BenchmarkSign signs texts by each method on one thread, the sorting of the sets included, and the places left alone.
func BenchmarkSign(b *testing.B) {
	texts := benchTexts(b)
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	for _, m := range []Method{SpotSigs, CCDet, Winnow, Auto} {
		b.Run(string(m), func(b *testing.B) {
			s, err := NewSigner(Options{Method: m})
			if err != nil {
				b.Fatal(err)
			}
			n, used, loops := 0, processorSeconds(), 0
			b.SetBytes(int64(size))
			for b.Loop() {
				n = 0
				loops++
				for _, text := range texts {
					sets := s.Sign(text)
					n += len(sets.Own) + len(sets.Winnow)
				}
			}
			b.ReportMetric(float64(size)/float64(max(n, 1)), "bytes/signature")
			if used = processorSeconds() - used; used > 0 {
				b.ReportMetric(float64(loops)*float64(size)/1e6/used, "processor-MB/s")
			}
		})
	}
}

// processorSeconds returns what this process has used of processors, in steps of 10 ms; 0 where the system does not tell.
func processorSeconds() (sum float64) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, field := range fields[11:13] { // user and system, behind the program's name
		ticks, _ := strconv.ParseFloat(field, 64)
		sum += ticks / 100
	}
	return sum
}

// benchTexts returns the texts of -sign.texts.
func benchTexts(b *testing.B) (texts []string) {
	if *signTexts == "" {
		random := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			texts = append(texts, english(random, 60), chinese(random, 60))
		}
		return texts
	}
	paths, err := filepath.Glob(*signTexts)
	if err != nil || len(paths) == 0 {
		b.Fatalf("%s: no files, %v", *signTexts, err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<26)
		for lines.Scan() {
			var doc struct {
				Text string `json:"text"`
			}
			if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
				b.Fatalf("%s: %v", path, err)
			}
			texts = append(texts, doc.Text)
		}
		if err := lines.Err(); err != nil {
			b.Fatalf("%s: %v", path, err)
		}
	}
	return texts
}
