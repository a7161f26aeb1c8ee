package mapreduce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ndd/engine/mapreduce"
	"ndd/engine/oracle/files"
	"ndd/engine/passages"
)

// ranges are the parts of documents that go, and that stay as the first place, as lines: joined.
func ranges(all map[string][][3]int) (lines []string) {
	for id, list := range all {
		slices.SortFunc(list, func(a, b [3]int) int { return slices.Compare(a[:], b[:]) })
		for i := 0; i < len(list); {
			r := list[i]
			for i++; i < len(list) && list[i][0] == r[0] && list[i][1] <= r[2]; i++ {
				r[2] = max(r[2], list[i][2])
			}
			lines = append(lines, fmt.Sprintf("%s stays %d: %d %d\n", id, r[0], r[1], r[2]))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestStrings: repeated strings, which of them go and which stay, are those that package passages finds,
// with hashes beside the maps and without, and of each the first place has the same bytes.
func TestStrings(t *testing.T) {
	all := texts(60)
	for i, text := range all {
		switch i % 4 {
		case 1:
			all[i] = text + " é" + all[i-1][len(all[i-1])/3:] + "ü" + strings.Repeat("la ", 40)
		case 2:
			all[i] = strings.Repeat("汉字の", 20) + text[:len(text)/2] + all[0]
		case 3: // equal strings that end within a character
			for k := range 20 {
				for j := range 24 {
					all[i] += string(rune(0x5000 + (k*197+j*31)%8000))
				}
				all[i] += string(rune(0x6c40 + (i*7+k)%64))
			}
		}
	}
	byID := map[string]string{}
	for i, line := range slices.Collect(strings.Lines(textLines(all))) {
		id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"id":"`), `"`)
		byID[id] = all[i]
	}
	o := passages.Options{Unit: passages.Unit{Kind: passages.Bytes, Length: 50}}
	found := map[string][][3]int{}
	eachSpan(t, all, o, func(id string, stays int, s passages.Span) {
		found[id] = append(found[id], [3]int{stays, s.From, s.To})
	})
	want := ranges(found)
	if len(want) < 50 {
		t.Fatalf("%d ranges", len(want))
	}
	eachSplit(t, false, func(t *testing.T, l *local) {
		parts := l.cut(textLines(all))
		marks := files.New(t, "marks.tsv", l.run(mapreduce.Marks{Passages: o}, parts))
		var shuffled []int
		for _, marks := range []string{marks, ""} {
			results := l.run(mapreduce.Strings{Passages: o, Marks: marks}, parts)
			shuffled = append(shuffled, l.shuffled)
			spans := l.collect(l.run(mapreduce.Spans{}, []string{results}), l.reduces)
			for i, lines := range [][]string{l.collect(results, l.reduces), spans} {
				got := map[string][][3]int{}
				for _, line := range lines {
					f := strings.Split(strings.TrimSpace(line), "\t")
					id, first := f[0], f[4]
					var from, to, stays, at int
					if _, err := fmt.Sscan(strings.Join([]string{f[1], f[2], f[3], f[5]}, " "), &from, &to, &stays, &at); err != nil {
						t.Fatal(err, line)
					}
					if byID[id][from:to] != byID[first][at:at+to-from] || first > id || first == id && at > from {
						t.Fatalf("%q is not what stands first", line)
					}
					got[id] = append(got[id], [3]int{stays, from, to})
				}
				same(t, fmt.Sprint(i, marks != ""), ranges(got), want)
			}
			if len(spans)*4 > strings.Count(results, "\n")*3 {
				t.Errorf("%d spans of %d strings", len(spans), strings.Count(results, "\n"))
			}
		}
		if shuffled[0] >= shuffled[1] {
			t.Errorf("with marks %d bytes are sent, without %d", shuffled[0], shuffled[1])
		}
	})
}
