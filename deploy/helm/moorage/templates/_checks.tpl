{{/* Values that would render to something that cannot work end the rendering with a line that names them. */}}
{{- define "moorage.checks" -}}
{{- $v := .Values -}}
{{- if not $v.baseUrl }}{{ fail "baseUrl: is required: the URL under which clients reach Moorage, such as https://registry.example.com" }}{{ end -}}
{{- if eq $v.mode "embedded" -}}
  {{- if gt (int $v.replicas) 1 }}{{ fail "replicas: embedded mode has one; more need mode: replicated" }}{{ end -}}
  {{- if $v.autoscaling.enabled }}{{ fail "autoscaling.enabled: embedded mode has one replica; more need mode: replicated" }}{{ end -}}
  {{- if $v.secrets.databaseUrl }}{{ fail "secrets.databaseUrl: belongs to mode: replicated" }}{{ end -}}
  {{- if $v.blobs.url }}{{ fail "blobs.url: belongs to mode: replicated" }}{{ end -}}
  {{- if $v.migration.enabled }}{{ fail "migration.enabled: in embedded mode the volume is the running pod's; the new pod migrates by itself" }}{{ end -}}
{{- else -}}
  {{- if not $v.blobs.url }}{{ fail "blobs.url: is required in replicated mode" }}{{ end -}}
  {{- if not $v.secrets.existingSecret -}}
    {{- if not $v.secrets.databaseUrl }}{{ fail "secrets.databaseUrl: is required in replicated mode, unless secrets.existingSecret has it" }}{{ end -}}
    {{- if not $v.secrets.secretKey }}{{ fail "secrets.secretKey: is required in replicated mode, unless secrets.existingSecret has it: all replicas need the same; `openssl rand -base64 32` makes one" }}{{ end -}}
  {{- end -}}
  {{- if and $v.autoscaling.enabled (gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) }}{{ fail "autoscaling.minReplicas: is more than autoscaling.maxReplicas" }}{{ end -}}
{{- end -}}
{{- with $v.secrets -}}
  {{- if and .existingSecret (or .databaseUrl .secretKey .awsAccessKeyId .awsSecretAccessKey) }}{{ fail "secrets.existingSecret: has the secrets; the other values of secrets must be empty" }}{{ end -}}
  {{- if ne (empty .awsAccessKeyId) (empty .awsSecretAccessKey) }}{{ fail "secrets.awsAccessKeyId and secrets.awsSecretAccessKey: one is of no use without the other" }}{{ end -}}
{{- end -}}
{{- if and $v.metrics.serviceMonitor.enabled (not $v.metrics.networks) }}{{ fail "metrics.networks: is required with metrics.serviceMonitor: Prometheus' pods are not on the loopback network" }}{{ end -}}
{{- $own := dict
  "MOORAGE_HOST" "nothing: pods listen on all addresses" "MOORAGE_PORT" "service.port" "MOORAGE_DATA_DIR" "persistence" "MOORAGE_BASE_URL" "baseUrl"
  "MOORAGE_REGISTRY_URL" "registryUrl" "MOORAGE_DATABASE_URL" "secrets.databaseUrl" "MOORAGE_DATABASE_TLS" "database.tls" "MOORAGE_DATABASE_TLS_CA" "database.caSecret"
  "MOORAGE_BLOBS_URL" "blobs.url" "MOORAGE_SECRET_KEY" "secrets.secretKey" "MOORAGE_TLS_CERT" "tls.secretName" "MOORAGE_TLS_KEY" "tls.secretName"
  "MOORAGE_TRUSTED_PROXIES" "trustedProxies" "MOORAGE_METRICS_NETWORKS" "metrics.networks" "MOORAGE_DRAIN_TIMEOUT" "drainTimeoutSeconds" -}}
{{- range $name, $_ := $v.settings -}}
  {{- if hasKey $own $name }}{{ fail (printf "settings.%s: the chart sets it; its value is %s" $name (get $own $name)) }}{{ end -}}
{{- end -}}
{{- end -}}
