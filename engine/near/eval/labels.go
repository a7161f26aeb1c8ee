package eval

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Label is one labelled pair of documents, as a line of a table of pairs gives it.
type Label struct {
	A, B    string // IDs of the documents
	Kind    string // "same", "similar", "contains", "different", "unsure" or another word
	Lang    string // empty where the table has no column lang
	Jaccard float64
	Line    int // in the table, from 1
}

// Known labels. Pairs of other kinds are counted as positives under their own name, but for
// [Unsure], which is left out.
const (
	Same      = "same"
	Similar   = "similar"
	Contains  = "contains"
	Different = "different"
	Unsure    = "unsure"
)

// tableError says where a table of pairs is wrong.
func tableError(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%s, line %d: %w", file, line, fmt.Errorf(format, args...))
}

// ReadLabels reads a table of labelled pairs: tab-separated values under a header line with at
// least the columns id_a, id_b and label; the columns jaccard and lang are optional, and others are
// ignored. Jaccard is NaN where the table does not have it. A pair that is repeated with the same
// label, either way round, is returned once; repeated counts the lines left out. The error names
// the line.
func ReadLabels(r io.Reader, file string) (labels []Label, repeated int, err error) {
	type labelled struct {
		pair [2]string
		kind string
	}
	seen := map[labelled]bool{}
	err = readTable(r, file, []string{"id_a", "id_b", "label"}, func(line int, get func(string) string) error {
		l := Label{A: get("id_a"), B: get("id_b"), Kind: get("label"), Lang: get("lang"), Jaccard: math.NaN(), Line: line}
		if l.Kind == "" {
			return tableError(file, line, "the label is empty")
		}
		if l.A == l.B {
			return tableError(file, line, "%.200q is paired with itself", l.A)
		}
		if s := get("jaccard"); s != "" {
			var err error
			if l.Jaccard, err = parseShare(s); err != nil {
				return tableError(file, line, "jaccard %q: %w", s, err)
			}
		}
		this := labelled{pairKey(l.A, l.B), l.Kind}
		if seen[this] {
			repeated++
			return nil
		}
		seen[this] = true
		labels = append(labels, l)
		return nil
	})
	return labels, repeated, err
}

// Truth holds the Jaccard of pairs that are known to be alike, by the documents' IDs, the smaller
// first.
type Truth map[[2]string]float64

// ReadTruth reads a table of every pair of a corpus with a Jaccard of at least 0.5: columns id_a,
// id_b and jaccard. Pairs that it does not have count as less alike. The error names the line.
func ReadTruth(r io.Reader, file string) (Truth, error) {
	truth := Truth{}
	err := readTable(r, file, []string{"id_a", "id_b", "jaccard"}, func(line int, get func(string) string) error {
		j, err := parseShare(get("jaccard"))
		if err != nil {
			return tableError(file, line, "jaccard %q: %w", get("jaccard"), err)
		}
		truth[pairKey(get("id_a"), get("id_b"))] = j
		return nil
	})
	return truth, err
}

func pairKey(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

func parseShare(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("not a number")
	case !(f >= 0 && f <= 1):
		return 0, fmt.Errorf("must be from 0 to 1")
	}
	return f, nil
}

// readTable calls row for each line below the header, with a function that returns a column's
// value, empty where there is no such column.
func readTable(r io.Reader, file string, needed []string, row func(line int, get func(string) string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var columns []string
	n := 0
	for lines.Scan() {
		n++
		fields := strings.Split(strings.TrimSuffix(lines.Text(), "\r"), "\t")
		if columns == nil {
			columns = fields
			for _, name := range needed {
				if !slices.Contains(columns, name) {
					return tableError(file, n, "no column %s; the header has %s", name, headerText(columns))
				}
			}
			continue
		}
		if len(fields) == 1 && fields[0] == "" {
			continue
		}
		if len(fields) != len(columns) {
			return tableError(file, n, "%d columns, where the header has %d", len(fields), len(columns))
		}
		err := row(n, func(name string) string {
			if i := slices.Index(columns, name); i >= 0 {
				return fields[i]
			}
			return ""
		})
		if err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return tableError(file, n+1, "%w", err)
	}
	if columns == nil {
		return tableError(file, 1, "empty; the first line must name the columns %s", strings.Join(needed, ", "))
	}
	return nil
}

// headerText returns the names of a header for an error: the beginning, and as Go writes strings
// where it has what cannot be printed, as the first line of a file that is no table may.
func headerText(columns []string) string {
	text := fmt.Sprintf("%.200s", strings.Join(columns, ", "))
	if quoted := strconv.Quote(text); strings.Contains(quoted, `\x`) || strings.Contains(quoted, `\u`) {
		return quoted
	}
	return text
}
