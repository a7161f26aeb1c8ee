package keep

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

func TestParseTime(t *testing.T) {
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	noon := day.Add(12*time.Hour + 34*time.Minute + 56*time.Second)
	for _, c := range []struct {
		text string
		want time.Time
	}{
		{"2024-02-29", day}, {" 20240229\n", day}, {"2024/02/29", day}, {"29 Feb 2024", day}, {"February 29, 2024", day},
		{"29-FEB-2024", day},
		{"2024-02-29T12:34:56Z", noon}, {"2024-02-29T14:34:56+02:00", noon}, {"2024-02-29 12:34:56", noon},
		{"20240229123456", noon},
		{"Thu, 29 Feb 2024 12:34:56 GMT", noon}, {"Thu, 29 Feb 2024 13:34:56 +0100", noon}, {"29-Feb-2024 12:34:56", noon},
		{"2024-02-29T12:34:56.789012345Z", noon.Add(789012345)}, {"29-Feb-2024 12:34:56.78",
			noon.Add(780 * time.Millisecond)},
		{"1709210096", noon}, {"1709210096.5", noon.Add(time.Second / 2)}, {"1709210096789",
			noon.Add(789 * time.Millisecond)},
		{"1709210096789012", noon.Add(789012 * time.Microsecond)}, {"1709210096789012345", noon.Add(789012345)},
		{"-1", time.Unix(-1, 0)},
		{"2024", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}, {"2024-02", time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)},
		{"0001-01-01", time.Unix(0, math.MinInt64)}, {"9999-12-31", time.Unix(0, math.MaxInt64)},
		{"1e300", time.Unix(0, math.MaxInt64)},
	} {
		if ns, ok := parseTime(c.text); !ok || ns != c.want.UnixNano() {
			t.Errorf("%q: %v %v, want %v", c.text, time.Unix(0, ns).UTC(), ok, c.want)
		}
	}
	for _, bad := range []string{"", "yesterday", "2024-02-30", "NaN", "Inf", "12:30"} {
		if ns, ok := parseTime(bad); ok {
			t.Errorf("%q: %v", bad, time.Unix(0, ns))
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("2024-02-29T12:34:56Z")
	f.Add("99999999999999999999")
	f.Fuzz(func(_ *testing.T, s string) { parseTime(s) })
}

// TestValues lists values in ascending order.
func TestValues(t *testing.T) {
	none := format.Value{}
	value := func(s string) format.Value { return format.Value{Text: s, Found: true} }
	for _, c := range []struct {
		by     By
		values []format.Value
	}{
		{By{Policy: Largest, Field: "f"}, []format.Value{none, value(""), value("NaN"), value("abc"), value("abd"),
			value("-Inf"),
			value("-1e300"), value("-2"), value("-1.5"), value("0"), value("1e-300"), value("0.5"), value("1"), value("10"),
			value("1e3"), value("+Inf")}},
		{By{Policy: Newest}, []format.Value{none, value("0001-01-01"), value("1969-12-31"), value("0"),
			value("2001-02-03"), value("1709210096")}},
	} {
		var texts []string
		v := Column{Missing: Missing{By: c.by}, Text: func(row int) string { return texts[row] }}
		for _, x := range c.values {
			text, _ := v.Append(x, 0, 0)
			texts = append(texts, text)
		}
		for i := range c.values {
			for j := range c.values {
				if got := v.Compare(i, j); got != cmp.Compare(i, j) {
					t.Errorf("%s: %v against %v: %d", c.by, c.values[i], c.values[j], got)
				}
			}
		}
		if v.Documents != 1 {
			t.Errorf("%d are missing", v.Documents)
		}
	}
	files := Column{Missing: Missing{By: By{Policy: Newest}}} // times of modification of the files
	for _, modified := range []int64{0, math.MinInt64, -5, 5} {
		files.Append(none, 0, modified)
	}
	if files.Documents != 1 || files.Compare(1, 2) >= 0 || files.Compare(2, 3) >= 0 {
		t.Errorf("files before 1970: %d missing, keys %x", files.Documents, files.Keys.All)
	}
	v := Column{Missing: Missing{By: By{Policy: Largest}}}
	v.Append(value("-0"), 0, 0)
	v.Append(value("0"), 0, 0)
	v.Append(value("0.0"), 0, 0)
	if v.Compare(0, 1) != 0 || v.Compare(1, 2) != 0 {
		t.Error("there are two zeros")
	}
}

// TestParse checks that a list of policies is the same after it is written and read. Invalid lists are refused.
func TestParse(t *testing.T) {
	for _, bad := range []string{"", "newest:", "longest,", "longest,longest", "first,longest",
		"longest,source,shortest"} {
		if k, err := Parse(bad); err == nil {
			t.Error(k)
		}
	}
	for _, named := range []Order{{{Newest, "seen"}}, {{Largest, "first:score"}},
		{{Source, ""}, {Longest, ""}, {Newest, "seen"}}} {
		if k, err := Parse(named.String()); err != nil || !slices.Equal(k, named) {
			t.Error(k, err)
		}
	}
}
