// Package watches decides which resources a controller looks at after an event,
// and how soon it tries again: what all controllers of this repository do alike
// when they set up their watches.
package watches
