{{- /* The alerts of every operator. What Prometheus replaces is quoted by backticks. As for all
templates about alerts, the argument is a list of the root context and the operator. If the program
has other Leases, it works only with its own. */ -}}
{{- define "operator-library.operatorAlerts" -}}
{{- $root := first . -}}
{{- $operator := last . -}}
{{- $kind := include "operator-library.mainKind" $operator -}}
{{- $metric := $operator.name | replace "-" "_" -}}
{{- $fullname := include "operator-library.fullname" $root -}}
{{- $job := printf "job=%q, namespace=%q" $fullname $root.Release.Namespace -}}
{{- $lease := $job -}}
{{- if $root.Values.services -}}
{{- $lease = printf "%s, name=~\"%s(-.*)?\"" $job $operator.group -}}
{{- end -}}
{{- $certificate := printf "%s_webhook_certificate" ($root.Chart.Name | replace "-" "_") -}}
- name: {{ $operator.name }}
  rules:
    - alert: {{ $kind }}OperatorDown
      expr: |
        absent(up{ {{- $job -}} } == 1)
          or max(leader_election_master_status{ {{- $lease -}} }) == 0
      for: 5m
      labels:
        severity: critical
      annotations:
        summary: The {{ $operator.name }} does not work
        description: >-
          No replica of {{ $fullname }} in namespace {{ $root.Release.Namespace }} answers, or none
          of them leads. {{ $kind }}s keep serving, but are neither repaired nor changed.
        runbook_url: {{ include "operator-library.runbook" (list $root $kind "OperatorDown") }}
    - alert: {{ $kind }}OperatorErrors
      expr: |
        sum by (sub_reconciler, condition_type) (increase({{ $metric }}_reconcile_errors_total[15m])) > 5
      for: 15m
      labels:
        severity: warning
      annotations:
        summary: The {{ $operator.name }} fails repeatedly in step {{ `{{ $labels.sub_reconciler }}` }}
        description: >-
          Step {{ `{{ $labels.sub_reconciler }} has failed {{ $value | humanize }}` }} times in 15 minutes.
        runbook_url: {{ include "operator-library.runbook" (list $root $kind "OperatorErrors") }}
    - alert: {{ $kind }}OperatorCertificateExpiring
      expr: |
        min by (job, namespace) (
          {{- include "operator-library.expiring" $certificate | nindent 10 }}
        )
      for: 10m
      labels:
        severity: warning
      annotations:
        summary: The {{ $kind }} webhook certificate expires in {{ `{{ $value | humanizeDuration }}` }}
        description: >-
          It should have been renewed long ago. Once it has expired, the API server refuses to create or change {{ $kind }}s.
        runbook_url: {{ include "operator-library.runbook" (list $root $kind "OperatorCertificateExpiring") }}
{{- end -}}

{{- /* The alerts about every service that an operator runs. */ -}}
{{- define "operator-library.serviceAlerts" -}}
{{- $root := first . -}}
{{- $operator := last . -}}
{{- $kind := include "operator-library.mainKind" $operator -}}
{{- $metric := $operator.name | replace "-" "_" -}}
{{- $since := printf "time() - %s_resource_condition_transition_timestamp_seconds" $metric -}}
{{- $resource := printf "%s {{ $labels.namespace }}/{{ $labels.name }}" $kind -}}
- name: {{ lower $kind }}-service
  rules:
    - alert: {{ $kind }}NotReady
      expr: |
        max by (namespace, name) ({{ $since }}{kind={{ quote $kind }}, type="Ready", status!="True"}) > 900
      for: 1m
      labels:
        severity: warning
      annotations:
        summary: {{ $resource }} has not been ready for {{ `{{ $value | humanizeDuration }}` }}
        description: >-
          {{ $resource }} does not match its spec. It may still serve.
        runbook_url: {{ include "operator-library.runbook" (list $root $kind "NotReady") }}
    - alert: {{ $kind }}BackendUnavailable
      expr: |
        max by (namespace, name, reason) (
          {{ $since }}{
            status!="True", type!="Ready",
            reason=~"ClusterNotReady|WaitingForDatabase|DatabaseUnavailable|CacheUnavailable|SecretStoreNotReady"}
        ) > 600
      for: 2m
      labels:
        severity: warning
      annotations:
        summary: {{ $resource }} lacks a service that it needs ({{ `{{ $labels.reason }}` }})
        description: >-
          {{ $resource }} cannot use its database, its cache or its secret store: {{ `{{ $labels.reason }}` }}.
        runbook_url: {{ include "operator-library.runbook" (list $root $kind "BackendUnavailable") }}
{{- if $operator.database }}
{{- include "operator-library.databaseAlerts" . | nindent 4 }}
{{- end }}
{{- end -}}

