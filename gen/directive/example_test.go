package directive_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"log"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// What is a directive is found with what it stands on, and what only looks like one is a problem.
func ExampleRead() {
	file, err := parser.ParseFile(token.NewFileSet(), "plans.go", `package plans

//resilient:service plan_service
type PlanService interface {
	//resilient:timeout 2s attempt=500ms
	GetPlan() error
	// resilient:idempotent
	ListPlans() error
}
`, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		log.Fatal(err)
	}
	found := directive.Read(file)
	for _, t := range found.Types {
		fmt.Println(t.Spec.Name, "is service", directive.Find(t.Directives, directive.Service).Name)
		t.All(func(method, text string) { fmt.Printf("%q: %s\n", method, text) })
	}
	for _, problem := range found.Problems {
		fmt.Println(problem.What)
	}
	// Output:
	// PlanService is service plan_service
	// "": service plan_service
	// "GetPlan": timeout 2s attempt=500ms
	// "// resilient:idempotent" is not a directive
}

func ExampleForms() {
	for _, form := range directive.Forms() {
		if form.Places&directive.OnEmbed != 0 {
			fmt.Printf("//resilient:%s stands on %s: %s\n", form.Verb, form.Places, form.Does)
		}
	}
	// Output:
	// //resilient:inherit stands on an interface or a line that embeds an interface: take the directives that the interface's own module gave it
}
