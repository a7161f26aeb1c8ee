// Package copies finds documents that are copies of each other, as a whole or in part. A fingerprint of 64 bits finds
// only near-duplicates of the whole; this package also finds revised pages, excerpts, digests, and pages in another
// frame.
//
//	text ──► Signer (spotsigs, ccdet, winnow, shingles) ──► Sets ──► Detector: a join of each method ──► pairs ──► relations
//	                                                            └──► Writer, File: signature files
//
// # Methods
//
//	spotsigs   stop words and the content words after them, in languages with such words. Jaccard similarity >= 0.5
//	ccdet      characters before the ends of Chinese sentences. Containment >= 0.6
//	winnow     selected sequences of words or characters, in any language. Containment >= 0.65
//	shingles   all sequences of 3 words or 5 characters, in any language. Jaccard similarity >= 0.4
//	auto       ccdet for texts with a share of Chinese, Japanese or Thai letters, else spotsigs; and winnow for all
//
// Containment is the number of shared signatures divided by the size of the smaller set. The method auto decides in three
// cases:
//
//   - Both documents are compared by ccdet: it must find the pair. If a document has fewer than 4 signatures, winnow
//     must find the pair, too, because very many documents may have the same sentence.
//   - Both documents are compared by spotsigs: it finds the pair. Or winnow finds that one contains the other, or a
//     containment of at least 0.8.
//   - A document has too few signatures of its method ([Method.MinFeatures]), for ccdet none: winnow must find the
//     pair, or shingles if both have too few.
//
// With fewer than 12 signatures winnow must find a containment of at least 0.8.
//
// # Relation
//
// Containment, the ratio of the sizes of the two sets (CLR in CCDet) and the Jaccard similarity decide how documents
// are related. The first row that applies counts; [RelationLimits] are settings:
//
//	overlap                containment < 0.6
//	duplicate              Jaccard similarity >= 0.8
//	revised                ratio >= 0.5 and containment < 0.9
//	contains, contained    else; the larger document contains the smaller one
//
// # Signature files
//
// A signature file ([Create], [Open]) keeps the signatures of documents. It is written once. A [Detector] adds the
// documents of files ([Detector.AddFile]), marks them as known ([Detector.Known]), and finds the pairs of a known
// and a later document.
//
// # Memory
//
// A Detector keeps the signatures of all documents, 8 bytes each, in memory or in a temporary file
// ([postings.Room]). It keeps no texts. [Detector.NeedBytes] returns the sum. Package postings
// describes the memory of a join.
//
// # Concurrency
//
// A [Signer], a [Detector] and a [Writer] belong to one goroutine each. A join uses several goroutines. A [File] is safe
// for concurrent use.
package copies
