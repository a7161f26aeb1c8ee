package main

import (
	"strings"

	"github.com/dustin/go-humanize"
)

// number returns a count with its noun in the singular or plural: "1 document", "2,000 queries".
func number[T int | uint64](n T, noun string) string {
	text := humanize.Comma(int64(n)) + " "
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return text + noun
	case y:
		return text + stem + "ies"
	}
	return text + noun + "s"
}
