{{- /* What the pods of users have in common: sidecars and gateways with a Deployment of their own. */ -}}
{{- define "pod-env" }}
        - {name: ISTIO_META_CLUSTER_ID, value: {{ valueOrDefault .Values.global.multiCluster.clusterName "Kubernetes" | quote }}}
        - {name: ISTIO_META_INTERCEPTION_MODE, value: {{ index .ObjectMeta.Annotations "sidecar.istio.io/interceptionMode" | default .ProxyConfig.InterceptionMode.String | quote }}}
        {{- with .Values.global.network }}
        - {name: ISTIO_META_NETWORK, value: {{ . | quote }}}
        {{- end }}
        {{- with index .ObjectMeta.Labels "service.istio.io/workload-name" | default .DeploymentMeta.Name }}
        - {name: ISTIO_META_WORKLOAD_NAME, value: {{ . | quote }}}
        {{- end }}
        {{- if and .TypeMeta.APIVersion .DeploymentMeta.Name }}
        - {name: ISTIO_META_OWNER, value: "kubernetes://apis/{{ .TypeMeta.APIVersion }}/namespaces/{{ .DeploymentMeta.Namespace | default "default" }}/{{ toLower .TypeMeta.Kind }}s/{{ .DeploymentMeta.Name }}"}
        {{- end }}
{{- end }}
{{- define "pod-labels" }}
    service.istio.io/canonical-name: {{ index .ObjectMeta.Labels "service.istio.io/canonical-name" | default (index .ObjectMeta.Labels "app.kubernetes.io/name") | default (index .ObjectMeta.Labels "app") | default .DeploymentMeta.Name | trunc 63 | trimAll "-_." | quote }}
    service.istio.io/canonical-revision: {{ index .ObjectMeta.Labels "service.istio.io/canonical-revision" | default (index .ObjectMeta.Labels "app.kubernetes.io/version") | default (index .ObjectMeta.Labels "version") | default "latest" | quote }}
{{- end }}
{{- define "resources" }}
        {{- $requests := dict }}{{ $limits := dict }}
        {{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyCPU" }}{{ $_ := set $requests "cpu" . }}{{ end }}
        {{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyMemory" }}{{ $_ := set $requests "memory" . }}{{ end }}
        {{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyCPULimit" }}{{ $_ := set $limits "cpu" . }}{{ end }}
        {{- with index .ObjectMeta.Annotations "sidecar.istio.io/proxyMemoryLimit" }}{{ $_ := set $limits "memory" . }}{{ end }}
        {{- if or $requests $limits }}
        resources: {requests: {{ structToJSON $requests }}, limits: {{ structToJSON $limits }}}
        {{- else if .Values.global.proxy.resources }}
        resources: {{ structToJSON (omitNil .Values.global.proxy.resources) }}
        {{- end }}
{{- end }}
