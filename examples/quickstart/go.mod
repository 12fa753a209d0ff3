module github.com/seed42274fcc/stoic/examples/quickstart

go 1.26.0

require github.com/seed42274fcc/stoic v0.0.0

require (
	github.com/avast/retry-go/v4 v4.7.0 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
)

replace github.com/seed42274fcc/stoic => ../..
