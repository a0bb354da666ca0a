package result

import (
	"encoding/json"
	"fmt"
	"os"
)

// Recorded is a table that another program has measured.
type Recorded struct {
	// Name is the name of the table on the page.
	Name string `json:"name"`
	// Columns and Scenarios are all that the table can have, in their order.
	Columns   []Column `json:"columns"`
	Scenarios []string `json:"scenarios"`
	// Rows are what was measured.
	Rows []struct {
		Row
		// Samples are the values of the runs, by column.
		Samples map[string][]float64 `json:"samples"`
	} `json:"rows"`
}

// ReadRecorded reads the tables that a program has written as JSON.
func ReadRecorded(path string) ([]Recorded, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the samples: %w", err)
	}
	var tables []Recorded
	if err := json.Unmarshal(content, &tables); err != nil {
		return nil, fmt.Errorf("read the samples in %s: %w", path, err)
	}
	return tables, nil
}

// Table summarises all runs.
func (r Recorded) Table() Table {
	s := Samples{}
	for _, row := range r.Rows {
		for column, values := range row.Samples {
			for _, value := range values {
				s.Add(row.Row, column, value)
			}
		}
	}
	return s.Table()
}
