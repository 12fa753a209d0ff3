package otelguard_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.yaml.in/yaml/v3"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// scrape is what Prometheus gets of the script: its series by name, as it would call them, and of each label the values.
type scrape struct {
	names  map[string]bool
	labels map[string]map[string]bool
}

func newScrape(t *testing.T) scrape {
	t.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	require.NoError(t, err)
	telemetry, err := otelguard.New(&otelguard.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))})
	require.NoError(t, err)
	telemetry.Watch(resilient.GuardList(script(t, observers(telemetry))))
	broken := guard(t, "broken", policy(threshold(1)), resilient.Options{})
	require.Error(t, resilient.Do(t.Context(), broken, get, returns(errDown)))
	telemetry.Watch(resilient.GuardList{broken})
	budget, err := resilient.NewBudget(resilient.DefaultTokenBucket())
	require.NoError(t, err)
	telemetry.WatchBudgets(map[string]*resilient.Budget{"shared": budget})
	families, err := registry.Gather()
	require.NoError(t, err)
	found := scrape{map[string]bool{}, map[string]map[string]bool{}}
	for _, family := range families {
		names := []string{family.GetName()}
		if family.GetType() == dto.MetricType_HISTOGRAM {
			names = []string{family.GetName() + "_bucket", family.GetName() + "_sum", family.GetName() + "_count"}
			found.labels["le"] = nil
		}
		for _, name := range names {
			found.names[name] = true
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if found.labels[label.GetName()] == nil {
					found.labels[label.GetName()] = map[string]bool{}
				}
				found.labels[label.GetName()][label.GetValue()] = true
			}
		}
	}
	return found
}

// rule is one of alerts.yaml.
type rule struct {
	Alert       string
	Expr        string
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

func alerts(t *testing.T) []rule {
	t.Helper()
	text, err := os.Open("operations/alerts.yaml")
	require.NoError(t, err)
	defer func() { _ = text.Close() }()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	decoder := yaml.NewDecoder(text)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&file))
	require.Len(t, file.Groups, 1)
	return file.Groups[0].Rules
}

// board is as much of board.json as Prometheus has to do with, and where things are.
type board struct {
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, RefID string }
	}
	Annotations struct{ List []struct{ Expr string } }
	Templating  struct {
		List []struct {
			Name, Type, Definition string
			Query                  any
		}
	}
}

func readBoard(t *testing.T) (board, string) {
	t.Helper()
	text, err := os.ReadFile("operations/board.json")
	require.NoError(t, err)
	var b board
	require.NoError(t, json.Unmarshal(text, &b))
	return b, string(text)
}

// queries are those of the board, and what it takes its variables from.
func (b *board) queries() (queries, variables []string) {
	for _, panel := range b.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	for _, annotation := range b.Annotations.List {
		queries = append(queries, annotation.Expr)
	}
	for _, variable := range b.Templating.List {
		if variable.Type == "query" {
			variables = append(variables, variable.Definition)
		}
	}
	return queries, variables
}

var (
	metricName = regexp.MustCompile(`\bstoic_[a-z_]+`)
	matcher    = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"([^"]*)"`)
	aggregated = regexp.MustCompile(`\b(?:by|on) \(([a-z_, ]+)\)`)
)

// Every metric, label and value that the board and the alerts name is really there to be scraped.
func TestTheBoardAndTheAlertsNameWhatIsScraped(t *testing.T) {
	b, _ := readBoard(t)
	queries, variables := b.queries()
	queries = append(queries, variables...)
	for _, rule := range alerts(t) {
		queries = append(queries, rule.Expr, strings.Join([]string{rule.Annotations["summary"], rule.Annotations["description"]}, " "))
	}
	synctest.Test(t, func(t *testing.T) {
		found := newScrape(t)
		found.labels["job"], found.labels["instance"] = nil, nil // Prometheus's own
		named := map[string]bool{}
		for _, query := range queries {
			for _, name := range metricName.FindAllString(query, -1) {
				if name == "stoic_call_attempts" { // in words
					name += "_count"
				}
				assert.True(t, found.names[name], "%s, in %s", name, query)
				named[name] = true
			}
			for _, match := range matcher.FindAllStringSubmatch(query, -1) {
				values, known := found.labels[match[1]]
				require.True(t, known, "label %s, in %s", match[1], query)
				for value := range strings.SplitSeq(match[2], "|") {
					assert.True(t, strings.HasPrefix(value, "$") || values[value], "%s=%q, in %s", match[1], value, query)
				}
			}
			for _, list := range aggregated.FindAllStringSubmatch(query, -1) {
				for label := range strings.SplitSeq(list[1], ", ") {
					assert.Contains(t, found.labels, label, "in %s", query)
				}
			}
		}
		for name := range found.names {
			if strings.HasPrefix(name, "stoic_") && !strings.HasSuffix(name, "_count") && !strings.HasSuffix(name, "_sum") {
				assert.True(t, named[name] || name == "stoic_call_attempts_bucket" || name == "stoic_retry_delay_seconds_bucket",
					"%s is on no board", name)
			}
		}
	})
}

