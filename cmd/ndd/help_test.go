package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// TestExamples holds the command lines in the help of every command, and those in
// the README, against the flags and arguments that there are.
func TestExamples(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{} // commands that the README names
	var blocks strings.Builder
	for _, block := range fenced.FindAllStringSubmatch(string(readme), -1) {
		blocks.WriteString("  " + strings.ReplaceAll(block[2], "\n", "\n  "))
		blocks.WriteString("\n")
	}
	for _, line := range commandLines(blocks.String()) {
		named[parses(t, "README.md", line)] = true
	}
	for _, cmd := range newRoot(&cli.Globals{}).Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Hidden || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		if cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: no long help, or no example", cmd.Name())
		}
		own := false
		for _, line := range commandLines(cmd.Example) {
			own = parses(t, "help of "+cmd.Name(), line) == cmd.Name() || own
		}
		if !own {
			t.Errorf("%s: no example is of it", cmd.Name())
		}
		if !named[cmd.Name()] && cmd.Name() != "version" {
			t.Errorf("README.md does not show %s", cmd.Name())
		}
	}
}

// TestTopicLines holds the command lines in the pages of topics against the flags and arguments that there are.
func TestTopicLines(t *testing.T) {
	lines := 0
	for _, topic := range topics {
		page, err := pages.ReadFile("help/" + topic[0] + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(strings.ReplaceAll(string(page), "&&", ";")) {
			if strings.Contains(string(page), "\n      "+line) || strings.Contains(string(page), "\n        "+line) { // not the words of a paragraph
				parses(t, "ndd help "+topic[0], line)
				lines++
			}
		}
	}
	if lines < 5 {
		t.Errorf("only %d lines", lines)
	}
}

// commandLines are the calls of ndd in a text of indented lines: what stands before
// a comment, a pipe or another command.
func commandLines(text string) (calls []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		for part := range strings.SplitSeq(line, ";") {
			for part := range strings.SplitSeq(part, "|") {
				part = strings.TrimSpace(part)
				for _, end := range []string{" #", "  ", " <", " >", " &"} {
					part, _, _ = strings.Cut(part, end)
				}
				if strings.HasPrefix(part, "ndd ") {
					calls = append(calls, part)
				}
			}
		}
	}
	return calls
}

// parses gives a call's flags and arguments to its command, whose name it returns.
func parses(t *testing.T, where, line string) string {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("'", "", `"$(go env GOROOT)/src"`, "src").Replace(line))
	root := newRoot(&cli.Globals{Stdout: io.Discard})
	var name string
	var watch func(cmd *cobra.Command, top string)
	watch = func(cmd *cobra.Command, top string) {
		cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
		cmd.RunE = func(*cobra.Command, []string) error {
			name = top
			return nil
		}
		for _, below := range cmd.Commands() {
			watch(below, top)
		}
	}
	for _, cmd := range root.Commands() {
		watch(cmd, cmd.Name())
	}
	root.SetArgs(words[1:])
	if err := root.Execute(); err != nil || name == "" {
		t.Errorf("%s: %s: %v", where, line, err)
	}
	return name
}
