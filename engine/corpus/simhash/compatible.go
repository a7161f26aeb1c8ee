package simhash

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
)

// A mixedError is an [ErrMixed] with a message of its own.
type mixedError string

func (e mixedError) Error() string { return string(e) }

func (e mixedError) Unwrap() error { return ErrMixed }

// Mixed returns an error that wraps [ErrMixed] for files that do not belong together, with only this message.
func Mixed(format string, args ...any) error { return mixedError(fmt.Sprintf(format, args...)) }

// Compatible returns nil if fingerprints of two recipes may be compared. They may if the recipes are equal, or if
// both are nil, which means raw fingerprints of an unknown recipe. Otherwise the error wraps [ErrMixed] and names a,
// b and the difference: the names of the recipes if both have one, else all fields that differ.
func Compatible(a string, recipeA *Recipe, b string, recipeB *Recipe) error {
	switch {
	case recipeA == nil && recipeB == nil || recipeA != nil && recipeB != nil && recipeA.Identity() == recipeB.Identity():
		return nil
	case recipeA == nil:
		return fmt.Errorf("%w: %s has raw fingerprints without a recipe, %s has a recipe", ErrMixed, a, b)
	case recipeB == nil:
		return fmt.Errorf("%w: %s has raw fingerprints without a recipe, %s has a recipe", ErrMixed, b, a)
	}
	if x, y := recipeA.Name(), recipeB.Name(); x != "" && y != "" && x != y {
		return fmt.Errorf("%w: %s is of recipe %s, %s of recipe %s", ErrMixed, a, x, b, y)
	}
	return fmt.Errorf("%w: the recipes of %s and %s differ: %s", ErrMixed, a, b,
		cmp.Or(Difference(recipeA.Shown().Identity(), recipeB.Shown().Identity()), "their private keys"))
}

// Difference lists all fields in which two recipes of the same kind differ. It returns "" if they are equal.
func Difference[R any](first, second R) string {
	var differ []string
	a, b := reflect.ValueOf(first), reflect.ValueOf(second)
	for _, f := range reflect.VisibleFields(a.Type()) {
		x, y := a.FieldByIndex(f.Index).Interface(), b.FieldByIndex(f.Index).Interface()
		if !f.Anonymous && !reflect.DeepEqual(x, y) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			differ = append(differ, fmt.Sprintf("%s is %v and %v", name, show(x), show(y)))
		}
	}
	return strings.Join(differ, "; ")
}

// show quotes strings and does not change other values.
func show(v any) any {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%.80q", s)
	}
	return v
}
