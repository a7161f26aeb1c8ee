package segment

import "example.org/ndd/engine/storage/store"

// Check reads the whole segment and checks that it is consistent: the keys of each table ascend, all tables have the
// same fingerprints, and every document has one fingerprint. It finds files that were written wrongly, which checksums
// cannot find. Errors wrap [store.ErrCorrupt]. It needs one bit of memory per document.
func (s *Segment) Check() (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	defer s.inOrder()()
	if err := s.checkTables(); err != nil {
		return err
	}
	if s.meta.NoDocs {
		return nil
	}
	return s.docs.check()
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

// mix is the finaliser of splitmix64: sums of it differ for different sets.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
