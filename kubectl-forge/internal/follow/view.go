package follow

// Row is a line of a view. It replaces an earlier row with the same name.
type Row struct {
	Name string
	// State is a word, which also decides about its colour.
	State string
	Text  string
}

// View is a snapshot of the progress.
type View struct {
	Title string
	Rows  []Row
	// Done is set when the operation has succeeded.
	Done bool
	// Failed is set when the operation cannot succeed by itself.
	Failed error
}
