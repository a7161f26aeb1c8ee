package rewrite

import (
	"os"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

func TestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	files.Write(t, map[string]string{"a.jsonl": "", "d/a.jsonl": "", "d/e/b.jsonl": "", "f/a.jsonl": ""})
	must.Do(t, os.Symlink("d", "link"))
	for _, c := range []struct {
		inputs []string
		root   string // "" where there must be an error
		says   string // text of the error
	}{
		{[]string{"a.jsonl"}, ".", ""},
		{[]string{"d/a.jsonl", "f/a.jsonl"}, ".", ""},
		{[]string{"d/a.jsonl", "d/e"}, "d", ""},
		{[]string{"*/a.jsonl"}, "", "named twice"}, // d and link
		{[]string{"a.jsonl", "./a.jsonl"}, "", "named twice"},
		{[]string{"d", "d/e"}, "", "named twice"},
		{[]string{"d/a.jsonl"}, "d", ""},
		{[]string{"-"}, "", "has no name to be copied to"},
		{[]string{"none"}, "", "none"},
		{[]string{"d"}, "d", ""},
	} {
		names, err := NewTarget(t.Context(), c.inputs)
		if c.root == "" || err != nil {
			if c.root != "" || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v, want an error with %q, or below %q", c.inputs, err, c.says, c.root)
			}
			continue
		}
		if want, err := locate(c.root); err != nil || names.root != want {
			t.Errorf("%v: below %s, want %s", c.inputs, names.root, c.root)
		}
	}
}
