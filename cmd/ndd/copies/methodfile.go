package copies

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies/postings"
)

// A methodFile is the settings of --method-file: what few ever change of a method and of a join.
// They are a set of flags that get their values from the file's lines.
type methodFile struct {
	path string
	set  *pflag.FlagSet

	spots, ends, sameSite                      string
	distance, chain, minFeatures, maxDocuments uint
	bags                                       bool
}

func newMethodFile() *methodFile {
	f := &methodFile{set: pflag.NewFlagSet("", pflag.ContinueOnError)}
	fl := f.set
	fl.SortFlags = false
	fl.StringVar(&f.spots, "spots", "wide", "spotsigs: stop words: paper, wide or a file of words, for "+
		"any language")
	fl.UintVar(&f.distance, "spot-distance", 1, "spotsigs: distance between the content words of a signature, 1 to 16")
	fl.UintVar(&f.chain, "chain", 0, "spotsigs: content words of a signature, 1 to 16 (2; with spots = paper 3)")
	fl.StringVar(&f.ends, "ends", "", "ccdet: characters that end a sentence (。！？；)")
	fl.BoolVar(&f.bags, "bags", false, "count a signature as often as it occurs (false)")
	fl.UintVar(&f.minFeatures, "min-features", 0,
		"signatures that a document needs to be compared (spotsigs 8, ccdet 4, winnow 3, shingles 4)")
	fl.StringVar(&f.sameSite, "same-site", "keep", "pairs of documents of one --site: keep or skip")
	fl.UintVar(&f.maxDocuments, "max-df", postings.MaxDocuments,
		"find no candidates by a signature that more documents have")
	return f
}

// register adds --method-file.
func (f *methodFile) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "method-file", "",
		"file of lines such as 'chain = 3' with settings for research; listed above")
}

func (f *methodFile) help() string {
	var b strings.Builder
	f.set.VisitAll(func(s *pflag.Flag) {
		text := s.Usage
		if !strings.HasSuffix(text, ")") && s.DefValue != "" && s.DefValue != "0" {
			text += " (" + s.DefValue + ")"
		}
		fmt.Fprintf(&b, "  %-14s %s\n", s.Name, text)
	})
	return b.String()
}

func (f *methodFile) read() error {
	if f.path == "" {
		return nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("--method-file: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || f.set.Lookup(name) == nil {
			return cli.Usagef("%s:%d: %q is no setting; write NAME = VALUE, with a name that 'ndd copies --help' lists",
				f.path, n, line)
		}
		if f.set.Changed(name) {
			return cli.Usagef("%s:%d: %s is set twice", f.path, n, name)
		}
		if err := f.set.Set(name, strings.TrimSpace(value)); err != nil {
			return cli.Usagef("%s:%d: %s", f.path, n, strings.Replace(cli.ValueError(err).Error(), "--"+name, name, 1))
		}
		if name == "chain" && f.chain == 0 {
			return cli.Usagef("%s:%d: chain 0: must be 1 to 16", f.path, n)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}
