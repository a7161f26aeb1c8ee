package copies

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// commandPage returns a page of Chinese command help with at most one full stop.
func commandPage(random *rand.Rand, items int) string {
	phrase := func() string { return strings.TrimSuffix(chinese(random, 1), "。") }
	var b strings.Builder
	fmt.Fprintf(&b, "# depot%d\n\n> %s。\n", random.IntN(100), phrase())
	for i := range items {
		fmt.Fprintf(&b, "\n- %s：\n\n`depot sub%d --path {{%s}}`\n", phrase(), random.IntN(1000), phrase()[:6])
		if i == items/2 {
			b.WriteString("\n示例")
		}
	}
	return b.String()
}

// numberTable returns rows of numbers after a comment.
func numberTable(random *rand.Rand, comment string) string {
	b := strings.Builder{}
	b.WriteString(comment + "\nTABLE = (\n")
	for range 400 {
		for range 8 {
			fmt.Fprintf(&b, "%d, ", random.IntN(9999))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestCover checks that signatures of a part of a text do not decide about the whole text. Texts of every script and
// with any punctuation are compared.
func TestCover(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	comment := "# " + english(random, 8)
	code := func() string {
		var b strings.Builder
		for range 60 {
			fmt.Fprintf(&b, "func%d(arg%d, value=%d)\n", random.IntN(1e6), random.IntN(1e6), random.IntN(1e6))
		}
		return comment + "\n" + b.String()
	}
	short, long := commandPage(random, 3), commandPage(random, 40)
	table, program := numberTable(random, comment), code()
	for _, x := range []struct {
		name   string
		method Method
		a, b   string
		want   string // relation, or nothing
	}{
		{"short page", Auto, short, strings.Replace(short, "示例", "例子", 1), "duplicate"},
		{"page without a full stop", Auto, strings.ReplaceAll(short, "。", ""), short, "duplicate"},
		{"long page", Auto, long, strings.Replace(long, "示例", "", 1) + "\n更多。", "duplicate"},
		{"tables with one comment", Auto, table, numberTable(random, comment), ""},
		{"tables with one comment", SpotSigs, table, numberTable(random, comment), "overlap"},
		{"equal tables", Auto, table, table + "1, 2, 3", "duplicate"},
		{"programs with one comment", Auto, program, code(), ""},
		{"program with one value changed", Auto, program, strings.Replace(program, "value=1", "value=2", 3), "duplicate"},
		{"announcements by template", Auto, "截至3月20日24时，现有确诊病例19986例，新增139例，本土1500例，接种3217百万剂。",
			"截至9月11日24时，现有确诊病例217例，新增86例，本土31例，接种3434百万剂。", ""},
	} {
		pairs, _ := detect(t, Options{Method: x.method}, x.a, x.b)
		got := ""
		for _, p := range pairs {
			got += p.Relation.String()
			if p.Relation == Overlap && p.ContainmentA() > 0.1 {
				t.Errorf("%s: %.2f of the text is shared", x.name, p.ContainmentA())
			}
		}
		if got != x.want {
			t.Errorf("%s, %s: %q, want %q: %+v", x.name, x.method, got, x.want, pairs)
		}
	}
}
