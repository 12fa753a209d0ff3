package sanitize_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rows reads a table of testdata: a head line, then an id and texts written as
// the bodies of Go strings, since many hold quotes and line breaks.
func rows(t testing.TB, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var table [][]string
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")[1:] {
		row := strings.Split(line, "\t")
		for i := 1; i < len(row); i++ {
			row[i], err = strconv.Unquote(`"` + row[i] + `"`)
			require.NoError(t, err, line)
		}
		table = append(table, row)
	}
	return table
}

// cleanRows are the texts of the corpus that must stay.
func cleanRows(t testing.TB) []string {
	t.Helper()
	var texts []string
	for _, row := range rows(t, "corpus.tsv") {
		if row[0][0] == 'N' {
			texts = append(texts, row[2])
		}
	}
	require.NotEmpty(t, texts)
	return texts
}
