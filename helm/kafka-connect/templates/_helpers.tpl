{{/* Labels that select the workers; they cannot change after the first install. */}}
{{- define "kafka-connect.worker" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end }}

{{/* Labels that select the hook's pod. */}}
{{- define "kafka-connect.hook" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: connectors
{{- end }}

{{/* Labels that select the pods that answer requests. */}}
{{- define "kafka-connect.requests" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: requests
{{- end }}

{{/* Labels that select the pod that gives the users of Kafka their rights. */}}
{{- define "kafka-connect.rights" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: rights
{{- end }}

{{/* The Job runs before the workers, which end without their rights. The last one stays, so that its log can be read. */}}
{{- define "kafka-connect.before" -}}
helm.sh/hook: pre-install,pre-upgrade,pre-rollback
helm.sh/hook-delete-policy: before-hook-creation
{{- end }}

{{/* What that Job needs is made before it, and goes with its success: helm uninstalls no hook. */}}
{{- define "kafka-connect.before-it" -}}
helm.sh/hook: pre-install,pre-upgrade,pre-rollback
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
helm.sh/hook-weight: "-1"
{{- end }}

{{- define "kafka-connect.common" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* A reference to an image: repository, tag, and the digest if one is given. */}}
{{- define "kafka-connect.image" -}}
{{ .repository }}:{{ .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Security context of every pod. */}}
{{- define "kafka-connect.pod" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* Security context of every container. */}}
{{- define "kafka-connect.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* How a Kafka client logs in, as lines of properties. */}}
{{- define "kafka-connect.login" -}}
{{- if eq .Values.security.protocol "MSK_IAM" -}}
{{ include "kafka-connect.iam" . }}
{{- else -}}
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=${directory:/run/lake/kafka:jaas}
{{- end }}
{{- end }}

{{- define "kafka-connect.iam" -}}
security.protocol=SASL_SSL
sasl.mechanism=AWS_MSK_IAM
sasl.jaas.config={{ include "kafka-connect.iam-module" . }} required;
sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler
{{- end }}

{{- define "kafka-connect.iam-module" -}}
software.amazon.msk.auth.iam.IAMLoginModule
{{- end }}

{{/* The one JAAS login module that any client in the worker may use. */}}
{{- define "kafka-connect.module" -}}
{{- if eq .Values.security.protocol "MSK_IAM" -}}
{{ include "kafka-connect.iam-module" . }}
{{- else -}}
org.apache.kafka.common.security.scram.ScramLoginModule
{{- end }}
{{- end }}
