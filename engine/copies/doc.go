// Package copies finds documents that are copies of each other, in whole or in part, beyond what a
// fingerprint of 64 bits can tell: revised pages, excerpts, digests, pages in another frame.
//
//	text ──► spotsigs, ccdet, winnow, shingles ──► sets of signatures ──► postings of each method ──► join ──► pairs ──► relation
//
// # Methods
//
//	spotsigs   stop words and the content words behind them; for languages that have such words. Jaccard of at least 0.5
//	ccdet      characters before the ends of Chinese sentences. Shared over the smaller set, at least 0.6
//	winnow     rows of words or characters, selected by their hashes; any language. Shared over the smaller set, at least 0.65
//	shingles   all rows of 3 words or 5 characters; any language. Jaccard of at least 0.4
//	auto       ccdet for texts of mostly Chinese, Japanese or Thai characters, spotsigs for others, and winnow for all
//
// With auto a pair is one
//
//   - of two texts by ccdet: if it finds them, and, where one has fewer than 4 signatures, winnow
//     finds them, too: a sentence may be one of very many documents;
//   - of two others: if spotsigs finds them, or if by winnow one contains the other, or 0.8 of it;
//   - of a text with too few signatures of its method ([Method.MinFeatures]), and for ccdet none:
//     if winnow finds them, or shingles, where both have too few.
//
// With fewer than 12 signatures winnow must find 0.8 of a text in the other.
//
// # Relation
//
// Let c be the signatures that two documents share over those of the smaller one, and r the size of
// the smaller set over that of the larger (CLR in CCDet). With c below 0.6 the documents overlap;
// with a Jaccard of at least 0.8 they are duplicates; else, with r below 0.5 or c of at least 0.9,
// the larger contains the smaller; else one is a revision of the other.
//
// # Signature files
//
// A signature file ([Create], [Open]) keeps the signatures of documents, to find copies of further documents: a [Detector]
// takes the files' documents as known ones ([Detector.AddFile], [Detector.Known]) and finds the pairs of one of them and a
// later document. The file is written once.
//
// # Memory
//
// Signatures of all documents are held, 8 bytes each, in memory or in a temporary file
// ([postings.Room]); texts are not. [Detector.NeedBytes] returns the sum. Package postings
// describes the memory of a join.
//
// # Concurrency
//
// A [Signer], a [Detector] and a [Writer] belong to one goroutine each; a join uses several. A [File] may be read
// concurrently.
package copies
