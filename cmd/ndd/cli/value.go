package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// ValueError rewords the parser's error about the value of a flag to say which values are allowed.
// It returns other errors as they are.
func ValueError(err error) error {
	bad, _ := errors.AsType[*pflag.InvalidValueError](err)
	number, _ := errors.AsType[*strconv.NumError](err)
	switch {
	case errors.Is(err, ErrUsage): // worded by one of our own flags
		return err
	case bad != nil && bad.GetFlag().Value.Type() == "duration":
		return fmt.Errorf("--%s %q: must be a time with its unit, such as 30s or 500ms", bad.GetFlag().Name, bad.GetValue())
	case bad == nil || number == nil:
		return err
	case errors.Is(number.Err, strconv.ErrRange):
		return fmt.Errorf("--%s %q: too large or too small a number", bad.GetFlag().Name, bad.GetValue())
	}
	must := map[string]string{"bool": "true or false", "float64": "a number, with a point before its " +
		"fraction"}[bad.GetFlag().Value.Type()]
	return fmt.Errorf("--%s %q: must be %s", bad.GetFlag().Name, bad.GetValue(), cmp.Or(must, "a whole number"))
}
