{{- define "operator-library.servicemonitor" -}}
{{- if .Values.monitoring.serviceMonitor.enabled -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
    {{- with .Values.monitoring.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "operator-library.selectorLabels" . | nindent 6 }}
  endpoints:
    - port: metrics
      path: /metrics
      interval: {{ .Values.monitoring.serviceMonitor.interval }}
      # The namespace of a series is that of the resource it is about.
      honorLabels: true
      {{- if .Values.metrics.secure }}
      scheme: https
      bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
      tlsConfig:
        # The metrics server makes a certificate of its own at every start;
        # what protects the metrics is the scraper's token.
        insecureSkipVerify: true
      {{- end }}
{{- end -}}
{{- end -}}

{{- /* The rules of files/alerts.yaml. They are full of braces that are not Helm's,
so that only these words are replaced in them. */ -}}
{{- define "operator-library.prometheusrule" -}}
{{- if .Values.monitoring.prometheusRule.enabled -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
    {{- with .Values.monitoring.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- required "files/alerts.yaml is missing in the chart" (.Files.Get "files/alerts.yaml") | trim
    | replace "OPERATOR_JOB" (include "operator-library.fullname" .)
    | replace "OPERATOR_NAMESPACE" .Release.Namespace
    | replace "RUNBOOKS" (.Values.monitoring.prometheusRule.runbooks | trimSuffix "/") | nindent 2 }}
{{- end -}}
{{- end -}}
