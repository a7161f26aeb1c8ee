package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/copies"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/live"
	"ndd/engine/mapreduce"
	"ndd/engine/near/dedup"
	"ndd/engine/near/scan"
	"ndd/engine/storage/spill"
)

// Advice returns what to do about an error, to be written behind it: the library's errors say what
// is wrong, and know nothing of commands.
func Advice(cmd *cobra.Command, err error) string {
	if errors.Is(err, os.ErrExist) && cmd.Flags().Lookup("force") != nil {
		return ", or replace it with --force"
	}
	if errors.Is(err, os.ErrExist) && cmd.Name() == "backup" {
		return ": a backup never takes the place of another"
	}
	if errors.Is(err, engine.ErrLocked) {
		return adviceOnLock(cmd)
	}
	if e, ok := errors.AsType[*spill.Error](err); ok && e.What == scan.Spilled {
		return ": --temp names another folder"
	}
	if _, ok := errors.AsType[*document.FieldError](err); ok {
		return "; --text names the field"
	}
	if _, ok := errors.AsType[*ndf.TextError](err); ok {
		return ": 'ndd fingerprint -o FILE.ndf' makes fingerprints of documents"
	}
	if errors.Is(err, live.ErrNoRecipe) {
		return ": --recipe names it, such as minwise, or is a file of what 'ndd fingerprint --show-recipe' printed"
	}
	if errors.Is(err, engine.ErrNoLengths) || errors.Is(err, dedup.ErrNoLengths) {
		return ": .ndf files have them, and 'ndd build --lengths' keeps them in an index"
	}
	if errors.Is(err, engine.ErrNoDocs) {
		if cmd.Flags().Lookup("memory-only") != nil {
			return "; --memory-only serves it"
		}
		return ", as 'ndd build --ids none' has it"
	}
	if errors.Is(err, mapreduce.ErrOrder) {
		return ": sort with LC_ALL=C sort, and see 'ndd help cluster' for other shuffles"
	}
	if errors.Is(err, mapreduce.ErrLost) {
		return "; 'ndd help cluster' says what a shuffle must do"
	}
	if errors.Is(err, mapreduce.ErrBad) && cmd.Flags().Lookup("input") != nil {
		return "; --input says which form it has"
	}
	if errors.Is(err, mapreduce.ErrNoWebHDFS) {
		return ": --webhdfs names it, as http://namenode:9870"
	}
	if side := cmd.Flags().Lookup("queries"); side != nil && side.Changed && cmd.Flags().Lookup("partitions") != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == side.Value.String() && errors.Is(err, fs.ErrNotExist) {
			return ": ship it with the job (-files of Hadoop, --files of Spark)"
		}
	}
	if errors.Is(err, document.ErrBinary) {
		return "; if it is text, say its --" + formatFlag(cmd)
	}
	if e, ok := errors.AsType[*copies.NoIndexError](err); ok {
		if e.Fingerprints {
			return ", for 'ndd query'"
		}
		return ": 'ndd copies build -o INDEX' makes one of documents"
	}
	if e, ok := errors.AsType[*live.NoIndexError](err); ok {
		return adviceOnIndex(cmd, e)
	}
	return ""
}

// adviceOnLock is [Advice] where another process writes to the index.
func adviceOnLock(cmd *cobra.Command) string {
	if cmd.Name() == "merge" {
		return "; if that is a server, it merges by itself: end it to merge into one segment"
	}
	return "; end that first, and meanwhile 'ndd query', 'check' and 'backup' work"
}

// adviceOnIndex is [Advice] where there is no index.
func adviceOnIndex(cmd *cobra.Command, e *live.NoIndexError) string {
	switch e.Found {
	case live.FoundNothing:
		if cmd.Flags().Lookup("create") != nil {
			return "; --create makes one"
		}
	case live.FoundUnfinished:
		return "; wait for it, or remove that and build again"
	case live.FoundFingerprints:
		return fmt.Sprintf(": 'ndd build -o INDEX %s' makes one of it", e.Path)
	case live.FoundPart:
		return ": give its folder, " + e.Beside
	case live.FoundFile:
		return ": an index is a folder that 'ndd build' made"
	case live.FoundEmpty:
		return ": 'ndd build' makes one where nothing stands"
	case live.FoundPrints:
		return fmt.Sprintf(": 'ndd build -o INDEX %s' makes one", e.Beside)
	case live.FoundOther:
		if copies.IsIndex(e.Path) {
			return ": it is one of 'ndd copies build', for " + copiesCommand(cmd)
		}
		return fmt.Sprintf(": if they are documents, 'ndd fingerprint -o pages.ndf %s' and 'ndd build -o INDEX pages.ndf' make one", e.Path)
	}
	return ""
}

// copiesCommand returns the command that does with an index of copies what this one does with one of fingerprints.
func copiesCommand(cmd *cobra.Command) string {
	switch cmd.Name() {
	case "merge":
		return "'ndd copies merge'"
	case "build":
		return "'ndd copies build --add'"
	}
	return "'ndd copies --against'"
}

// formatFlag returns the name of the command's flag for the format of documents.
func formatFlag(cmd *cobra.Command) string {
	const other = "document-format" // of commands whose --format is that of the output
	if cmd.Flags().Lookup(other) != nil {
		return other
	}
	return "format"
}
