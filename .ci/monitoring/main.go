// Command monitoring checks cmd/ndd/deploy. The packages of Prometheus parse the rules and the expressions of the
// board. All metrics in them must be metrics of a server.
//
//	go run . METRICS RULES BOARD...
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// suffix matches the endings that histograms add to the names of their series.
var suffix = regexp.MustCompile(`_(bucket|count|sum)$`)

func main() {
	log.SetFlags(0)
	// Read the metrics that a server exports.
	metrics, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	// Collect the expressions of the alerting rules.
	parse := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.ParseFile(os.Args[2], false, model.LegacyValidation, parse, slog.Default())
	if errs != nil {
		log.Fatal(errs)
	}
	var expressions []string
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			expressions = append(expressions, r.Expr)
		}
	}
	// Collect the expressions of the dashboard.
	board, err := os.ReadFile(os.Args[3])
	var b struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err == nil {
		err = json.Unmarshal(board, &b)
	}
	if err != nil {
		log.Fatal(os.Args[3], ": ", err)
	}
	for _, p := range b.Panels {
		for _, t := range p.Targets {
			expressions = append(expressions, strings.ReplaceAll(t.Expr, "$__rate_interval", "5m"))
		}
	}
	// Each expression must be valid and name only metrics that the server has.
	for _, text := range expressions {
		expression, err := parse.ParseExpr(text)
		if err != nil {
			log.Fatalf("%s: %v", text, err)
		}
		parser.Inspect(expression, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if ok && s.Name != "up" && !bytes.Contains(metrics, []byte("# TYPE "+suffix.ReplaceAllString(s.Name, "")+" ")) {
				log.Fatalf("%s: a server has no metric %s", text, s.Name)
			}
			return nil
		})
	}
	fmt.Println(len(expressions), "expressions are right")
}
