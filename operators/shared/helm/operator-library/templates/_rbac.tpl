{{- /* Resources that exist outside namespaces, as group/resource. A Role cannot
grant them, and namespace-scoped operators do without. */ -}}
{{- define "operator-library.clusterScopedResources" -}}
- /namespaces
- /nodes
- /persistentvolumes
- admissionregistration.k8s.io/mutatingwebhookconfigurations
- admissionregistration.k8s.io/validatingwebhookconfigurations
- apiextensions.k8s.io/customresourcedefinitions
- authentication.k8s.io/tokenreviews
- authorization.k8s.io/subjectaccessreviews
- cert-manager.io/clusterissuers
- external-secrets.io/clustersecretstores
- gateway.networking.k8s.io/gatewayclasses
- rbac.authorization.k8s.io/clusterrolebindings
- rbac.authorization.k8s.io/clusterroles
- scheduling.k8s.io/priorityclasses
- storage.k8s.io/storageclasses
{{- end -}}

{{- /* The generated rules; in namespace-scoped mode without what is
cluster-scoped. */ -}}
{{- define "operator-library.rules" -}}
{{- $rules := list -}}
{{- range $operator := (include "operator-library.operators" . | fromYaml).operators -}}
  {{- $file := printf "%s/rbac-rules.yaml" $operator.folder -}}
  {{- $rules = required (printf "%s is missing or empty in the chart: run make generate" $file) ($.Files.Get $file) | fromYamlArray | concat $rules -}}
{{- end -}}
{{- $clusterScoped := include "operator-library.clusterScopedResources" . | fromYamlArray -}}
{{- $kept := list -}}
{{- range $rule := $rules -}}
  {{- $resources := list -}}
  {{- range $group := $rule.apiGroups -}}
    {{- range $resource := $rule.resources -}}
      {{- $plain := first (splitList "/" $resource) -}}
      {{- if or (not $.Values.rbac.namespaceScoped) (not (has (printf "%s/%s" $group $plain) $clusterScoped)) -}}
        {{- $resources = append $resources $resource -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if and $rule.nonResourceURLs (not $.Values.rbac.namespaceScoped) -}}
    {{- $kept = append $kept $rule -}}
  {{- else if $resources -}}
    {{- $kept = append $kept (merge (dict "resources" (uniq $resources)) $rule) -}}
  {{- end -}}
{{- end -}}
{{- toYaml (uniq $kept) -}}
{{- end -}}

{{- /* Permissions for authenticating those who scrape the metrics. */ -}}
{{- define "operator-library.metricsRules" -}}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end -}}

