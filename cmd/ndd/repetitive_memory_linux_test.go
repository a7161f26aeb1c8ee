package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/long"
)

// repetitiveTexts returns inputs of about the given size, as texts and as JSON lines. Each is repetitive in another
// way.
func repetitiveTexts(size int) (texts, lines map[string]string) {
	a, b := "b", "a"
	for len(b) < size {
		a, b = b, b+a
	}
	rng := rand.New(rand.NewPCG(3, 4))
	words := func(n int) string {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "%x ", rng.Uint32())
		}
		return text.String()
	}
	var footers, cluster, short strings.Builder
	footer, page := words(40), strings.Fields(words(60))
	for i := 0; footers.Len() < size; i++ {
		fmt.Fprintf(&footers, `{"id":"%d","text":"%s%s"}`+"\n", i, words(8), footer)
		page[rng.IntN(len(page))] = words(1)
		fmt.Fprintf(&cluster, `{"id":"%d","text":"%s"}`+"\n", i, strings.Join(page, " "))
	}
	fmt.Fprintf(&short, `{"id":"short","text":"%s"}`+"\n"+`{"id":"long","text":"%s"}`+"\n", strings.Repeat("a", 100),
		strings.Repeat("a", size/4))
	return map[string]string{"letter": strings.Repeat("a", size), "period": strings.Repeat("abcdefg", size/7),
			"Fibonacci": b[:size], "invalid": strings.Repeat("\xff", size/3), "word": strings.Repeat("the ", size/4)},
		map[string]string{"footer": footers.String(), "cluster": cluster.String(), "short and long": short.String()}
}

// TestRepetitiveMemory checks that commands with repetitive texts in a control group of 512 MiB (256 in the short form)
// are not killed. If control groups cannot be made, the commands run without a limit.
func TestRepetitiveMemory(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	limit, size := uint64(256<<20), 2<<20
	if long.Form() {
		limit, size = 512<<20, 16<<20
	}
	group := memoryGroup(t, limit)
	texts, lines := repetitiveTexts(size)
	item := writeFile(t, filepath.Join(t.TempDir(), "items.jsonl"),
		[]byte(`{"question":"Which river runs through the capital of the country that was founded in 1291?"}`))
	commands := [][]string{{"passages", "--bytes", "100"}, {"passages", "--words", "20"}, {"dedup"},
		{"decontaminate", "--evals", item}, {"copies"}}
	run := func(name string, content string, commands [][]string) {
		path := writeFile(t, filepath.Join(t.TempDir(), name), []byte(content))
		for _, command := range commands {
			script := `exec ndd "$@" >/dev/null`
			if group != "" {
				script = "echo $$ >" + filepath.Join(group, "cgroup.procs") + " && " + script
			}
			args := append([]string{"-c", script, "sh"}, command...)
			out, err := exec.Command("sh", append(args, "--memory", fmt.Sprint(limit), "--max-document", fmt.Sprint(size),
				"--threads", "2", path)...).CombinedOutput()
			tooMany := command[0] == "copies" && bytes.Contains(out, []byte("pairs, which do not fit in the memory"))
			if err != nil && !tooMany {
				t.Errorf("%s: %v: %v, %s", name, command, err, out)
			}
		}
	}
	for name, text := range texts {
		run(name+".txt", text, commands)
	}
	for name, text := range lines {
		run(name+".jsonl", text, commands)
	}
}
