package lists

import (
	"math/bits"
	"sort"

	"ndd/engine/copies/postings"
	"ndd/engine/storage/spill"
	"ndd/engine/storage/store"
)

// blockTerms is the number of signatures of each block of a dictionary but the last.
const blockTerms = 64

// A term is a signature with its value: the position of its list, or the rank of its only document.
type term struct {
	hash, value uint64
}

// A dictionaryWriter writes terms in ascending order.
type dictionaryWriter struct {
	out   spill.Column[uint8]
	index []uint64 // of each block: its first signature, and the byte where it begins
	block []term
	bits  bitWriter
	gaps  []uint64
}

// newDictionary returns a writer of terms that wait in memory, or in a temporary file in a room.
func newDictionary(r postings.Room) dictionaryWriter {
	return dictionaryWriter{out: spill.NewColumn[uint8](r.Disk, r.Dir, "postings", 1<<18)}
}

func (w *dictionaryWriter) add(t term) error {
	if w.block = append(w.block, t); len(w.block) < blockTerms {
		return nil
	}
	return w.flush()
}

// flush writes the block at work.
func (w *dictionaryWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	w.index = append(w.index, w.block[0].hash, uint64(w.out.Len()))
	w.gaps = w.gaps[:0]
	most := uint64(0)
	for i, t := range w.block {
		if i > 0 {
			w.gaps = append(w.gaps, t.hash-w.block[i-1].hash-1)
		}
		most = max(most, t.value)
	}
	k, width := riceParameter(w.gaps), bits.Len64(most)
	w.bits.data = append(w.bits.data[:0], byte(k), byte(width))
	for _, g := range w.gaps {
		w.bits.rice(g, k)
	}
	for _, t := range w.block {
		w.bits.put(t.value, width)
	}
	w.bits.flush()
	w.block = w.block[:0]
	return w.out.AppendAll(w.bits.data)
}

// A dictionary is stored terms.
type dictionary struct {
	count int
	data  store.Section
	index []uint64
}

func openDictionary(from store.Source, name string, count uint64) (d dictionary, err error) {
	if d.data, err = from.Section(name); err != nil {
		return d, err
	}
	index, err := from.Section(name + ".index")
	if err != nil {
		return d, err
	}
	blocks := count/blockTerms + min(count%blockTerms, 1)
	if count > 1<<40 || uint64(len(index.Data)) != 16*blocks {
		return d, index.Corrupt(0, "%d bytes for %d signatures", len(index.Data), count)
	}
	d.count, d.index = int(count), store.Uint64s(index.Data)
	return d, nil
}

func (d *dictionary) blocks() int { return len(d.index) / 2 }

// find returns the value of a signature; ok is false if there is none. The error wraps
// [store.ErrCorrupt].
func (d *dictionary) find(hash uint64) (value uint64, ok bool, err error) {
	i := sort.Search(d.blocks(), func(i int) bool { return d.index[2*i] > hash }) - 1
	if i < 0 {
		return 0, false, nil
	}
	b, err := d.block(i)
	if err != nil {
		return 0, false, err
	}
	at := 0
	h := b.first
	for ; h < hash && at < b.count-1; at++ {
		gap := b.bits.rice(b.k)
		if h += gap + 1; h <= gap {
			return 0, false, b.corrupt()
		}
	}
	if h != hash && b.bits.bad {
		return 0, false, b.corrupt()
	}
	if h != hash {
		return 0, false, nil
	}
	for range b.count - 1 - at {
		b.bits.rice(b.k)
	}
	b.bits.skip(at * b.width)
	value = b.bits.get(b.width)
	if b.bits.bad {
		return 0, false, b.corrupt()
	}
	return value, true, nil
}

// A termBlock is a block of a dictionary as it is read.
type termBlock struct {
	bits     bitReader // behind the head
	first    uint64
	count    int
	k, width int
	at       uint64
	section  *store.Section
}

func (b *termBlock) corrupt() error {
	return b.section.Corrupt(b.at, "a block of signatures that lies")
}

func (d *dictionary) block(i int) (b termBlock, err error) {
	b = termBlock{first: d.index[2*i], at: d.index[2*i+1], count: min(blockTerms, d.count-i*blockTerms), section: &d.data}
	end := uint64(len(d.data.Data))
	if i+1 < d.blocks() {
		end = d.index[2*i+3]
	}
	if end > uint64(len(d.data.Data)) || b.at > end || end-b.at < 2 {
		return b, b.corrupt()
	}
	data := d.data.Data[b.at:end]
	b.k, b.width = int(data[0]), int(data[1])
	if b.k > 63 || b.width > 64 {
		return b, b.corrupt()
	}
	b.bits = bitReader{data: data, at: 16}
	return b, nil
}

func (d *dictionary) appendTerms(dst []term, i int) ([]term, error) {
	b, err := d.block(i)
	if err != nil {
		return dst, err
	}
	from := len(dst)
	h := b.first
	dst = append(dst, term{hash: h})
	for range b.count - 1 {
		gap := b.bits.rice(b.k)
		if h += gap + 1; h <= gap {
			return dst, b.corrupt()
		}
		dst = append(dst, term{hash: h})
	}
	for j := range dst[from:] {
		dst[from+j].value = b.bits.get(b.width)
	}
	if b.bits.bad || i+1 < d.blocks() && h >= d.index[2*i+2] {
		return dst, b.corrupt()
	}
	return dst, nil
}
