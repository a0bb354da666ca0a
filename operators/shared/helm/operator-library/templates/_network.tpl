{{- define "operator-library.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
spec:
  type: ClusterIP
  selector:
    {{- include "operator-library.selectorLabels" . | nindent 4 }}
  ports:
    {{- if .Values.webhook.enabled }}
    - name: webhook
      port: 443
      targetPort: webhook
      protocol: TCP
    {{- end }}
    - name: metrics
      port: {{ .Values.metrics.port }}
      targetPort: metrics
      protocol: TCP
{{- end -}}

{{- define "operator-library.networkpolicy" -}}
{{- if .Values.networkPolicy.enabled -}}
{{- $api := .Values.networkPolicy.kubeApiServer -}}
{{- if or (not $api.cidrs) (not $api.ports) -}}
{{- fail "networkPolicy.enabled=true requires networkPolicy.kubeApiServer.cidrs and networkPolicy.kubeApiServer.ports: the addresses of the API server (kubectl get endpointslices -n default -l kubernetes.io/service-name=kubernetes); without them the operator would cut itself off." -}}
{{- end -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "operator-library.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "operator-library.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- with include "operator-library.networkpolicy.ingress" . | trim }}
  ingress:
    {{- . | nindent 4 }}
  {{- else }}
  ingress: []
  {{- end }}
  egress:
    {{- include "operator-library.networkpolicy.egress" . | trim | nindent 4 }}
{{- end -}}
{{- end -}}

{{- define "operator-library.networkpolicy.ingress" -}}
{{- if .Values.webhook.enabled }}
- ports:
    - port: webhook
      protocol: TCP
  from:
    {{- include "operator-library.ipBlocks" (default .Values.networkPolicy.kubeApiServer.cidrs .Values.networkPolicy.webhookClients.cidrs) | trim | nindent 4 }}
{{- end }}
{{- with .Values.networkPolicy.allowMetricsFrom }}
- ports:
    - port: metrics
      protocol: TCP
  from:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "operator-library.networkpolicy.egress" -}}
{{- include "operator-library.networkpolicy.apiServer" . }}
{{- with .Values.networkPolicy.dns }}
{{- if .enabled }}
- to:
    - namespaceSelector:
        matchLabels:
          {{- toYaml .namespaceSelector | nindent 10 }}
      podSelector:
        matchLabels:
          {{- toYaml .podSelector | nindent 10 }}
  ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end }}
{{- end }}
{{- $namespaceScoped := .Values.rbac.namespaceScoped }}
{{- range $operator := (include "operator-library.operators" . | fromYaml).operators }}
{{- range $operator.egress }}
- to:
    - podSelector:
        matchLabels:
          {{- toYaml .podSelector | nindent 10 }}
      {{- if not $namespaceScoped }}
      namespaceSelector: {}
      {{- end }}
  ports:
    - port: {{ .port }}
      protocol: TCP
{{- end }}
{{- end }}
{{- end -}}

{{- define "operator-library.networkpolicy.apiServer" }}
- to:
    {{- include "operator-library.ipBlocks" .Values.networkPolicy.kubeApiServer.cidrs | trim | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.kubeApiServer.ports }}
    - port: {{ . }}
      protocol: TCP
    {{- end }}
{{- end -}}

{{- define "operator-library.ipBlocks" -}}
{{- range . }}
- ipBlock:
    cidr: {{ . }}
{{- end }}
{{- end -}}
