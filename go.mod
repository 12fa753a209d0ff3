module github.com/seed42274fcc/stoic

go 1.26

require (
	github.com/avast/retry-go/v4 v4.7.0
	github.com/sony/gobreaker/v2 v2.4.0
	github.com/stretchr/testify v1.12.1
	pgregory.net/rapid v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
