module github.com/seed42274fcc/stoic/docs/recipes/openai

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.99.0
	github.com/seed42274fcc/stoic v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/avast/retry-go/v4 v4.7.0 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/seed42274fcc/stoic => ../../..
