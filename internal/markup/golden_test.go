package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/homing-gateway/homing/internal/markup"
)

// TestGolden shows how awkward texts come out on each platform. `go test ./internal/markup -run TestGolden -rewrite` writes
// the files anew; read the difference.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			limit := 0
			d.MaybeScanArgs(t, "limit", &limit)
			lawful(t, d.Input, max(limit, 512))
			var out strings.Builder
			for _, dia := range dialects {
				for i, p := range markup.Render(d.Input, dia.name, limit, dia.unit) {
					if i == 0 {
						fmt.Fprintf(&out, "[%s]\n", dia.name)
					} else {
						fmt.Fprintf(&out, "[part %d]\n", i+1)
					}
					out.WriteString(strings.NewReplacer("\u200b", "⟨zwsp⟩", "\u00ad", "⟨shy⟩").Replace(p.Text) + "\n")
				}
			}
			return out.String()
		})
	})
}
