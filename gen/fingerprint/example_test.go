package fingerprint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"log"

	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// service type-checks an interface with those methods.
func service(methods string) *types.Interface {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "plans.go", "package plans\ntype Service interface {\n"+methods+"\n}\n", 0)
	if err != nil {
		panic(err)
	}
	pkg, err := new(types.Config).Check("example.com/plans", fset, []*ast.File{file}, nil)
	if err != nil {
		panic(err)
	}
	return pkg.Scope().Lookup("Service").Type().Underlying().(*types.Interface)
}

// A wrapper fits as long as neither the signatures nor the directives change.
func ExampleOf() {
	retried := []fingerprint.Directive{{Method: "Get", Text: "idempotent"}}
	written := fingerprint.Of(service("Get(id string) error"), nil, retried)
	fmt.Println("a parameter is renamed:", written == fingerprint.Of(service("Get(name string) error"), nil, retried))
	fmt.Println("its type is changed:", written == fingerprint.Of(service("Get(id int) error"), nil, retried))
	fmt.Println("a directive is gone:", written == fingerprint.Of(service("Get(id string) error"), nil, nil))
	// Output:
	// a parameter is renamed: true
	// its type is changed: false
	// a directive is gone: false
}

// A generated file carries the fingerprint in a line of its own.
func ExampleMarks() {
	text := "package plans\n\n" + fingerprint.Line("Service", "0123456789abcdef") + "\ntype resilientService struct{}\n"
	file, err := parser.ParseFile(token.NewFileSet(), "plans_resilient.go", text, parser.ParseComments)
	if err != nil {
		log.Fatal(err)
	}
	for _, mark := range fingerprint.Marks(file) {
		fmt.Println(mark.Interface, mark.Hex)
	}
	// Output:
	// Service 0123456789abcdef
}
