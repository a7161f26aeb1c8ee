package server

// An example is a body that /docs shows.
type example struct {
	body  any
	query string // parameters beside it
	bytes string // of a binary body, as printf takes them
}

const exampleText = "Now is the winter of our discontent made glorious summer by this sun of York"

// examples are those of operations, by media type.
var examples = map[string]map[string]example{
	"query":   {mediaJSON: {body: object{"text": exampleText, "k": 3}}, mediaText: {body: exampleText, query: "?k=3"}, mediaHTML: {body: "<p>" + exampleText + "</p>", query: "?k=3"}},
	"batch":   {mediaBytes: {bytes: `\x55\x44\x9b\x0a\x1e\x2d\x7f\x8c`, query: "?k=3"}},
	"compare": {mediaJSON: {body: object{"a": object{"text": exampleText}, "b": object{"text": exampleText + ", and all the clouds"}}}},
	"insert": {mediaJSON: {body: object{"documents": []any{object{"id": "https://a.example/", "text": exampleText}, object{"id": "https://b.example/", "fingerprint": "8c7f2d1e0a9b4455"}}}},
		mediaText: {body: exampleText, query: "?id=https://a.example/"}, mediaHTML: {body: "<p>" + exampleText + "</p>", query: "?id=https://a.example/&ttl=90d"}},
	"check-and-insert": {mediaJSON: {body: object{"id": "https://a.example/", "text": exampleText}},
		mediaText: {body: exampleText, query: "?id=https://a.example/"}, mediaHTML: {body: "<p>" + exampleText + "</p>", query: "?id=https://a.example/&k=3"}},
	"delete": {mediaJSON: {body: object{"id": "https://a.example/"}}},
	"backup": {mediaJSON: {body: object{"name": "monday"}}},
	"copies": {mediaJSON: {body: object{"text": exampleText}}, mediaText: {body: exampleText, query: "?limit=10"}, mediaHTML: {body: "<p>" + exampleText + "</p>"}},
}

// describeExamples adds an example to each media type of an operation's body. The extensions x-query and x-bytes
// are what /docs needs for a command that works.
func describeExamples(o object) {
	for media, e := range examples[o["operationId"].(string)] {
		content, ok := o["requestBody"].(object)["content"].(object)[media].(object)
		if !ok {
			continue
		}
		if e.body != nil {
			content["example"] = e.body
		}
		if e.query != "" {
			content["x-query"] = e.query
		}
		if e.bytes != "" {
			content["x-bytes"] = e.bytes
		}
	}
}
