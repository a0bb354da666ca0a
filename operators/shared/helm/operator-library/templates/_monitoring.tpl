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

{{- /* The alerts of every operator, those about every service if it runs one, and its own
of files/alerts.yaml. The latter are full of braces that are not Helm's: only one word is
replaced in them. */ -}}
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
  groups:
    {{- range $operator := (include "operator-library.operators" . | fromYaml).operators }}
    {{- include "operator-library.operatorAlerts" (list $ $operator) | nindent 4 }}
    {{- if $operator.service }}
    {{- include "operator-library.serviceAlerts" (list $ $operator) | nindent 4 }}
    {{- end }}
    {{- $file := printf "%s/alerts.yaml" $operator.folder }}
    {{- required (printf "%s is missing in the chart" $file) ($.Files.Get $file) | trim
      | replace "RUNBOOKS" ($.Values.monitoring.prometheusRule.runbooks | trimSuffix "/") | nindent 4 }}
    {{- end }}
{{- end -}}
{{- end -}}
