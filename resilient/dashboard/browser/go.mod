module github.com/seed42274fcc/stoic/resilient/dashboard/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.160.1
	github.com/chromedp/chromedp v0.23.1
	github.com/seed42274fcc/stoic v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/avast/retry-go/v4 v4.7.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/seed42274fcc/stoic => ../../..
