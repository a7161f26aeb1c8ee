package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// A WordFlag is the value of a flag that takes one of a few words. Errors and the completion of shells list the
// words.
type WordFlag struct {
	Words []string
	index int
	set   func(index int)
}

// WordVar adds a flag that takes one of a few words; the first is the default.
func WordVar[T ~string](f *pflag.FlagSet, to *T, name, usage string, words ...T) {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	ValueVar(f, to, name, usage, all, words...)
}

// ValueVar is WordVar for values of any type: words[i] selects values[i].
func ValueVar[T any](f *pflag.FlagSet, to *T, name, usage string, words []string, values ...T) {
	w := &WordFlag{Words: words, set: func(index int) { *to = values[index] }}
	w.set(0)
	f.Var(w, name, usage)
}

// String returns the word that was given.
func (w *WordFlag) String() string {
	if w.Words == nil {
		return "" // pflag calls String of the zero value
	}
	return w.Words[w.index]
}

// Type returns the name of the value in the help.
func (w *WordFlag) Type() string { return "string" }

// Set implements [pflag.Value].
func (w *WordFlag) Set(text string) error {
	index := slices.Index(w.Words, text)
	if index < 0 {
		return errors.New("must be " + OrList(w.Words))
	}
	w.index = index
	w.set(index)
	return nil
}

// OrList returns names as part of a sentence: "tsv, jsonl or parquet".
func OrList(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// ValueError returns an error that lists the allowed values of a flag, for an error of the parser. It returns other
// errors unchanged.
func ValueError(err error) error {
	bad, isValue := errors.AsType[*pflag.InvalidValueError](err)
	if !isValue {
		return err
	}
	flag := bad.GetFlag()
	number, isNumber := errors.AsType[*strconv.NumError](err)
	must := "a whole number"
	switch kind := flag.Value.Type(); {
	case kind == "duration":
		must = "a time with its unit, such as 30s or 500ms"
	case !isNumber:
		return fmt.Errorf("--%s %q: %w", flag.Name, bad.GetValue(), bad.Unwrap())
	case errors.Is(number.Err, strconv.ErrRange):
		return fmt.Errorf("--%s %q: too large or too small a number", flag.Name, bad.GetValue())
	case kind == "bool":
		must = "true or false"
	case strings.HasPrefix(kind, "float64"):
		must = "a number, with a point before its fraction"
	}
	return fmt.Errorf("--%s %q: must be %s", flag.Name, bad.GetValue(), must)
}
