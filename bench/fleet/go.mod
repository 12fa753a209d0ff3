module github.com/seed42274fcc/stoic/bench/fleet

go 1.26.0

require (
	github.com/redis/go-redis/v9 v9.23.0
	github.com/seed42274fcc/stoic v0.0.0
	github.com/sony/gobreaker/v2 v2.4.0
)

require (
	github.com/avast/retry-go/v4 v4.7.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/seed42274fcc/stoic => ../..