{{- define "operator-library.clusterrole" -}}
{{- if not .Values.rbac.namespaceScoped -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  {{- include "operator-library.clusterMetadata" . | nindent 2 }}
rules:
  {{- include "operator-library.rules" . | nindent 2 }}
  {{- if .Values.metrics.secure }}
  {{- include "operator-library.metricsRules" . | nindent 2 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "operator-library.role" -}}
{{- if .Values.rbac.namespaceScoped -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
rules:
  {{- include "operator-library.rules" . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- /* Who a binding is for and what it grants. The argument is a list of the
root context, the kind of role, and a suffix of its name. */ -}}
{{- define "operator-library.bindingSpec" -}}
{{- $root := index . 0 -}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ index . 1 }}
  name: {{ include "operator-library.fullname" $root }}{{ index . 2 }}
subjects:
  - kind: ServiceAccount
    name: {{ include "operator-library.serviceAccountName" $root }}
    namespace: {{ $root.Release.Namespace }}
{{- end -}}

{{- define "operator-library.clusterrolebinding" -}}
{{- if not .Values.rbac.namespaceScoped -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  {{- include "operator-library.clusterMetadata" . | nindent 2 }}
{{ include "operator-library.bindingSpec" (list . "ClusterRole" "") }}
{{- end -}}
{{- end -}}

{{- define "operator-library.rolebinding" -}}
{{- if .Values.rbac.namespaceScoped -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
{{ include "operator-library.bindingSpec" (list . "Role" "") }}
{{- end -}}
{{- end -}}

{{- /* What users get on the operator's kinds through the built-in roles admin,
edit and view. */ -}}
{{- define "operator-library.aggregated-roles" -}}
{{- $read := list "get" "list" "watch" -}}
{{- $write := concat $read (list "create" "update" "patch" "delete") -}}
{{- $roles := list
  (dict "name" "admin" "aggregate" "admin" "verbs" (append $write "deletecollection"))
  (dict "name" "editor" "aggregate" "edit" "verbs" $write)
  (dict "name" "viewer" "aggregate" "view" "verbs" $read)
-}}
{{- if and .Values.rbac.aggregatedRoles (not .Values.rbac.namespaceScoped) -}}
{{- range $operator := (include "operator-library.operators" . | fromYaml).operators }}
{{- range $kind := $operator.kinds }}
{{- range $role := $roles }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  {{- include "operator-library.clusterMetadata" (list $ (printf "-%s-%s" (lower $kind.kind) $role.name)) | nindent 2 }}
    rbac.authorization.k8s.io/aggregate-to-{{ $role.aggregate }}: "true"
rules:
  - apiGroups: [{{ $operator.group }}]
    resources: [{{ $kind.plural }}]
    verbs:
      {{- toYaml $role.verbs | nindent 6 }}
  - apiGroups: [{{ $operator.group }}]
    resources: [{{ $kind.plural }}/status]
    verbs: [get]
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* What leader election takes, in the namespace where the operator runs, and in those where
else Leases are. */ -}}
{{- define "operator-library.leader-election-rbac" -}}
{{- if .Values.leaderElection.enabled -}}
{{- $namespaces := list .Release.Namespace -}}
{{- range $settings := .Values.services -}}
{{- if and $settings.enabled $settings.leaseNamespace -}}
{{- $namespaces = append $namespaces $settings.leaseNamespace -}}
{{- end -}}
{{- end -}}
{{- range $i, $namespace := uniq $namespaces -}}
{{- if $i }}
---
{{ end -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "operator-library.metadata" (list $ "-leader-election" $namespace) | nindent 2 }}
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [get, create, update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- include "operator-library.metadata" (list $ "-leader-election" $namespace) | nindent 2 }}
{{ include "operator-library.bindingSpec" (list $ "Role" "-leader-election") }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* What managing the webhook certificate takes, limited by name wherever
Kubernetes can: it cannot for creating. */ -}}
{{- define "operator-library.webhook-cert-rbac" -}}
{{- if include "operator-library.selfManagesCert" . -}}
{{- $fullname := include "operator-library.fullname" . -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "operator-library.metadata" (list . "-webhook-cert") | nindent 2 }}
rules:
  - apiGroups: [""]
    resources: [secrets]
    resourceNames: [{{ $fullname }}-webhook-cert]
    verbs: [get, list, watch, update]
  - apiGroups: [""]
    resources: [secrets]
    verbs: [create]
  - apiGroups: [""]
    resources: [services]
    resourceNames: [{{ $fullname }}]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- include "operator-library.metadata" (list . "-webhook-cert") | nindent 2 }}
{{ include "operator-library.bindingSpec" (list . "Role" "-webhook-cert") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  {{- include "operator-library.clusterMetadata" (list . "-webhook-cert") | nindent 2 }}
rules:
  - apiGroups: [admissionregistration.k8s.io]
    resources: [mutatingwebhookconfigurations]
    resourceNames: [{{ $fullname }}-mutating]
    verbs: [list, watch, update]
  - apiGroups: [admissionregistration.k8s.io]
    resources: [validatingwebhookconfigurations]
    resourceNames: [{{ $fullname }}-validating]
    verbs: [list, watch, update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  {{- include "operator-library.clusterMetadata" (list . "-webhook-cert") | nindent 2 }}
{{ include "operator-library.bindingSpec" (list . "ClusterRole" "-webhook-cert") }}
{{- end -}}
{{- end -}}
