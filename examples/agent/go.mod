module github.com/seed42274fcc/stoic/examples/agent

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/seed42274fcc/stoic v0.0.0
	github.com/seed42274fcc/stoic/integrations/mcpguard v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/avast/retry-go/v4 v4.7.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace (
	github.com/seed42274fcc/stoic => ../..
	github.com/seed42274fcc/stoic/integrations/mcpguard => ../../integrations/mcpguard
)
