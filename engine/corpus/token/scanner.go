package token

import (
	"context"
	"encoding/binary"
	"unsafe"
)

// Options configures a Scanner. The zero value yields words and characters, and marks no stop words.
type Options struct {
	Lexicon *Lexicon // stop words and words of scripts without spaces, or nil
	Stem    string   // language of the stemmer for words that are not stop words, or "" for none
}

// A Scanner splits texts into tokens. It reuses its memory from text to text: about 12 KiB, and as much as the
// longest chunk of a text needs. The first combining character adds 150 KiB. A Scanner belongs to one goroutine.
type Scanner struct {
	opts    Options
	stemmer *stemmer // nil if words are not stemmed
	normal  normaliser
	yield   func([]Token)
	n       int    // tokens in batch
	mapped  int    // tokens of batch whose positions are already positions in the source
	origin  int    // start of the current chunk in the source, or 0 without a chunk
	long    []byte // bytes of the tokens in batch that are longer than packedMax
	word    []byte // bytes of the current token
	batch   [batchTokens]Token
	ctx     context.Context
	turn    int  // counts batches and chunks
	ended   bool // the context was done
}

// batchTokens is the number of tokens in a batch. A batch has 10 KiB, which stay in the L1 cache.
const batchTokens = 256

// NewScanner returns a Scanner. If o.Stem is not a known language, the error lists the known ones.
func NewScanner(o Options) (*Scanner, error) {
	if err := CheckStem(o.Stem); err != nil {
		return nil, err
	}
	return &Scanner{opts: o, stemmer: newStemmer(o.Stem), normal: newNormaliser(), ctx: context.Background()}, nil
}

// Until makes Scan stop early when a context is done. Then Scan has yielded the tokens of only a part of the text, so
// the caller must check the context before it uses them.
func (s *Scanner) Until(ctx context.Context) { s.ctx = ctx }

// isDone reports whether the context is done. It checks at each 16th call, so after at most 4,096 tokens or 1 MiB.
func (s *Scanner) isDone() bool {
	if s.turn++; s.turn%16 == 0 && !s.ended {
		s.ended = s.ctx.Err() != nil
	}
	return s.ended
}

// Scan splits a text and calls yield with its tokens in the order of the text, up to 256 at a time. The tokens are
// valid only during the call. Stop words are included and marked. Bytes that are not UTF-8 separate words.
//
// One pass handles ASCII, another one handles characters of scripts without spaces that are their own normal form.
// All other text is processed chunk by chunk. Scan reads the text and never writes it.
func (s *Scanner) Scan(text string, yield func([]Token)) {
	s.yield, s.ended = yield, false
	source := unsafe.Slice(unsafe.StringData(text), len(text))
	for i := 0; i < len(source) && !s.isDone(); {
		i = s.words(source, i)
		if i == len(source) {
			break
		}
		if next := s.characters(source, i); next > i {
			i = next
			continue
		}
		end := s.chunkEnd(source, i)
		s.chunk(source[i:end], i)
		i = end
	}
	s.flush(true)
	s.yield = nil
}

// AppendText appends the normalised bytes of a token to dst. It must be called during the call of yield that received
// the token.
func (s *Scanner) AppendText(dst []byte, t *Token) []byte {
	if t.packed == 0 {
		return append(dst, s.long[t.lo:t.lo+t.hi]...)
	}
	var pad [packedMax]byte
	binary.LittleEndian.PutUint64(pad[:8], t.lo)
	binary.LittleEndian.PutUint64(pad[8:], t.hi)
	return append(dst, pad[:t.packed]...)
}

// next returns memory for one more token. Its Stop is false.
func (s *Scanner) next() *Token {
	if s.n == batchTokens {
		s.flush(false)
	}
	s.n++
	return &s.batch[s.n-1]
}

// set makes t a token of n bytes, 1 to packedMax, for the text from start to end.
func (t *Token) set(lo, hi uint64, n, start, end int, kind Kind) {
	t.lo, t.hi, t.Start, t.End, t.packed, t.Kind = lo, hi, start, end, uint8(n), kind
}

// replace gives a token other bytes, at least one.
func (s *Scanner) replace(t *Token, token []byte) {
	if len(token) <= packedMax {
		t.lo, t.hi = pack(token)
		t.packed = uint8(len(token))
		return
	}
	t.lo, t.hi, t.packed = uint64(len(s.long)), uint64(len(token)), 0
	s.long = append(s.long, token...)
}

// flush yields the tokens of the batch. Some tokens may wait for the next ones, with which they may form a word.
func (s *Scanner) flush(last bool) {
	s.locate()
	n, waiting := s.n, 0
	if l := s.opts.Lexicon; l != nil {
		if len(l.entries) > 0 {
			n, waiting = s.join(last)
		}
		if len(l.stops) > 0 {
			l.mark(s, s.batch[:n])
		}
	}
	if s.stemmer != nil {
		s.stemmer.apply(s, s.batch[:n])
	}
	if n > 0 && !s.isDone() {
		s.yield(s.batch[:n])
	}
	copy(s.batch[:], s.batch[s.n-waiting:s.n])
	s.n, s.mapped = waiting, waiting
	s.long = s.long[:0] // tokens that wait are packed
}

// chunk splits a piece of the source that starts at origin and is not all ASCII.
func (s *Scanner) chunk(source []byte, origin int) {
	normal := s.normal.chunk(source)
	s.mapped, s.origin = s.n, origin
	s.segment(normal)
	s.locate()
	s.normal.pieces = s.normal.pieces[:0]
	s.origin = 0
}

// locate converts the positions of tokens in the normalised chunk to positions in the source.
func (s *Scanner) locate() {
	if len(s.normal.pieces) > 0 {
		s.normal.locate(s.batch[s.mapped:s.n], s.origin)
	}
	s.mapped = s.n
}
