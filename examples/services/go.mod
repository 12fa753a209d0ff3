module github.com/seed42274fcc/stoic/examples/services

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/seed42274fcc/stoic v0.0.0
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/avast/retry-go/v4 v4.7.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace github.com/seed42274fcc/stoic => ../..

tool github.com/seed42274fcc/stoic/cmd/resilientgen
