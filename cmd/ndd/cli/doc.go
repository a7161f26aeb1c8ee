// Package cli has the flags, inputs, outputs and messages that the commands of ndd share. The packages of commands
// import it. It imports none of them.
//
//	globals.go, profile.go         the flags of all commands: threads, kernel, messages
//	usage.go                       the help of a command: examples, and flags in groups
//	args.go, errors.go             arguments, kinds of errors
//	input.go, recipe.go            documents as inputs; skipped.go: the table of input that was not read
//	fingerprints.go                fingerprint files as inputs
//	claims.go, places.go           the outputs of a command, which must not be inputs; readonce.go: inputs only once
//	output.go, objects.go          results, which appear whole or not at all: files, folders, objects
//	format.go, value.go            tables in all formats of --format; flags of a few words
//	progress.go, log.go            bars and messages on standard error
//	methodfile.go                  settings of the methods that find copies
//	number.go, threshold.go        numbers, sizes and thresholds as people write them
//
// Every command has Globals. Commands with inputs or outputs have Files, too. Both belong to one run of the program.
// Streams and settings do not change while a command runs. Bars and the log are safe for concurrent use.
package cli
