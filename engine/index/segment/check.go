package segment

import "example.org/ndd/engine/storage/store"

// Check reads the whole segment and checks that it is consistent: the keys of each table ascend, all tables have the
// same fingerprints, and every document has one fingerprint. It finds files that were written wrongly, which checksums
// cannot find. Errors wrap [store.ErrCorrupt]. It needs one bit of memory per document.
func (s *Segment) Check() (err error) {
	defer store.CatchFault(&err)()
	defer s.inOrder()()
	if err := s.checkTables(); err != nil {
		return err
	}
	if s.meta.NoDocs {
		return nil
	}
	return s.checkDocs()
}

// checkTables reads all tables and compares the sums of their fingerprints. Reading checks that keys ascend.
func (s *Segment) checkTables() error {
	var sum0 uint64
	for i := range s.tables {
		sum := uint64(0)
		err := s.walk(i, 0, 1, 1, func(_ uint64, fingerprints []uint64) bool {
			for _, f := range fingerprints {
				sum += mix(f)
			}
			return true
		})
		if err != nil {
			return err
		}
		if i == 0 {
			sum0 = sum
		}
		if sum != sum0 {
			return s.head.Corrupt(0, "tables 0 and %d have different fingerprints", i)
		}
	}
	return nil
}

// checkDocs checks that the documents of the fingerprints follow each other, and are all documents.
func (s *Segment) checkDocs() error {
	seen := make([]uint64, (s.meta.Documents+63)/64)
	return s.eachRange(func(_, start, end uint64) error {
		for i := start; i < end; i++ {
			doc, err := s.row(i)
			if err == nil && seen[doc/64]>>(doc%64)&1 != 0 {
				err = s.docs.corrupt(i, "document %d has two fingerprints", doc)
			}
			if err != nil {
				return err
			}
			seen[doc/64] |= 1 << (doc % 64)
		}
		return nil
	})
}

// mix is the finaliser of splitmix64: sums of it differ for different sets.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
