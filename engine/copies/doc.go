// Package copies finds documents that are copies of each other, as a whole or in part. A fingerprint of 64 bits finds
// only near-duplicates of the whole; this package also finds revised pages, excerpts, digests, and pages with another
// layout.
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
// Containment is the number of shared signatures divided by the size of the smaller set. The method auto decides by
// these rules:
//
//   - The own method of both documents, ccdet or spotsigs, finds the pair. The signatures must be enough and cover
//     nearly all of both texts: every 256 bytes need one. Else winnow must confirm the pair, and the row has its
//     figures. So a comment that many programs share, or one sentence of many announcements, makes no pair.
//   - Shingles find pairs of short documents: those with too few signatures of their own method ([Method.MinFeatures]),
//     and short Chinese ones.
//   - Winnow finds that one document contains the other, or a containment of at least 0.8, or any of its pairs if a
//     document has too few signatures of its own method. The containment must be at least 0.7 if there are fewer than
//     24 signatures, and 0.8 if there are fewer than 12. Winnow alone does not find two documents with enough Chinese
//     sentences.
//
// If several methods find a pair, the row has the result of the first one in this order: ccdet, spotsigs, shingles,
// winnow.
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
// If the method is not auto and its signatures cover less than half of a text, the relation is overlap. The shares of
// the pair are then shares of the whole texts.
//
// # Signature files
//
// A signature file ([Create], [Open]) keeps the signatures of documents. It is written once. A [Detector] adds the
// documents of files ([Detector.AddFile]), marks them as known ([Detector.MarkKnown]), and finds the pairs of a known
// and a later document.
//
// # Memory
//
// A Detector keeps the signatures of all documents, 8 bytes each, in memory or in a temporary file
// ([postings.Room]). It keeps no texts. Package postings describes the memory of a join.
//
// # Concurrency
//
// A [Signer], a [Detector] and a [Writer] belong to one goroutine each. A join uses several goroutines. A [File] is
// safe for concurrent use.
package copies
