{{- define "moorage.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* A release that is called like the chart does not name it twice. */}}
{{- define "moorage.fullname" -}}
{{- $name := include "moorage.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The pods of the server, and the service before them; not those of the migration and the test. */}}
{{- define "moorage.selector" -}}
app.kubernetes.io/name: {{ include "moorage.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "moorage.labels" -}}
app.kubernetes.io/name: {{ include "moorage.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "moorage.image" -}}
{{- with .Values.image.digest -}}
{{ $.Values.image.repository }}@{{ . }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "moorage.serviceAccount" -}}
{{- default (ternary (include "moorage.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{/* Name of the Secret that the environment comes from; empty when there is nothing secret to tell. */}}
{{- define "moorage.secret" -}}
{{- with .Values.secrets -}}
{{- if .existingSecret -}}
{{ .existingSecret }}
{{- else if or .databaseUrl .secretKey .awsAccessKeyId .awsSecretAccessKey -}}
{{ include "moorage.fullname" $ }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "moorage.scheme" -}}
{{ ternary "HTTPS" "HTTP" (ne .Values.tls.secretName "") }}
{{- end -}}

{{/* What runs the program: the same for the server and for the migration. */}}
{{- define "moorage.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "moorage.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "moorage.environment" -}}
envFrom:
  - configMapRef:
      name: {{ include "moorage.fullname" . }}
  {{- with include "moorage.secret" . }}
  - secretRef:
      name: {{ . }}
  {{- end }}
{{- with .Values.extraEnv }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Those that mount nothing but what is configured: database authorities, certificate, the operator's own. */}}
{{- define "moorage.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .Values.tls.secretName }}
- name: tls
  mountPath: /etc/moorage/tls
  readOnly: true
{{- end }}
{{- if .Values.database.caSecret }}
- name: database-ca
  mountPath: /etc/moorage/database
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "moorage.volumes" -}}
- name: tmp
  emptyDir: {}
{{- with .Values.tls.secretName }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.database.caSecret }}
- name: database-ca
  secret:
    secretName: {{ . }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
