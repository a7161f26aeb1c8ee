package result_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/result"
)

// TestReadTable writes a table in each format and reads some of its columns back.
func TestReadTable(t *testing.T) {
	columns := []result.Column{{Name: "n", Kind: result.Integer, Optional: true}, {Name: "text", Kind: result.Text},
		{Name: "share", Kind: result.Real}, {Name: "on", Kind: result.Flag}}
	texts := []string{"plain", "tab\tand\nline\r", `back\slash \n`, strings.Repeat("long ", 50_000), "ends"}
	for _, format := range result.Tables {
		for _, packed := range []string{"", ".gz"} {
			if packed != "" && format == result.Parquet {
				continue
			}
			var b bytes.Buffer
			w := result.NewTableWriter(&b, format, columns...)
			var want strings.Builder
			for i := range 700 {
				text := texts[i%len(texts)]
				if i%len(texts) == 3 && i > 100 {
					text = "short"
				}
				if i%3 == 0 {
					w.Null()
				} else {
					w.Integer(int64(i))
				}
				must.Do(t, w.Text(text).Real(0.25).Flag(i%2 == 0).End())
				n := result.Cell{}
				if i%3 != 0 {
					n = result.Cell{Text: fmt.Sprint(i), Found: true}
				}
				fmt.Fprintln(&want, text, n, i%2 == 0)
			}
			must.Do(t, w.Close())
			data := b.Bytes()
			if packed != "" {
				var z bytes.Buffer
				g := gzip.NewWriter(&z)
				g.Write(data)
				g.Close()
				data = z.Bytes()
			}
			path := filepath.Join(t.TempDir(), "t."+format.String()+packed)
			must.Do(t, os.WriteFile(path, data, 0o644))
			var got strings.Builder
			err := result.ReadTable(t.Context(), path, func(have []string) ([]string, error) {
				if len(have) != len(columns) {
					t.Errorf("%s: columns %q", path, have)
				}
				return []string{"text", "n", "on"}, nil
			}, func(cells []result.Cell) error {
				fmt.Fprintln(&got, cells[0].Text, cells[1], cells[2].Text == "1" || cells[2].Text == "true")
				return nil
			})
			if err != nil || got.String() != want.String() {
				t.Errorf("%s: %v, %d bytes, want %d", path, err, got.Len(), want.Len())
			}
		}
	}
}
