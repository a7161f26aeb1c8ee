package format

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestQuotations checks that an invalid or unclosed quotation damages no other record, and the loss is reported.
func TestQuotations(t *testing.T) {
	const head = "id,text\n"
	covers := func(file string, line, lines, why string) string {
		return "skip: " + file + ":" + line + ": broken: " + why + ": the record seems to cover " + lines +
			" lines, and reading resumes at the second of them"
	}
	for name, c := range map[string]struct {
		file, content string
		want          []string
	}{
		"speech": {"a.tsv", "id\ttext\n1\t\"Yes,\" he said.\n2\tNo.\n", []string{`1: "Yes," he said.`, "2: No."}},
		"speech that ends in a later text": {"a.tsv", "id\ttext\n1\t\"Yes, he said.\n2\tAnd so on.\"\n3\tNo.\n",
			[]string{`1: "Yes, he said.`, `2: And so on."`, "3: No."}},
		"speech that never ends": {"a.tsv", "id\ttext\n1\t\"Yes\n2\tNo.\n", []string{`1: "Yes`, "2: No."}},
		"speech before other fields": {"a.tsv", "text\tid\tn\n\"Yes,\t1\t\"so\"\n5\" pipes\t2\t\"\"\"a\"\"\"\n",
			[]string{`1: "Yes,`, `2: 5" pipes`}},
		"speech and a quotation": {"a.tsv", "id\ttext\n\"1\"\"\"\tA \"word\n\"2\"\t\"a \"\"b\"\"\"\n",
			[]string{`1": A "word`, `2: a "b"`}},
		"fields of two marks":    {"a.tsv", "id\ttext\n1\t\"\"\n2\t\"\n3\tlast\n", []string{"1: ", `2: "`, "3: last"}},
		"a quotation with a tab": {"a.tsv", "id\ttext\n1\t\"a\tb\"\n2\tc\n", []string{"1: a\tb", "2: c"}},
		"two speeches or a quotation with a tab": {"a.tsv", "id\ttext\tn\n1\t\"a\tb\"\n2\tc\t3\n",
			[]string{`1: "a`, "2: c"}},
		"a quotation over lines": {"a.tsv", "id\ttext\tn\n1\t\"a\r\n\r\nb\"\t4\n2\tc\t3\r\n",
			[]string{"1: a\n\nb", "2: c"}},
		"too many tabs": {"a.tsv", "id\ttext\n1\t\"a\t\"b\n2\tc\n",
			[]string{"skip: a.tsv:2: broken: extraneous or missing \" in quoted-field", "2: c"}},
		"a quotation without end": {"a.csv", head + "1,\"one\n\n2,two\n3,three", []string{
			covers("a.csv", "2", "4", "a quotation does not end"), "2: two", "3: three"}},
		"a quotation that another one ends": {"a.csv", head + "1,\"one\n2,two\n3,\"three\"\n4,\"four\"\n", []string{
			covers("a.csv", "2", "4", "a quotation does not end"), "2: two", "3: three", "4: four"}},
		"two of them": {"a.csv", head + "1,\"one\n2,\"two\n3,\"three\"\n4,four\n", []string{
			covers("a.csv", "2", "2", `extraneous or missing " in quoted-field`),
			covers("a.csv", "3", "3", "a quotation does not end"), "3: three", "4: four"}},
		"a record of other lines": {"a.csv", head + "1,\"one\n2,two\n3,three\",3\n4,four\n", []string{
			covers("a.csv", "2", "3", "3 fields where the first record has 2"), "2: two",
			covers("a.csv", "4", "2", "a quotation does not end"), "4: four"}},
		"a bare mark": {"a.csv", head + "1,5\" pipes\n2,two\n", []string{
			covers("a.csv", "2", "2", "a quotation does not end"), "2: two"}},
		"a quotation over lines of CSV": {"a.csv", head + "1,\"one\r\n\r\n\"\"two\"\"\"\n\n2,two\n",
			[]string{"1: one\n\n\"two\"", "2: two"}},
		"a quotation that the mark of a later text ends": {"a.csv", head + "p-1,\"one\np-2,two\np-3,a screen of 40\"\np-4,four\n", []string{
			covers("a.csv", "2", "3", "a quotation ends in a line that looks like another record"), "p-2: two",
			covers("a.csv", "4", "2", "a quotation does not end"), "p-4: four"}},
		"prose, lists and numbers over lines": {"a.csv", head + "1,\"one,\ntwo\"\n2,\"Dear Ann\n31, Mill Road\"\n3,\"n\nabout 1,000 ships\"\n4,\"Ships:\n1,000 of them\"\n",
			[]string{"1: one,\ntwo", "2: Dear Ann\n31, Mill Road", "3: n\nabout 1,000 ships", "4: Ships:\n1,000 of them"}},
		"a quotation over more than is held": {"a.csv", head + "1,\"one\n" + strings.Repeat("2,"+strings.Repeat("x", 1<<20)+"\n", 17),
			append([]string{covers("a.csv", "2", "17", "a quotation does not end")}, slices.Repeat([]string{"2: " + strings.Repeat("x", 1<<20)}, 17)...)},
		"many separators": {"a.csv", head + "\"1\"" + strings.Repeat(",", 1<<21+1) + "\n2,two\n", []string{
			"skip: a.csv:2: broken: 2097153 separators, the limit is 2097152", "2: two"}},
		"names in an open quotation": {"a.tsv", "id\t\"text\n1\ta\n", nil},
	} {
		tree(t, map[string]string{c.file: c.content})
		got, err := read(t, Options{MaxDocumentBytes: 3 << 20}, nil, c.file)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %.3000s, %v", name, diff, err)
		}
	}
}
