package live

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/storage/wal"
)

// An Opening says what [Open] did.
type Opening struct {
	Bytes     uint64        // of the segments
	Skipped   uint64        // of them, those that [VerifyFast] did not look at
	Loaded    bool          // into memory, or else mapped
	Reading   time.Duration // mapping and checking headers, or reading all
	Verifying time.Duration
}

// String returns a line: how large, how, how fast.
func (o Opening) String() string {
	rate := func(bytes uint64, d time.Duration) string {
		return fmt.Sprintf("%v, %.1f GB/s", d.Round(10*time.Microsecond), float64(bytes)/max(1, float64(d.Nanoseconds())))
	}
	how, verified := fmt.Sprintf("mapped in %v", o.Reading.Round(10*time.Microsecond)), rate(o.Bytes, o.Verifying)
	if o.Loaded {
		how = fmt.Sprintf("read into memory in %s", rate(o.Bytes, o.Reading))
	}
	if o.Skipped > 0 {
		verified = fmt.Sprintf("%v, but for %s in large sections", o.Verifying.Round(10*time.Microsecond),
			humanize.IBytes(o.Skipped))
	}
	return fmt.Sprintf("%s %s, verified in %s", humanize.IBytes(o.Bytes), how, verified)
}

// A Recovery describes the log that was read when an index was opened.
type Recovery struct {
	Log      wal.Report
	Inserted uint64 // documents
	Deleted  uint64
	Removed  []string // files that no manifest named
	Took     time.Duration
}

// String returns the recovery in one line.
func (r Recovery) String() string {
	if r.Log.Records == 0 && len(r.Removed) == 0 {
		return fmt.Sprintf("the log is empty, looked at in %v", r.Took.Round(10*time.Microsecond))
	}
	line := fmt.Sprintf("%s inserted and %s deleted by %s of the log, read in %v",
		counted(r.Inserted, "document"), humanize.Comma(int64(r.Deleted)), counted(r.Log.Records, "record"),
		r.Took.Round(10*time.Microsecond))
	if r.Log.Torn > 0 {
		line += fmt.Sprintf("; %d bytes at the end of %s were unfinished and are cut off", r.Log.Torn, r.Log.TornFile)
	}
	if n := len(r.Removed); n > 0 {
		line += fmt.Sprintf("; removed %s of work that was not finished", counted(uint64(n), "file"))
	}
	return line
}

// counted returns a number with its noun, in the plural where that is due.
func counted(n uint64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(int64(n)) + " " + noun
}