// The alerts hold without OpenTelemetry, too: what they ask for is in the dashboard's text as well.
func TestTheAlertsNameWhatTheDashboardServes(t *testing.T) {
	meter := dashboard.NewMeter()
	guarded := guard(t, "orders", policy(threshold(1)), resilient.Options{Observers: []resilient.Observer{meter}})
	require.Error(t, resilient.Do(t.Context(), guarded, get, returns(errDown)))
	recorder := httptest.NewRecorder()
	dashboard.Metrics(resilient.GuardList{guarded}, meter).ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	for _, rule := range alerts(t) {
		for _, name := range metricName.FindAllString(rule.Expr, -1) {
			assert.True(t, strings.Contains(recorder.Body.String(), "\n"+name+"{"), "%s, of %s", name, rule.Alert)
		}
	}
}

func TestThePanelsDoNotOverlap(t *testing.T) {
	b, text := readBoard(t)
	require.Greater(t, len(b.Panels), 15)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, panel := range b.Panels {
		assert.False(t, ids[panel.ID], "%s", panel.Title)
		ids[panel.ID] = true
		assert.NotEmpty(t, panel.Targets, "%s", panel.Title)
		assert.LessOrEqual(t, panel.GridPos.X+panel.GridPos.W, 24, "%s", panel.Title)
		for x := range panel.GridPos.W {
			for y := range panel.GridPos.H {
				cell := [2]int{panel.GridPos.X + x, panel.GridPos.Y + y}
				require.Empty(t, taken[cell], "%s", panel.Title)
				taken[cell] = panel.Title
			}
		}
	}
	variables := map[string]bool{"__rate_interval": true, "__all": true}
	for _, v := range b.Templating.List {
		variables[v.Name] = true
	}
	for _, used := range regexp.MustCompile(`\$\{?([a-z_]+)`).FindAllStringSubmatch(text, -1) {
		assert.True(t, variables[used[1]], "$%s is no variable", used[1])
	}
}

// promtool is Prometheus's own tool. Without it the test is skipped, unless it is required.
func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("STOIC_PROMTOOL") == "required" {
			t.Fatal(err)
		}
		t.Skip("NOT RUN, for want of promtool (make alerts)")
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Dir = dir
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func TestTheAlertsDoWhatTheyAreFor(t *testing.T) {
	promtool(t, "operations", "test", "rules", "alerts_test.yaml")
	text, err := os.ReadFile("operations/alerts_test.yaml")
	require.NoError(t, err)
	for _, rule := range alerts(t) {
		assert.Contains(t, string(text), "alertname: "+rule.Alert, "each has a test")
	}
}

var grafana = strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$service", ".*", "$operation", ".*")

// The queries parse, by a parser that is light and knows a little more than Prometheus's own.
func TestTheQueriesParse(t *testing.T) {
	b, _ := readBoard(t)
	queries, _ := b.queries()
	for _, rule := range alerts(t) {
		queries = append(queries, rule.Expr)
	}
	require.Greater(t, len(queries), 30)
	for _, query := range queries {
		_, err := metricsql.Parse(grafana.Replace(query))
		require.NoError(t, err, "%s", query)
	}
}

// Prometheus understands what the board asks.
func TestTheBoardsQueriesAreWellFormed(t *testing.T) {
	b, _ := readBoard(t)
	queries, _ := b.queries()
	type record struct{ Record, Expr string }
	var records []record
	for _, query := range queries {
		records = append(records, record{"stoic:query", grafana.Replace(query)})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "board", "rules": records}}})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "board.yaml"), text, 0o600))
	promtool(t, dir, "check", "rules", "--lint=none", "board.yaml")
}
