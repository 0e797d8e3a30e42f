{{/* Labels that select the pods; they cannot change after the first install. */}}
{{- define "apicurio-registry.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "apicurio-registry.labels" -}}
{{ include "apicurio-registry.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* A reference to an image: repository, tag, and the digest if one is given. */}}
{{- define "apicurio-registry.image" -}}
{{ .repository }}:{{ .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Security context of every container. */}}
{{- define "apicurio-registry.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Tags as the load balancer's controller takes them: key=value,key=value. */}}
{{- define "apicurio-registry.tags" -}}
{{- $pairs := list }}
{{- range $key, $value := . }}{{ $pairs = append $pairs (printf "%s=%s" $key $value) }}{{ end }}
{{- join "," $pairs }}
{{- end }}
