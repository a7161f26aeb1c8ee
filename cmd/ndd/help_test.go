package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/oracle/must"
)

// TestExamples parses the command lines of the help of every command, and of the blocks of code of the guides and of
// other pages. Their flags and arguments must exist.
func TestExamples(t *testing.T) {
	pageLines := func(page, text string) (names []string) {
		var code strings.Builder
		for line := range strings.Lines(codeOf(text, "bash|sh|text")) {
			code.WriteString("  " + strings.TrimLeft(line, " $"))
		}
		for _, line := range commandLines(strings.ReplaceAll(code.String(), "&&", ";")) {
			names = append(names, parses(t, page, line))
		}
		return names
	}
	lines := 0
	var named []string // commands that the README names
	for _, page := range []string{"bench/README.md", "bench/PROFILING.md", "bench/cluster/README.md",
		"engine/RELIABILITY.md", "README.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		must.Do(t, err)
		named = pageLines(page, string(text))
		lines += len(named)
	}
	for _, topic := range topicNames() {
		text, err := pages.ReadFile("help/" + topic + ".md")
		must.Do(t, err)
		lines += len(pageLines("ndd help "+topic, string(text)))
	}
	if lines < 40 {
		t.Errorf("only %d lines", lines)
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
		if !slices.Contains(named, cmd.Name()) && cmd.Name() != "version" {
			t.Errorf("README.md does not show %s", cmd.Name())
		}
	}
}

// TestEvalExamples runs the examples in the help of eval on the sample of invented texts that its
// help names.
func TestEvalExamples(t *testing.T) {
	eval, _, err := newRoot(&cli.Globals{}).Find([]string{"eval"})
	must.Do(t, err)
	t.Chdir(copyOf(t, filepath.Join("testdata", "sample")))
	for _, line := range commandLines(eval.Example) {
		var out, messages bytes.Buffer
		args := strings.Fields(strings.Replace(line, "--sample 20", "--sample 2", 1))
		status := run(t.Context(), args[1:], nil, &out, &messages)
		shown := regexp.MustCompile("equal samples: recall|default threshold|pairs drawn").MatchString(out.String() + messages.String())
		if status != exitDone || !shown {
			t.Errorf("%s: status %d\n%s%s", line, status, messages.String(), out.String())
		}
	}
}

// commandLines returns the calls of ndd in a text of indented lines, without comments, pipes and other commands.
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
				if strings.HasPrefix(part, "ndd ") && !strings.Contains(part, `"$name"`) { // a script names the job
					calls = append(calls, part)
				}
			}
		}
	}
	return calls
}

// parses parses the flags and arguments of a call, and returns the name of its command.
func parses(t *testing.T, where, line string) string {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("'", "", `"$(go env GOROOT)/src"`, "src").Replace(line))
	root := newRoot(&cli.Globals{Streams: cli.Streams{Stdout: io.Discard}})
	var name string
	var watch func(cmd *cobra.Command, top string)
	watch = func(cmd *cobra.Command, top string) {
		cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			name = top
			if f := cmd.Flags(); top == "serve" && len(args) > 0 && !f.Lookup("load").Changed {
				return cli.Usagef("serve takes arguments with --load only")
			}
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

// TestCompletedValues checks that the help of a flag names all values that the completion offers.
func TestCompletedValues(t *testing.T) {
	root := newRoot(&cli.Globals{})
	completeValues(root)
	seen := 0
	for _, cmd := range append(root.Commands(), root) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok || f.Name == "design" {
				return
			}
			found, directive := complete(cmd, nil, "")
			if directive != cobra.ShellCompDirectiveNoFileComp || len(found) == 0 {
				t.Errorf("%s --%s: %q, %v", cmd.Name(), f.Name, found, directive)
			}
			seen++
			for _, value := range found {
				if name, _, _ := strings.Cut(value, "="); !strings.Contains(f.Usage, name) {
					t.Errorf("%s --%s: %s is completed, and the help has %q", cmd.Name(), f.Name, value, f.Usage)
				}
			}
		})
	}
	if seen < 20 {
		t.Errorf("only %d flags are completed", seen)
	}
}

// TestGuidesFit checks that a guide fits into a terminal of 88 columns, except for code.
func TestGuidesFit(t *testing.T) {
	for _, topic := range topicNames() {
		text, err := pages.ReadFile("help/" + topic + ".md")
		must.Do(t, err)
		for line := range strings.Lines(fenced.ReplaceAllString(string(text), "")) {
			if n := utf8.RuneCountInString(line) - 1; n > 88 {
				t.Errorf("%s.md: %d columns, the limit is 88: %s", topic, n, line)
			}
		}
	}
}

// TestHelpScannable checks that the help of a command has at most two screens. A flag is one line in one group, and no
// group has a flag that the command does not have.
func TestHelpScannable(t *testing.T) {
	const linesMax, columnsMax = 70, 90
	root := newRoot(&cli.Globals{})
	for _, cmd := range append(root.Commands(), root) {
		if !cmd.IsAvailableCommand() || cmd.Name() == "completion" || cmd.Name() == "help" {
			continue
		}
		var out bytes.Buffer
		cmd.SetOut(&out)
		must.Do(t, cmd.Help())
		if n := strings.Count(out.String(), "\n"); n > linesMax || strings.Contains(out.String(), "\nFlags:\n") {
			t.Errorf("%s: %d lines, the limit is %d, or flags in no group:\n%s", cmd.Name(), n, linesMax, &out)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > columnsMax || strings.HasPrefix(line, strings.Repeat(" ", 27)) {
				t.Errorf("%s: %d columns, the limit is %d, or the second line of a flag: %s", cmd.Name(), n, columnsMax, line)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			named := regexp.MustCompile(`(?m)^ +(-., )?--` + f.Name + `[ \[]`)
			if n := len(named.FindAllString(out.String(), -1)); n != 1 && f.Name != "help" && !f.Hidden {
				t.Errorf("%s: --%s is listed %d times", cmd.Name(), f.Name, n)
			}
		})
		for group := range strings.Lines(cmd.Annotations["groups"]) {
			_, flags, _ := strings.Cut(group, ":")
			for flag := range strings.FieldsSeq(flags) {
				if name, _, _ := strings.Cut(flag, "="); cmd.Flags().Lookup(name) == nil {
					t.Errorf("%s: a group has --%s, which the command does not have", cmd.Name(), name)
				}
			}
		}
	}
}
