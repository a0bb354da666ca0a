package standin

// Assignment is a role that a user has on a project, by ids.
type Assignment struct{ User, Project, Role string }

// Assign assigns a role to a user in a namespace's Keystone, as users do without
// K-ORC. It reports whether the Keystone knows all three.
func (k *KORC) Assign(namespace string, a Assignment) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	here := k.keystone(namespace)
	if here.byID(a.User) == nil || here.byID(a.Project) == nil || here.byID(a.Role) == nil {
		return false
	}
	if k.assigned[namespace] == nil {
		k.assigned[namespace] = map[Assignment]bool{}
	}
	k.assigned[namespace][a] = true
	return true
}

// Unassign removes all role assignments in a namespace's Keystone.
func (k *KORC) Unassign(namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.assigned, namespace)
}

// Assigned returns the number of role assignments in a namespace's Keystone.
func (k *KORC) Assigned(namespace string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.assigned[namespace])
}

// SetPassword changes the password of a user in a namespace's Keystone.
func (k *KORC) SetPassword(namespace, id, password string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if user := k.keystone(namespace).byID(id); user != nil {
		user.secret = password
	}
}

// Admits reports whether the namespace's Keystone issues the user a token for the
// project, given the password and the role.
func (k *KORC) Admits(namespace, password string, a Assignment) bool {
	return k.Accepts(namespace, a.User, password) && k.has(namespace, a)
}

func (k *KORC) has(namespace string, a Assignment) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.assigned[namespace][a]
}

// remove deletes a resource from Keystone, along with the role assignments that
// refer to it. It requires the lock.
func (k *KORC) remove(namespace, id string) {
	k.keystone(namespace).remove(id)
	for a := range k.assigned[namespace] {
		if a.User == id || a.Project == id || a.Role == id {
			delete(k.assigned[namespace], a)
		}
	}
}
