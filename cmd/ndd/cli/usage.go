package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A line describes a group of flags in the help of a command. It has the title, a colon, and the flags in order, each
// with the name of its value. "Output: output=DIR force" lists --output DIR and --force.

// sharedGroups has the flags that several commands share.
var sharedGroups = []string{
	"Output: output=FILE sketch=WHAT show-recipe explain learn-idf format=FORMAT exit-code count write-kept=DIR annotate=DIR report=DIR skipped=FILE dry-run force",
	"Input: input-format=NAME text=FIELD id=FIELD extract=PART recipe=NAME max-document=SIZE shard=I/N raw strict",
	"Resources: memory=SIZE work=DIR",
}

const groupsKey, guideKey = "groups", "guide" // annotations of a command

// HelpOf returns the annotations of a command for its help: pointers to the guide, and its groups of flags. They
// precede the shared groups. Flags without a group come first.
func HelpOf(guide string, groups ...string) map[string]string {
	return map[string]string{guideKey: guide, groupsKey: strings.Join(groups, "\n")}
}

// Columns of the help.
const (
	usageColumn = 27
	usageWidth  = 90
)

// Usage writes the help of a command: its examples, its subcommands, and its flags in groups.
func Usage(cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, "Commands", cmd, (*cobra.Command).IsAvailableCommand)
	for _, group := range groupsOf(cmd) {
		if len(group.lines) > 0 {
			fmt.Fprintf(&b, "\n%s:\n%s", group.title, strings.Join(group.lines, ""))
		}
	}
	writeCommands(&b, "Topics", cmd, (*cobra.Command).IsAdditionalHelpTopicCommand)
	last := "Exit status and flags of all commands: ndd --help"
	if !cmd.HasParent() {
		last = "More about a command or topic: ndd help NAME"
	}
	if guide := cmd.Annotations[guideKey]; guide != "" {
		last = guide + "\n" + last
	}
	fmt.Fprintf(&b, "\n%s\n", last)
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// writeCommands writes the list of the subcommands for which is returns true.
func writeCommands(b *strings.Builder, title string, cmd *cobra.Command, is func(*cobra.Command) bool) {
	for _, c := range cmd.Commands() {
		if !is(c) {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n%s:\n", title)
			title = ""
		}
		fmt.Fprintf(b, "  %-*s %s\n", cmd.Commands()[0].NamePadding(), c.Name(), c.Short)
	}
}

// A flagGroup is the text of some flags.
type flagGroup struct {
	title string
	lines []string
}

// groupsOf returns the groups of a command's flags, without the flags of all commands.
func groupsOf(cmd *cobra.Command) []flagGroup {
	ungrouped := map[string]*pflag.Flag{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden && (!cmd.HasParent() || cmd.Root().PersistentFlags().Lookup(f.Name) == nil) {
			ungrouped[f.Name] = f
		}
	})
	groups := []flagGroup{{title: "Flags"}}
	for _, line := range slices.Concat(strings.Split(cmd.Annotations[groupsKey], "\n"), sharedGroups) {
		title, flags, _ := strings.Cut(line, ":")
		group := flagGroup{title: title}
		for flag := range strings.FieldsSeq(flags) {
			name, value, _ := strings.Cut(flag, "=")
			if f := ungrouped[name]; f != nil {
				group.lines = append(group.lines, flagText(f, value))
				delete(ungrouped, name)
			}
		}
		if i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.title == title }); i >= 0 {
			groups[i].lines = append(groups[i].lines, group.lines...)
		} else {
			groups = append(groups, group)
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if ungrouped[f.Name] != nil {
			groups[0].lines = append(groups[0].lines, flagText(f, ""))
		}
	})
	return groups
}

// valueNames are the default names of values, by the types of flags.
var valueNames = map[string]string{"string": "TEXT", "stringArray": "TEXT", "int": "N", "int64": "N", "uint": "N", "uint64": "N",
	"float64": "X", "duration": "TIME", "time": "TIME"}

// flagText returns the lines of a flag. value is the name of its value; "" means the name of its type.
func flagText(f *pflag.Flag, value string) string {
	name := "      --" + f.Name
	if f.Shorthand != "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	isBool := f.Value.Type() == "bool"
	switch value = cmp.Or(value, valueNames[f.Value.Type()]); {
	case isBool:
	case f.NoOptDefVal != "":
		name += "[=" + value + "]"
	default:
		name += " " + value
	}
	usage := f.Usage
	isSaid := strings.Contains(usage, "(default") || strings.HasPrefix(usage, f.DefValue+",")
	if !isBool && !isSaid && !slices.Contains([]string{"", "0", "[]", "0s"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	text := ""
	for line := range strings.Lines(Wrap(usage, usageWidth-max(usageColumn, len(name)+2))) {
		text += fmt.Sprintf("%-*s %s", usageColumn-1, name, line)
		name = ""
	}
	return text
}

// Wrap returns a text in lines of at most width characters.
func Wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}