{{- /* Those about every service with a database, in the same group. */ -}}
{{- define "operator-library.databaseAlerts" -}}
{{- $root := first . -}}
{{- $operator := last . -}}
{{- $kind := include "operator-library.mainKind" $operator -}}
{{- $metric := $operator.name | replace "-" "_" -}}
{{- $since := printf "time() - %s_resource_condition_transition_timestamp_seconds" $metric -}}
{{- $resource := printf "%s {{ $labels.namespace }}/{{ $labels.name }}" $kind -}}
- alert: {{ $kind }}UpgradeStuck
  expr: |
    max by (namespace, name) (
      {{ $since }}{
        type="DatabaseReady", status!="True",
        reason=~"ExpandFailed|MigrateFailed|ContractFailed|UpgradeTargetChanged|UpgradeAbortRefused"} > 300
      or
      {{ $since }}{
        type="DatabaseReady", status!="True",
        reason=~"(Expand|Migrate|Contract)InProgress|UpgradeRollingUpdate|UpgradeStopping|UpgradeAborting"} > 3600
    )
  for: 1m
  labels:
    severity: warning
  annotations:
    summary: The upgrade of {{ $resource }} is stuck
    description: >-
      The upgrade of {{ $resource }} began {{ `{{ $value | humanizeDuration }}` }} ago and has failed or takes too long.
      Unless it is offline, the old release serves until its pods are replaced.
    runbook_url: {{ include "operator-library.runbook" (list $root $kind "UpgradeStuck") }}
- alert: {{ $kind }}DatabaseCertificateExpiring
  expr: |
    min by (namespace, {{ lower $kind }}, certificate) (
      {{- include "operator-library.expiring" (printf "%s_database_certificate" $metric) | nindent 6 }}
    )
  for: 10m
  labels:
    severity: warning
  annotations:
    {{- $owner := printf "%s {{ $labels.namespace }}/{{ $labels.%s }}" $kind (lower $kind) }}
    summary: Database certificate of {{ $owner }} expires in {{ `{{ $value | humanizeDuration }}` }}
    description: >-
      The {{ `{{ $labels.certificate }}` }} certificate for the database of {{ $owner }} has not been renewed.
      Once it has expired, the database cannot be reached.
    runbook_url: {{ include "operator-library.runbook" (list $root $kind "DatabaseCertificateExpiring") }}
{{- end -}}

{{- /* The kind that the alerts of an operator are named after. */ -}}
{{- define "operator-library.mainKind" -}}
{{- (first .kinds).kind -}}
{{- end -}}

{{- /* The address of a runbook. The argument is a list of the root context and the parts of
the alert's name. */ -}}
{{- define "operator-library.runbook" -}}
{{- printf "%s/%s.md" ((first .).Values.monitoring.prometheusRule.runbooks | trimSuffix "/") (rest . | join "") -}}
{{- end -}}

{{- /* The time left of certificates of which less than a sixth is left, and less than two
weeks. The argument is the common part of the names of the two metrics. */ -}}
{{- define "operator-library.expiring" -}}
{{ . }}_expiration_timestamp_seconds - time()
  < clamp_max(
    ({{ . }}_expiration_timestamp_seconds
      - {{ . }}_start_timestamp_seconds) / 6,
    14 * 86400)
{{- end -}}
