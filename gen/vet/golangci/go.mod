module github.com/seed42274fcc/stoic/gen/vet/golangci

go 1.26.0

require (
	github.com/golangci/plugin-module-register v0.1.2
	github.com/seed42274fcc/stoic v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/tools v0.52.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/seed42274fcc/stoic => ../../..
