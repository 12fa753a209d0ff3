package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	// The interface with the most methods that we know; this keeps its module required.
	_ "github.com/redis/go-redis/v9"
)

const (
	module   = "example.com/speed"
	packages = 10 // of fifty interfaces
	each     = 5
)

const threeMethods = `package three

import "context"

type Plan struct{ ID string }

// PlanService is like many a service of a program.
//
//resilient:service plans
//resilient:idempotent GetPlan,ListPlans
type PlanService interface {
	GetPlan(ctx context.Context, id string) (*Plan, error)
	ListPlans(ctx context.Context, limit int, tags ...string) ([]Plan, error)
	ApplyPlan(ctx context.Context, plan *Plan) error
}
`

const commands = `package commands

import "github.com/redis/go-redis/v9"

//resilient:service redis
//resilient:error Err
type Commands interface {
	redis.Cmdable
}
`

// inputs writes a module with the interfaces; its requirements are this one's.
func inputs(dir string) error {
	files := map[string]string{
		"three/three.go": threeMethods, "commands/commands.go": commands, ".mockery.yml": mockeryConfig(),
	}
	for p := range packages {
		files[fmt.Sprintf("fifty/p%d/p%d.go", p, p)] = oneOfTen(p)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files[name] = string(text)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	_, err = output(command(dir, "go", "mod", "edit", "-module", module, "-replace", "github.com/seed42274fcc/stoic="+root))
	return err
}

// oneOfTen is a package with five interfaces that use what services use.
func oneOfTen(p int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "package p%d\n\nimport (\n\t\"context\"\n\t\"io\"\n\t\"net/http\"\n\t\"time\"\n)\n\ntype Item struct{ ID string }\n", p)
	for i := range each {
		fmt.Fprintf(&text, `
//resilient:service s%[2]d_%[1]d
//resilient:idempotent Get
type Service%[1]d interface {
	Get(ctx context.Context, id string) (*Item, error)
	List(ctx context.Context, since time.Time, tags ...string) ([]*Item, int, error)
	Put(ctx context.Context, item *Item, body io.Reader) error
	Watch(ctx context.Context, ids []string) (<-chan *Item, error)
	Send(request *http.Request) (map[string][]byte, error)
}
`, i, p)
	}
	return text.String()
}

func mockeryConfig() string {
	var text strings.Builder
	text.WriteString("all: true\ndir: '{{.InterfaceDir}}'\nfilename: '{{.SrcPackageName}}_mockery.go'\npkgname: '{{.SrcPackageName}}'\ntemplate: testify\nlog-level: error\npackages:\n")
	for p := range packages {
		fmt.Fprintf(&text, "  %s/fifty/p%d: {}\n", module, p)
	}
	return text.String()
}
