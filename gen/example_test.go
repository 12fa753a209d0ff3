package gen_test

import (
	"fmt"
	"log"

	"github.com/seed42274fcc/stoic/gen"
)

// Run says what becomes of each method, and returns the files to write.
func ExampleRun() {
	result, err := gen.Run(&gen.Config{Dir: "testdata/example"})
	if err != nil {
		log.Fatal(err)
	}
	for _, service := range result.Services {
		for _, m := range service.Methods {
			fmt.Println(service.Service, m.Name, m.Kind, m.Idempotent)
		}
		fmt.Println(service.Output, "is to be written:", result.Files[0].Changed())
	}
	// Output:
	// plan_service ApplyPlan guarded false
	// plan_service Count forwarded false
	// plan_service GetPlan guarded true
	// plan_service Watch stream false
	// plans_resilient.go is to be written: true
}

// What cannot be honoured is refused with its place and the way out, and nothing is to be written.
func ExampleRun_refused() {
	result, err := gen.Run(&gen.Config{Dir: "testdata/example", Patterns: []string{"./refused"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Problems[0])
	fmt.Println(len(result.Files), "files")
	// Output:
	// refused/plans.go:8:2: cannot guard PlanService.Count: it returns no error, so a failure cannot be seen; take the directive away, or let the method return an error
	// 0 files
}

func ExampleFile_Diff() {
	file := gen.File{Path: "plans_resilient.go", Old: []byte("package plans\n"), Content: []byte("package plans\n\nvar ops int\n")}
	fmt.Print(file.Diff())
	// Output:
	// --- a/plans_resilient.go
	// +++ b/plans_resilient.go
	// @@ -1,1 +1,3 @@
	//  package plans
	// +
	// +var ops int
}
