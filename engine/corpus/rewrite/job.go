package rewrite

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/parallel"
)

// A Job copies some inputs.
type Job struct {
	Inputs    []string
	Options   format.Options   // options of the earlier reading of the inputs
	FileUnits ingest.ReadFiles // field of the report of an earlier reading; nil if there was none
	Threads   int
	Memory    uint64 // limit for blocks and content that is decompressed ahead, at least LeastBytes; 0: no limit

	// Judge returns the judge of file f. first is the number of the file's first unit, counted over all inputs. units
	// is the number of its units. Both are 0 without FileUnits. One goroutine calls it.
	Judge func(f input.File, first, units int) Judge

	// Fields, if not nil, are added to all documents. Then no document is dropped or cut.
	Fields *Fields
}

// decodersBytes limits the bytes that are decompressed before they are copied.
const decodersBytes = 64 << 20

const (
	blockMemory = 2*blockBytes + 1<<20 // memory of a block, its compressed bytes and its compressor

	// LeastBytes is the memory for copying in the smallest steps, without row groups of Parquet files.
	LeastBytes = 2 * blockMemory
)

// blocks returns the number of blocks that the memory allows, and the bytes that it leaves for decompression ahead.
func (j *Job) blocks(threads int) (blocks int, readAhead int64) {
	blocks, readAhead = 2*threads, decodersBytes
	if j.Memory > 0 {
		blocks = min(blocks, max(int(j.Memory/2/blockMemory), 2))
		readAhead = min(readAhead, int64(j.Memory/2))
	}
	return blocks, readAhead
}

// Copy makes the copies, several files at a time. With FileUnits, it returns an error if the number of units in a
// file has changed.
func (j *Job) Copy(ctx context.Context, to *Target) (Report, error) {
	options := j.Options
	options.Meter = cmp.Or(to.Meter, &input.Meter{})
	var reports []*Report // reports of the files, in order
	var all Report
	// produce lists the files in order and asks for a judge of each.
	produce := func(ctx context.Context, yield func(*fileCopy) bool) error {
		first := 0
		for f, err := range options.Share.List(ctx, j.Inputs) {
			// Report files that cannot be read, unless the earlier reading did.
			if skip, skipped := errors.AsType[*input.Skip](err); skipped {
				if j.FileUnits == nil && skip.Reason.LosesData() { // an earlier reading would already have reported it
					all.Lost = append(all.Lost, skip.Error())
				}
				continue
			}
			// The earlier reading must have seen the same files in the same order.
			if err == nil && j.FileUnits != nil {
				err = j.FileUnits.Check(len(reports), f.Path)
			}
			if err != nil {
				return err
			}
			// Number the units as the earlier reading did.
			k := &fileCopy{to: to, scanner: scanner{options: options, file: f, fields: j.Fields, report: new(Report)}}
			units := 0
			if j.FileUnits != nil {
				units = j.FileUnits[len(reports)].Units
				k.unread, k.counted = units, true
			}
			k.judge = j.Judge(f, first, units)
			first += units
			// Keep the reports in the order of the files. The copies may end in another order.
			reports = append(reports, k.report)
			if !yield(k) {
				return nil
			}
		}
		if j.FileUnits == nil {
			return nil
		}
		return j.FileUnits.Check(len(reports), "")
	}
	// Copy the files, and add up their reports, also after an error.
	err := j.copyFiles(ctx, options, produce)
	for _, r := range reports {
		all.add(r)
	}
	return all, err
}

// copyFiles copies files, several at a time.
func (j *Job) copyFiles(ctx context.Context, options format.Options, produce parallel.Produce[*fileCopy]) error {
	threads := j.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	blocks, readAhead := j.blocks(threads)
	packer, err := newPacker(threads, blocks, blockBytes)
	if err != nil {
		return err
	}
	decoders := unpack.NewDecoders(threads, readAhead)
	return parallel.Each(ctx, parallel.Options{Workers: threads}, produce,
		func(ctx context.Context, files iter.Seq[*fileCopy]) error {
			extractor := format.NewExtractor(ctx, options)
			for k := range files {
				k.ctx, k.extractor, k.packer, k.options.Decoders = ctx, extractor, packer, decoders
				if err := k.copyOnce(); err != nil {
					return err
				}
			}
			return nil
		})
}
