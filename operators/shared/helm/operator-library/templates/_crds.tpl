{{- /* A Job that brings the CustomResourceDefinitions up to date before an upgrade,
and before an installation that finds older ones: Helm itself does neither. It and
its rights are gone when it has succeeded. */ -}}
{{- define "operator-library.crd-upgrade" -}}
{{- if and .Values.crds.upgrade (not .Values.rbac.namespaceScoped) -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "operator-library.metadata" (list . "-crds") | nindent 2 }}
  annotations:
    {{- include "operator-library.crd-hook" "-2" | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  {{- include "operator-library.clusterMetadata" (list . "-crds") | nindent 2 }}
  annotations:
    {{- include "operator-library.crd-hook" "-2" | nindent 4 }}
rules:
  {{- include "operator-library.crd-rules" . | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  {{- include "operator-library.clusterMetadata" (list . "-crds") | nindent 2 }}
  annotations:
    {{- include "operator-library.crd-hook" "-2" | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "operator-library.fullname" . }}-crds
subjects:
  - kind: ServiceAccount
    name: {{ include "operator-library.fullname" . }}-crds
    namespace: {{ .Release.Namespace }}
{{- if .Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "operator-library.metadata" (list . "-crds") | nindent 2 }}
  annotations:
    {{- include "operator-library.crd-hook" "-2" | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "operator-library.crd-podLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress: []
  egress:
    {{- include "operator-library.networkpolicy.apiServer" . | trim | nindent 4 }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "operator-library.metadata" (list . "-crds") | nindent 2 }}
  annotations:
    {{- include "operator-library.crd-hook" "-1" | nindent 4 }}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: 240
  template:
    metadata:
      labels:
        {{- include "operator-library.crd-podLabels" . | nindent 8 }}
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ include "operator-library.fullname" . }}-crds
      {{- include "operator-library.podPlacement" . | trim | nindent 6 }}
      containers:
        - name: crds
          image: {{ include "operator-library.image" . }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          args: [apply-crds{{ with include "operator-library.services" . }}, {{ printf "--services=%s" . | quote }}{{ end }}]
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
          {{- include "operator-library.containerSecurity" . | nindent 10 }}
{{- end -}}
{{- end -}}

{{- /* Annotations of a hook. The argument is its weight: what has a smaller one is
there first. What failed stays until the next attempt, so that its log can be read. */ -}}
{{- define "operator-library.crd-hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- /* Labels that neither the operator's Service nor its NetworkPolicy selects. */ -}}
{{- define "operator-library.crd-podLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}-crds
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The definitions by name wherever Kubernetes can limit that: it cannot for
creating. */ -}}
{{- define "operator-library.crd-rules" -}}
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames:
    {{- range $operator := (include "operator-library.operators" . | fromYaml).operators }}
    {{- range $operator.kinds }}
    - {{ .plural }}.{{ $operator.group }}
    {{- end }}
    {{- end }}
  verbs: [get, update]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [create]
{{- end -}}
