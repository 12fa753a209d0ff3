package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/seed42274fcc/stoic/sanitize"
)

// contestant is one way to look for secrets in lines of one kind.
type contestant struct {
	name  string
	kind  string
	lines []string
	do    func(line string)
	// finds says whether it found something; nil for the bare loop, which does not look.
	finds func(line string) bool

	loops  int // of one sample
	speeds []float64
	counts []float64
	speed  float64 // MB/s
	allocs float64 // per line
}

const (
	nameOurs     = "stoic"
	nameUsual    = "usual regular expressions"
	nameGitleaks = "gitleaks' rules"
	nameBare     = "bare loop over a table"
	nameSum      = "sum over a table"

	clean = "clean"
	dirty = "with a secret"
)

// usual are regular expressions of the kind that programs have of their own: the credentials of URLs, pairs, headers,
// and dictionaries.
var usual = []struct{ find, replace string }{
	{`://[^/\s:@]+:[^/\s@]+@`, `://***@`},
	{`(?i)\b(api[_-]?key|password|passwd|secret|credential|token|private[_-]?key|access[_-]?key|session[_-]?id|client[_-]?secret)=[^\s&,;]+`, `$1=***`},
	{`(?i)\b(authorization|x-api-key):\s*[^\r\n]+`, `$1: ***`},
	{`(?i)(['"](?:api_key|password|secret|token|private_key|access_key)['"]\s*:\s*['"])[^'"]*(['"])`, `$1***$2`},
}

// cleanLines are what services log: a line of pairs, a JSON record, a request, an error, prose.
var cleanLines = []string{
	`2026-01-02T15:04:05Z level=info msg="request done" method=GET path=/api/v1/plans/42 status=200 dur=12ms trace_id=4bf92f3577b34da6a3ce929d0e0e4736`,
	`{"time":"2026-01-02T15:04:05Z","level":"INFO","msg":"plan applied","plan":"p-42","attempts":3,"took":"1.2s","user":"bob"}`,
	`10.0.0.7 - bob [02/Jan/2026:15:04:05 +0000] "GET /api/v1/plans?limit=50&offset=100 HTTP/1.1" 200 1234 "-" "curl/8.5.0"`,
	`call plan_service: Get "https://api.internal/v1/plans/42": dial tcp 10.0.0.1:5432: connect: connection refused`,
	`I0102 15:04:05.123456   12345 controller.go:114] Starting workers for deployment default/web-frontend-7d9f`,
	`retrying after an error, attempt 2 of 3: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
}

var dirtyLines = []string{
	`connect failed: postgres://app:F4KEpass1@db.internal:5432/orders`,
	`2026-01-02T15:04:05Z level=error msg="login failed" password=F4KEpass1 user=bob`,
	`{"user":"bob","password":"F4KEpass1","attempts":3}`,
	"Authorization: Bearer F4KEpass1F4KEpass1",
}

func contestants() ([]*contestant, error) {
	var patterns []*regexp.Regexp
	for _, u := range usual {
		patterns = append(patterns, regexp.MustCompile(u.find))
	}
	replaced := func(line string) string {
		for i, p := range patterns {
			line = p.ReplaceAllString(line, usual[i].replace)
		}
		return line
	}
	detector, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return nil, err
	}
	var table [256]uint8
	for _, c := range `=:"'-_.@%>` {
		table[c] = 1
	}
	sum := 0
	both := func(name string, do func(string), finds func(string) bool) []*contestant {
		return []*contestant{
			{name: name, kind: clean, lines: cleanLines, do: do, finds: finds},
			{name: name, kind: dirty, lines: dirtyLines, do: do, finds: finds},
		}
	}
	all := both(nameOurs, func(line string) { sanitize.String(line) }, func(line string) bool { return sanitize.String(line) != line })
	all = append(all, both(nameUsual, func(line string) { replaced(line) }, func(line string) bool { return replaced(line) != line })...)
	all = append(all, both(nameGitleaks, func(line string) { detector.DetectString(line) }, nil)...)
	// What stops at the bytes that could matter, and does nothing there: no scanner that looks at them is faster.
	all = append(all, &contestant{name: nameBare, kind: clean, lines: cleanLines, do: func(line string) {
		n := 0
		for at := 0; at < len(line); at++ {
			for at < len(line) && table[line[at]] == 0 {
				at++
			}
			n += at
		}
		sum += n
	}})
	// What does not even stop.
	all = append(all, &contestant{name: nameSum, kind: clean, lines: cleanLines, do: func(line string) {
		n := 0
		for i := range len(line) {
			n += int(table[line[i]])
		}
		sum += n
	}})
	return all, nil
}

// right checks that what is measured does what it is measured for.
func right(all []*contestant) error {
	for _, c := range all {
		if c.finds == nil {
			continue
		}
		for _, line := range c.lines {
			if found := c.finds(line); found != (c.kind == dirty) {
				return fmt.Errorf("%s: %q: found %v", c.name, strings.TrimSpace(line), found)
			}
		}
	}
	return nil
}
