{{- define "fairlead.end" -}}
{{- if and .Values.revision (ne .Values.revision "default") }}-{{ .Values.revision }}{{ end -}}
{{- end -}}

{{- define "fairlead.name" -}}
istiod{{ include "fairlead.end" . }}
{{- end -}}

{{- define "fairlead.revision" -}}
{{ .Values.revision | default "default" }}
{{- end -}}

{{/* Cluster-wide objects have the namespace in their names, so that several installations do not meet. */}}
{{- define "fairlead.clusterName" -}}
fairlead{{ include "fairlead.end" . }}-{{ .Release.Namespace }}
{{- end -}}

{{- define "fairlead.labels" -}}
app: istiod
istio.io/rev: {{ include "fairlead.revision" . | quote }}
app.kubernetes.io/name: fairlead
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end -}}

{{- define "fairlead.injectorHook" -}}
istio-sidecar-injector{{ include "fairlead.end" . }}{{ if ne .Release.Namespace "istio-system" }}-{{ .Release.Namespace }}{{ end }}
{{- end -}}

{{- define "fairlead.validatorHook" -}}
istio-validator{{ include "fairlead.end" . }}-{{ .Release.Namespace }}
{{- end -}}

{{/* "true" for the cluster's default revision. */}}
{{- define "fairlead.isDefault" -}}
{{ if eq .Values.defaultRevision (include "fairlead.revision" .) }}true{{ end }}
{{- end -}}

{{/* By this label the Service and the Deployment of an istiod without a revision find their pods. A pod of Fairlead has it, too, so that
either of the two can take over the other's pods. */}}
{{- define "fairlead.pilot" -}}
{{ if include "fairlead.end" . }}istiod{{ else }}pilot{{ end }}
{{- end -}}
