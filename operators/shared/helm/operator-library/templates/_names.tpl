{{- /* The name of every object, or the start of it. */ -}}
{{- define "operator-library.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* What Services, policies and the Deployment select pods by. It must never
change, because a Deployment's selector cannot. */ -}}
{{- define "operator-library.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "operator-library.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "operator-library.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* Metadata of a namespaced object. The argument is the root context, or a
list of it and a suffix for the name. */ -}}
{{- define "operator-library.metadata" -}}
{{- $root := . -}}
{{- $suffix := "" -}}
{{- if kindIs "slice" . -}}
{{- $root = first . -}}
{{- $suffix = last . -}}
{{- end -}}
name: {{ include "operator-library.fullname" $root }}{{ $suffix }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "operator-library.labels" $root | nindent 2 }}
{{- end -}}

{{- /* The same without a namespace, for cluster-scoped objects. */ -}}
{{- define "operator-library.clusterMetadata" -}}
{{- $root := . -}}
{{- $suffix := "" -}}
{{- if kindIs "slice" . -}}
{{- $root = first . -}}
{{- $suffix = last . -}}
{{- end -}}
name: {{ include "operator-library.fullname" $root }}{{ $suffix }}
labels:
  {{- include "operator-library.labels" $root | nindent 2 }}
{{- end -}}

{{- define "operator-library.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "operator-library.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.create=false requires serviceAccount.name: the account that the operator runs as" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* The chart's files/operator.yaml, as YAML for fromYaml. */ -}}
{{- define "operator-library.operator" -}}
{{- required "files/operator.yaml is missing in the chart" (.Files.Get "files/operator.yaml") -}}
{{- end -}}

{{- /* "true" when cert-manager issues the webhook certificate, else empty. */ -}}
{{- define "operator-library.usesCertManager" -}}
{{- if .Values.webhook.enabled -}}
{{- $wish := .Values.webhook.certManager.enabled | toString -}}
{{- if or (eq $wish "true") (and (eq $wish "auto") (include "operator-library.hasCertManager" .)) -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Not empty when cert-manager is installed and not only its kinds, whose
     Certificates nobody would issue: it registers a webhook of a fixed name. */ -}}
{{- define "operator-library.hasCertManager" -}}
{{- if .Capabilities.APIVersions.Has "cert-manager.io/v1" -}}
{{- range (lookup "admissionregistration.k8s.io/v1" "ValidatingWebhookConfiguration" "" "").items -}}
{{- range .webhooks -}}
{{- if eq .name "webhook.cert-manager.io" -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" when the operator issues the webhook certificate itself. */ -}}
{{- define "operator-library.selfManagesCert" -}}
{{- if and .Values.webhook.enabled (not (include "operator-library.usesCertManager" .)) -}}
true
{{- end -}}
{{- end -}}

{{- /* Combinations of values that cannot work. Included by the Deployment, which
every release has. */ -}}
{{- define "operator-library.validate" -}}
{{- if and .Values.rbac.namespaceScoped .Values.webhook.enabled -}}
{{- fail "rbac.namespaceScoped=true requires webhook.enabled=false: webhook configurations are cluster-scoped and would apply to every namespace. The operator checks the same rules when it reconciles." -}}
{{- end -}}
{{- if and .Values.rbac.namespaceScoped .Values.metrics.secure -}}
{{- fail "rbac.namespaceScoped=true requires metrics.secure=false: authenticating scrapers needs cluster-scoped permissions (TokenReview, SubjectAccessReview)." -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) -}}
{{- fail "replicas > 1 requires leaderElection.enabled=true: without it the replicas would work against each other." -}}
{{- end -}}
{{- end -}}
