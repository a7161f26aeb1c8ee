package main

import "github.com/dustin/go-humanize"

// number writes how many there are of something: "1 document", "2,000 documents".
func number[T int | uint64](n T, of string) string {
	if n != 1 {
		of += "s"
	}
	return humanize.Comma(int64(n)) + " " + of
}
