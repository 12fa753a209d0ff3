module github.com/seed42274fcc/stoic/docs/recipes/logs

go 1.26.0

require (
	github.com/rs/zerolog v1.35.1
	github.com/seed42274fcc/stoic v0.0.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/zap v1.28.0
)

require (
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/seed42274fcc/stoic => ../../..
