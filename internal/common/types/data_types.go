package types

// DataSpec is the part of a spec about the database of a service. The kinds of services with
// a database embed it next to [ServiceSpec].
type DataSpec struct {
	// database is the MariaDB database of the service. Its name and the choice between
	// clusterRef and host cannot be changed later.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self.database == oldSelf.database",fieldPath=".database",message="database name is immutable"
	// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef)",message="database mode (managed clusterRef vs brownfield host) is immutable"
	Database DatabaseSpec `json:"database"`

	// deletionPolicy determines what happens to the data when the resource is deleted. With
	// Retain, the database, its user and the keys that its content needs stay, and a new
	// resource of the same name adopts them. With Delete, the operator removes them; this
	// is also the behaviour when the field is not set. A database on database.host always
	// stays.
	//
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}
