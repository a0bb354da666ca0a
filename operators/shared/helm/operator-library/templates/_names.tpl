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
list of it, a suffix for the name and, if it is another one, the namespace. */ -}}
{{- define "operator-library.metadata" -}}
{{- $root := . -}}
{{- $suffix := "" -}}
{{- $namespace := "" -}}
{{- if kindIs "slice" . -}}
{{- $root = first . -}}
{{- $suffix = index . 1 -}}
{{- if gt (len .) 2 -}}
{{- $namespace = index . 2 -}}
{{- end -}}
{{- end -}}
name: {{ include "operator-library.fullname" $root }}{{ $suffix }}
namespace: {{ default $root.Release.Namespace $namespace }}
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

{{- /* The operators that the program runs, as a list below "operators", for fromYaml. Each has what
its operator.yaml says, the name of its own program, and the folder with its files: those of
the chart, or, if the values enable services, those of each of them. */ -}}
{{- define "operator-library.operators" -}}
{{- if .Values.services }}
{{- include "operator-library.validateServices" . }}
{{- end -}}
operators:
{{- if .Values.services }}
{{- range $service := include "operator-library.services" . | splitList "," }}
{{- $folder := printf "files/%s" $service }}
  - name: {{ $service }}-operator
    folder: {{ $folder }}
    {{- required (printf "%s/operator.yaml is missing in the chart: run make generate" $folder) ($.Files.Get (printf "%s/operator.yaml" $folder)) | nindent 4 }}
{{- end }}
{{- else }}
  - name: {{ .Chart.Name }}
    folder: files
    {{- include "operator-library.operator" . | nindent 4 }}
{{- end }}
{{- end -}}

{{- /* The services that the values enable, separated by commas. */ -}}
{{- define "operator-library.services" -}}
{{- $enabled := list -}}
{{- range $service, $settings := .Values.services -}}
{{- if $settings.enabled -}}
{{- $enabled = append $enabled $service -}}
{{- end -}}
{{- end -}}
{{- join "," $enabled -}}
{{- end -}}

{{- /* The namespaces of Leases that are not in that of the release, each after the name of its
service and an equals sign, separated by commas. */ -}}
{{- define "operator-library.leaseNamespaces" -}}
{{- $namespaces := list -}}
{{- range $service, $settings := .Values.services -}}
{{- if and $settings.enabled $settings.leaseNamespace -}}
{{- $namespaces = append $namespaces (printf "%s=%s" $service $settings.leaseNamespace) -}}
{{- end -}}
{{- end -}}
{{- join "," $namespaces -}}
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

{{- /* The same for a program that runs several operators. */ -}}
{{- define "operator-library.validateServices" -}}
{{- if not (include "operator-library.services" .) -}}
{{- fail "one of services.<name>.enabled has to be true: there is nothing to run otherwise." -}}
{{- end -}}
{{- if not .Values.leaderElection.enabled -}}
{{- fail "leaderElection.enabled=true is required: only the Leases keep this program and those of the single operators from working on the same resources." -}}
{{- end -}}
{{- if and .Values.rbac.namespaceScoped (include "operator-library.leaseNamespaces" .) -}}
{{- fail "rbac.namespaceScoped=true requires services.<name>.leaseNamespace to be empty: the Leases of a namespace are in that namespace, whichever program has them." -}}
{{- end -}}
{{- end -}}
