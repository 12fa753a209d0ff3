package main

import "github.com/spf13/cobra"

func (a *app) schema() *cobra.Command {
	var config, lenient bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Write the JSON Schema of a configuration",
		Long: `Writes the JSON Schema (2020-12) of the document of overrides, or with --config
of a whole configuration. It refuses what validate exits with 1 for, with the
same --lenient, but for what no schema can say: settings that are allowed alone
and not together, durations in strings that are out of range, keys that stand
there twice, too long a document, the content of a document in a string, and
which budgets there are.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(formOf(config).Schema(lenient))
			return err
		},
	}
	formFlag(cmd.Flags(), &config)
	cmd.Flags().BoolVar(&lenient, "lenient", false, "accept unknown keys and nulls")
	return cmd
}
