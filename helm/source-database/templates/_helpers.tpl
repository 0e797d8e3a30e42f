{{/* Labels that select the pods. */}}
{{- define "source-database.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "source-database.labels" -}}
{{ include "source-database.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* A reference to an image: repository, tag, and the digest if one is given. */}}
{{- define "source-database.image" -}}
{{ .repository }}:{{ .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Security context of every container. */}}
{{- define "source-database.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* One container that runs psql, named after its step. */}}
{{- define "source-database.psql" -}}
- name: {{ .step }}
  {{- $tag := .Values.image.tag | default .Chart.AppVersion }}
  image: {{ include "source-database.image" (merge (dict "tag" $tag) .Values.image) }}
  workingDir: /run/lake
  command: {{ .command | default (list "bash" "/etc/lake/programs/prepare.sh" "/etc/lake/sql") | toJson }}
  env:
    - {name: HOME, value: /tmp}
  # `kubectl describe` shows the reason of a failure.
  terminationMessagePolicy: FallbackToLogsOnError
  securityContext:
    {{- include "source-database.locked" . | nindent 4 }}
  resources:
    requests: {cpu: 50m, memory: 64Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: credentials, mountPath: /run/lake}
    - {name: programs, mountPath: /etc/lake/programs, readOnly: true}
    - {name: sql, mountPath: /etc/lake/sql, readOnly: true}
    - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* What the pods have in common, besides their containers. */}}
{{- define "source-database.spec" -}}
serviceAccountName: {{ .Values.serviceAccount.name }}
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: Never
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* The init containers that make the logins of psql from the secrets. */}}
{{- define "source-database.logins" -}}
- name: fetch-secrets
  image: {{ include "source-database.image" .Values.tools.awsCli }}
  command: [/bin/sh, -ec]
  args:
    - |
      umask 077
      for user in $USERS; do
        mkdir "/run/lake/$user"
        aws secretsmanager get-secret-value --region "$AWS_REGION" --secret-id "$(printenv "SECRET_OF_$user")" \
          --query SecretString --output text > "/run/lake/$user/secret.json"
      done
      aws secretsmanager get-secret-value --region "$AWS_REGION" --secret-id "$CONNECT_SECRET" \
        --query SecretString --output text > /run/lake/connect.json
  env:
    - {name: HOME, value: /tmp}
    - {name: AWS_REGION, value: {{ .Values.database.region | quote }}}
    - {name: USERS, value: {{ keys .Values.secrets | sortAlpha | join " " | quote }}}
    {{- range $user, $secret := .Values.secrets }}
    - {name: SECRET_OF_{{ $user }}, value: {{ $secret | quote }}}
    {{- end }}
    - {name: CONNECT_SECRET, value: {{ .Values.connect.secret | quote }}}
  terminationMessagePolicy: FallbackToLogsOnError
  securityContext:
    {{- include "source-database.locked" . | nindent 4 }}
  resources:
    requests: {cpu: 100m, memory: 256Mi}
    limits: {memory: 256Mi}
  volumeMounts:
    - {name: credentials, mountPath: /run/lake}
    - {name: tmp, mountPath: /tmp}
- name: write-logins
  image: {{ include "source-database.image" .Values.tools.python }}
  command: [python3, /etc/lake/programs/write_logins.py]
  args:
    - /run/lake
    - {{ .Values.database.host | quote }}
    - {{ .Values.database.port | quote }}
    - {{ ternary "verify-full" "require" (ne .Values.database.caBundle "") }}
    - {{ ternary "/etc/lake/programs/database.pem" "" (ne .Values.database.caBundle "") | quote }}
  terminationMessagePolicy: FallbackToLogsOnError
  securityContext:
    {{- include "source-database.locked" . | nindent 4 }}
  resources:
    requests: {cpu: 50m, memory: 64Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: credentials, mountPath: /run/lake}
    - {name: programs, mountPath: /etc/lake/programs, readOnly: true}
{{- end }}

{{- define "source-database.volumes" -}}
volumes:
  # In memory: values from Secrets Manager are never written to a disk.
  - {name: credentials, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  - {name: programs, configMap: {name: {{ .Release.Name }}-programs}}
  - name: sql
    configMap:
      name: {{ .Release.Name }}-sql
      items:
        - {key: server.sql, path: server.sql}
        - {key: shared.sql, path: shared.sql}
        {{- range $database, $_ := .Values.sql.databases }}
        - {key: {{ $database }}.database.sql, path: databases/{{ $database }}.sql}
        {{- end }}
  - {name: tmp, emptyDir: {sizeLimit: 16Mi}}
{{- end }}

{{/* The pod of both the deployment's Job and the schedule. */}}
{{- define "source-database.pod" -}}
metadata:
  labels:
    {{- include "source-database.labels" . | nindent 4 }}
    # Kafka Connect accepts only pods with this label; the pod asks it which tables it reads.
    lake/connect-operator: "true"
spec:
  {{- include "source-database.spec" . | nindent 2 }}
  initContainers:
    {{- include "source-database.logins" . | nindent 4 }}
    {{- include "source-database.psql" (merge (dict "step" "prepare") .) | nindent 4 }}
    - name: ask-connect
      image: {{ include "source-database.image" .Values.tools.python }}
      command: [python3, /etc/lake/programs/captured_tables.py]
      args:
        - {{ .Values.connect.url | quote }}
        - /run/lake
        - /run/lake/connect.json
        - "10"
        {{- range $database, $connector := .Values.connect.connectors }}
        - {{ printf "%s=%s" $database $connector | quote }}
        {{- end }}
      securityContext:
        {{- include "source-database.locked" . | nindent 8 }}
      resources:
        requests: {cpu: 50m, memory: 64Mi}
        limits: {memory: 64Mi}
      volumeMounts:
        - {name: credentials, mountPath: /run/lake}
        - {name: programs, mountPath: /etc/lake/programs, readOnly: true}
  containers:
    # The second run: requests to a connector must wait until it knows the tables.
    {{- include "source-database.psql" (merge (dict "step" "ask-for-rows") .) | nindent 4 }}
  {{- include "source-database.volumes" . | nindent 2 }}
{{- end }}
