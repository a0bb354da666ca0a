package reconcile

// Outline describes what a controller does in one pass, for its documentation.
type Outline struct {
	// Kind is the kind that the controller reconciles.
	Kind string
	// Steps are the steps of a pass in order.
	Steps []OutlineStep
	// Finalizers are the stages of a deletion in order.
	Finalizers []OutlineStep
}

// OutlineStep is a step without its function.
type OutlineStep struct {
	// Name, Condition, Needs and Informational are those of the Step.
	Name, Condition string
	Needs           []string
	Informational   bool
	// Finalizer is the finalizer on the resource that a stage of deletion removes.
	Finalizer string
}

// NewOutline outlines a controller.
func NewOutline[S any](kind string, pipeline Pipeline[S], finalizers []Finalizer[S]) Outline {
	outline := Outline{Kind: kind}
	for i := range pipeline {
		outline.Steps = append(outline.Steps, outlineOf(&pipeline[i]))
	}
	for i := range finalizers {
		stage := outlineOf(&finalizers[i].Step)
		stage.Finalizer = finalizers[i].Name
		outline.Finalizers = append(outline.Finalizers, stage)
	}
	return outline
}

func outlineOf[S any](step *Step[S]) OutlineStep {
	return OutlineStep{Name: step.Name, Condition: step.Condition, Needs: step.Needs, Informational: step.Informational}
}
