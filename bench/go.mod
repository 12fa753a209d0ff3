module github.com/seed42274fcc/stoic/bench

go 1.26.0

require (
	github.com/avast/retry-go/v4 v4.7.0
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/seed42274fcc/stoic v0.0.0
	github.com/sony/gobreaker/v2 v2.4.0
)

require github.com/bits-and-blooms/bitset v1.24.4 // indirect

replace github.com/seed42274fcc/stoic => ..
