package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/copies/spotsigs"
)

// A MethodFile has the settings of --method-file: options of a method of finding copies and of a join that few users
// change. They are a set of flags. Their values are lines of the file.
type MethodFile struct {
	path string
	set  *pflag.FlagSet

	spots, ends                string
	distance, chain            uint16
	minFeatures                uint32
	minDocuments, maxDocuments uint32
	bags                       bool
	limits                     copies.RelationLimits
}

// NewMethodFile returns the settings with their defaults.
func NewMethodFile() *MethodFile {
	f := &MethodFile{set: pflag.NewFlagSet("", pflag.ContinueOnError), limits: copies.DefaultLimits}
	fl := f.set
	fl.SortFlags = false
	fl.StringVar(&f.spots, "spots", "wide", "spotsigs: paper, wide, ar, de, en, es, fr, ru or a file of words")
	fl.Uint16Var(&f.distance, "spot-distance", 1, "spotsigs: distance between the content words of a signature, 1 to 16")
	fl.Uint16Var(&f.chain, "chain", 0, "spotsigs: content words of a signature, 1 to 16 (2; with spots = paper 3)")
	fl.StringVar(&f.ends, "ends", "", "ccdet: characters that end a sentence (。; for auto 。！？；)")
	fl.BoolVar(&f.bags, "bags", false, "count a signature as often as it occurs (false)")
	fl.Uint32Var(&f.minFeatures, "min-features", 0, "lowest number of signatures (spotsigs 8, ccdet 4, winnow 3, shingles 4)")
	fl.Uint32Var(&f.minDocuments, "min-df", 2, "find no candidates by a signature that fewer documents have")
	fl.Uint32Var(&f.maxDocuments, "max-df", postings.MaxDocuments,
		"find no candidates by a signature that more documents have")
	l := &f.limits
	fl.Float64Var(&l.Containment, "ccs", l.Containment, "relations: documents with a lower containment overlap")
	fl.Float64Var(&l.LengthRatio, "clr", l.LengthRatio, "relations: lowest ratio of sizes of a revision")
	fl.Float64Var(&l.Duplicate, "duplicate", l.Duplicate, "relations: lowest Jaccard similarity of duplicates")
	fl.Float64Var(&l.Whole, "whole", l.Whole, "relations: containment above which sizes do not matter")
	return f
}

// Register adds --method-file.
func (f *MethodFile) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "method-file", "",
		"file of settings for research; see 'ndd copies --help'")
}

// Help lists the settings, a line each.
func (f *MethodFile) Help() string {
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

func (f *MethodFile) read() error {
	if f.path == "" {
		return nil
	}
	// Open the file.
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("--method-file: %w", err)
	}
	defer file.Close()
	// Read a setting from each line.
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || f.set.Lookup(name) == nil {
			return Usagef("%s:%d: %q is no setting; write NAME = VALUE, with a name that 'ndd copies --help' lists",
				f.path, n, line)
		}
		// Set it, once.
		if f.set.Changed(name) {
			return Usagef("%s:%d: %s is set twice", f.path, n, name)
		}
		if err := f.set.Set(name, strings.TrimSpace(value)); err != nil {
			return Usagef("%s:%d: %s", f.path, n, strings.Replace(ValueError(err).Error(), "--"+name, name, 1))
		}
		// Refuse empty values, and 0 where the default is meant.
		switch set := f.set.Lookup(name).Value; {
		case set.String() == "":
			return Usagef("%s:%d: %s has no value", f.path, n, name)
		case set.String() == "0" && strings.HasPrefix(set.Type(), "uint"):
			return Usagef("%s:%d: %s 0: must be at least 1", f.path, n, name)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// Signatures reads the file, and returns o with its settings of signatures by a method.
func (f *MethodFile) Signatures(method copies.Method, o copies.Options) (copies.Options, error) {
	if err := f.read(); err != nil {
		return o, err
	}
	for m, names := range map[copies.Method][]string{
		copies.SpotSigs: {"spots", "spot-distance", "chain"},
		copies.CCDet:    {"ends"},
	} {
		if method == m || method == copies.Auto {
			continue
		}
		if i := slices.IndexFunc(names, f.set.Changed); i >= 0 {
			return o, Usagef("%s: %s applies to the method %s, not to %s", f.path, names[i], m, method)
		}
	}
	var err error
	for name, set := range map[string]func(){
		"spots":         func() { o.SpotSigs.Lists, err = readSpots(f.spots) },
		"spot-distance": func() { o.SpotSigs.Distance = int(f.distance) },
		"chain":         func() { o.SpotSigs.Chain = int(f.chain) },
		"ends":          func() { o.Ends = f.ends },
		"bags":          func() { o.Bags = f.bags },
		"min-features":  func() { o.MinFeatures = int(f.minFeatures) },
	} {
		if f.set.Changed(name) {
			set()
		}
	}
	return o, err
}

// Join puts the settings of a join into o. [MethodFile.Signatures] must have read the file.
func (f *MethodFile) Join(o *copies.Options) error {
	o.Join.MinDocuments, o.Join.MaxDocuments = int(f.minDocuments), int(f.maxDocuments)
	o.Limits = f.limits
	if err := o.Limits.Check(); err != nil {
		return Usagef("%s: %w", f.path, err)
	}
	if limit := cmp.Or(o.Join.MaxDocuments, postings.MaxDocuments); o.Join.MinDocuments > limit {
		return Usagef("%s: min-df %d: must be at most max-df, %d", f.path, o.Join.MinDocuments, limit)
	}
	return nil
}

// readSpots returns the lists of stop words with a name, or from a file.
func readSpots(name string) (*spotsigs.Lists, error) {
	lists, unknown := spotsigs.ByName(name)
	if unknown == nil {
		return lists, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("spots: %w, and %w", err, unknown)
	}
	defer file.Close()
	return spotsigs.ReadLists(file, name)
}
