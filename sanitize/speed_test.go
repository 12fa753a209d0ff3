package sanitize

import (
	"testing"
)

var cleanLines = []string{
	`2026-01-02T15:04:05Z level=info msg="request done" method=GET path=/api/v1/plans/42 status=200 dur=12ms trace_id=4bf92f3577b34da6a3ce929d0e0e4736`,
	`{"time":"2026-01-02T15:04:05Z","level":"INFO","msg":"plan applied","plan":"p-42","attempts":3,"took":"1.2s","user":"bob"}`,
	`GET https://api.internal/v1/plans?limit=50&offset=100: dial tcp 10.0.0.1:5432: connect: connection refused`,
	`connecting to the database failed after 3 attempts, the last error was: context deadline exceeded`,
	`I0102 15:04:05.123456   12345 controller.go:114] Starting workers for deployment default/web-frontend-7d9f`,
}

func BenchmarkClean(b *testing.B) {
	n := 0
	for _, l := range cleanLines {
		n += len(l)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range cleanLines {
			String(l)
		}
	}
}

func BenchmarkBare(b *testing.B) {
	n := 0
	for _, l := range cleanLines {
		n += len(l)
	}
	b.SetBytes(int64(n))
	sum := 0
	for b.Loop() {
		for _, l := range cleanLines {
			for i := 0; i < len(l); i++ {
				sum += int(hot[l[i]])
			}
		}
	}
	_ = sum
}
