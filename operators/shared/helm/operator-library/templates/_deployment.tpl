{{- define "operator-library.args" -}}
{{- $operator := include "operator-library.operator" . | fromYaml -}}
{{- if .Values.leaderElection.enabled }}
- --leader-elect
{{- end }}
{{- with include "operator-library.services" . }}
- --services={{ . }}
{{- end }}
{{- with include "operator-library.leaseNamespaces" . }}
- --lease-namespaces={{ . }}
{{- end }}
{{- if .Values.rbac.namespaceScoped }}
- --namespace={{ .Release.Namespace }}
{{- end }}
{{- with (.Values.controller).ignoreNamespaces }}
- --ignore-namespaces={{ join "," . }}
{{- end }}
{{- if not .Values.webhook.enabled }}
- --enable-webhooks=false
{{- else if include "operator-library.selfManagesCert" . }}
- --webhook-cert-source=self-managed
- --webhook-service-name={{ include "operator-library.fullname" . }}
{{- end }}
{{- if $operator.manager.maxConcurrentReconciles }}
- --max-concurrent-reconciles={{ .Values.controller.maxConcurrentReconciles }}
{{- end }}
{{- with .Values.cluster.name }}
- --cluster-name={{ . }}
{{- end }}
- --cluster-domain={{ .Values.cluster.domain }}
- --kubelet-sync-period={{ .Values.cluster.kubeletSyncPeriod }}
{{- if $operator.manager.korcNamespace }}
- --korc-namespace={{ .Values.korc.namespace }}
{{- end }}
- --metrics-bind-address=:{{ .Values.metrics.port }}
{{- if .Values.metrics.secure }}
- --metrics-secure
{{- end }}
- --health-probe-bind-address=:8081
{{- if (.Values.profiling).enabled }}
- --pprof-bind-address=localhost:6060
{{- end }}
{{- if .Values.logging.development }}
- --zap-devel
{{- end }}
{{- with .Values.logging.level }}
- --zap-log-level={{ . }}
{{- end }}
{{- with .Values.logging.encoder }}
- --zap-encoder={{ . }}
{{- end }}
{{- end -}}

{{- define "operator-library.container" -}}
name: manager
image: {{ include "operator-library.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  {{- include "operator-library.args" . | trim | nindent 2 }}
env:
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
ports:
  - name: metrics
    containerPort: {{ .Values.metrics.port }}
    protocol: TCP
  - name: health
    containerPort: 8081
    protocol: TCP
  {{- if .Values.webhook.enabled }}
  - name: webhook
    containerPort: 9443
    protocol: TCP
  {{- end }}
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  initialDelaySeconds: 15
  periodSeconds: 20
  # A busy node is no reason to begin anew.
  timeoutSeconds: 5
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  initialDelaySeconds: 2
  periodSeconds: 5
  timeoutSeconds: 2
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{ include "operator-library.containerSecurity" . }}
{{- if include "operator-library.usesCertManager" . }}
volumeMounts:
  - name: webhook-cert
    mountPath: /tmp/k8s-webhook-server/serving-certs
    readOnly: true
{{- end }}
{{- end -}}

{{- define "operator-library.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
{{- end -}}

{{- define "operator-library.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- /* Where and as whom pods of the operator's image run, and what fetches it. */ -}}
{{- define "operator-library.podPlacement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "operator-library.podSpec" -}}
serviceAccountName: {{ include "operator-library.serviceAccountName" . }}
{{- include "operator-library.podPlacement" . | trimSuffix "\n" }}
terminationGracePeriodSeconds: 30
containers:
  - {{ include "operator-library.container" . | indent 4 | trim }}
topologySpreadConstraints:
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "operator-library.selectorLabels" . | nindent 8 }}
{{- if include "operator-library.usesCertManager" . }}
volumes:
  - name: webhook-cert
    secret:
      secretName: {{ include "operator-library.fullname" . }}-webhook-cert
{{- end }}
{{- end -}}

{{- define "operator-library.deployment" -}}
{{- include "operator-library.validate" . -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      {{- include "operator-library.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "operator-library.selectorLabels" . | nindent 8 }}
      annotations:
        kubectl.kubernetes.io/default-container: manager
        {{- with .Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "operator-library.podSpec" . | nindent 6 }}
{{- end -}}

{{- define "operator-library.pdb" -}}
{{- if gt (int .Values.replicas) 1 -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      {{- include "operator-library.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{- define "operator-library.serviceaccount" -}}
{{- if .Values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "operator-library.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "operator-library.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}
