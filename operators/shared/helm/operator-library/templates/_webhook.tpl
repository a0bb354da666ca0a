{{- define "operator-library.certificate" -}}
{{- if include "operator-library.usesCertManager" . -}}
{{- $fullname := include "operator-library.fullname" . -}}
{{- $host := printf "%s.%s.svc" $fullname .Release.Namespace -}}
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  {{- include "operator-library.metadata" (list . "-selfsigned") | nindent 2 }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  {{- include "operator-library.metadata" (list . "-webhook") | nindent 2 }}
spec:
  dnsNames:
    - {{ $host }}
    - {{ $host }}.{{ .Values.cluster.domain }}
  issuerRef:
    kind: Issuer
    name: {{ $fullname }}-selfsigned
  secretName: {{ $fullname }}-webhook-cert
{{- end -}}
{{- end -}}

{{- define "operator-library.webhooks" -}}
{{- if .Values.webhook.enabled -}}
{{- range $type := list "mutating" "validating" }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: {{ title $type }}WebhookConfiguration
metadata:
  {{- include "operator-library.clusterMetadata" (list $ (printf "-%s" $type)) | nindent 2 }}
  {{- if include "operator-library.usesCertManager" $ }}
  annotations:
    cert-manager.io/inject-ca-from: {{ $.Release.Namespace }}/{{ include "operator-library.fullname" $ }}-webhook
  {{- end }}
webhooks:
  {{- include "operator-library.webhookList" (list $ $type) | trim | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* The entries for all kinds that have webhooks, under the names and paths
that controller-runtime gives them. The argument is a list of the root context
and "mutating" or "validating". What only warns holds nothing up when it is away. */ -}}
{{- define "operator-library.webhookList" -}}
{{- $root := first . -}}
{{- $type := last . -}}
{{- $verb := ternary "mutate" "validate" (eq $type "mutating") -}}
{{- range $operator := (include "operator-library.operators" $root | fromYaml).operators }}
{{- range $kind := $operator.kinds }}
{{- $warns := and $kind.warnings (eq $type "validating") }}
{{- $refuses := and $kind.webhook (eq $type "validating") }}
{{- if or $kind.webhook $warns }}
- name: {{ printf "%s%s.kb.io" (substr 0 1 $verb) (lower $kind.kind) }}
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: {{ include "operator-library.fullname" $root }}
      namespace: {{ $root.Release.Namespace }}
      path: /{{ $verb }}-{{ $operator.group | replace "." "-" }}-{{ $operator.version }}-{{ lower $kind.kind }}
  failurePolicy: {{ if $kind.webhook }}Fail{{ else }}Ignore{{ end }}
  sideEffects: None
  rules:
    - apiGroups: [{{ $operator.group }}]
      apiVersions: [{{ $operator.version }}]
      resources: [{{ $kind.plural }}]
      operations: {{ if $refuses }}[CREATE, UPDATE, DELETE]{{ else }}[CREATE, UPDATE]{{ end }}
      scope: Namespaced
  {{- if $refuses }}
  matchConditions:
    # Without the operator everything but what is protected can still be deleted.
    - name: protected-if-deleted
      expression: >-
        request.operation != "DELETE" ||
        oldObject.metadata.?annotations[?"forge.c5c3.io/deletion-protection"].orValue("") == "true"
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
