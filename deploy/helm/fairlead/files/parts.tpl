{{- /* What sidecars and gateways have in common. Each part is indented as it stands in a container or a pod. */ -}}
{{- define "proxy-env" }}
        - {name: PILOT_CERT_PROVIDER, value: {{ .Values.global.pilotCertProvider }}}
        - name: CA_ADDR
          value: {{ .Values.global.caAddress | default (printf "istiod%s.%s.svc:15012" (ternary "" (printf "-%s" .Values.revision) (eq .Values.revision "")) .Values.global.istioNamespace) }}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: INSTANCE_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        - {name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
        - {name: SERVICE_ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}
        - {name: ISTIO_META_NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: ISTIO_CPU_LIMIT, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "1"}}}
        - name: PROXY_CONFIG
          value: {{ protoToJSON .ProxyConfig | quote }}
        {{- with valueOrDefault .MeshConfig.TrustDomain .Values.global.trustDomain }}
        - {name: TRUST_DOMAIN, value: {{ . | quote }}}
        {{- end }}
        {{- with .Values.global.meshID | default .MeshConfig.TrustDomain }}
        - {name: ISTIO_META_MESH_ID, value: {{ . | quote }}}
        {{- end }}
        {{- if .CompliancePolicy }}
        - {name: COMPLIANCE_POLICY, value: {{ .CompliancePolicy | quote }}}
        {{- end }}
        {{- range $name, $value := .ProxyConfig.ProxyMetadata }}
        - {name: {{ $name }}, value: {{ $value | quote }}}
        {{- end }}
{{- end }}
{{- define "proxy-mounts" }}
        - {name: workload-socket, mountPath: /var/run/secrets/workload-spiffe-uds}
        - {name: credential-socket, mountPath: /var/run/secrets/credential-uds}
        - {name: workload-certs, mountPath: /var/run/secrets/workload-spiffe-credentials}
        - {name: istiod-ca-cert, mountPath: /var/run/secrets/istio}
        - {name: istio-token, mountPath: /var/run/secrets/tokens}
        - {name: istio-data, mountPath: /var/lib/istio/data}
        - {name: istio-envoy, mountPath: /etc/istio/proxy}
        - {name: istio-podinfo, mountPath: /etc/istio/pod}
{{- end }}
{{- define "proxy-volumes" }}
      - {name: workload-socket, emptyDir: {}}
      - {name: credential-socket, emptyDir: {}}
      - {name: workload-certs, emptyDir: {}}
      - {name: istio-data, emptyDir: {}}
      - {name: istio-envoy, emptyDir: {medium: Memory}}
      - name: istio-podinfo
        downwardAPI:
          items:
          - {path: labels, fieldRef: {fieldPath: metadata.labels}}
          - {path: annotations, fieldRef: {fieldPath: metadata.annotations}}
      - name: istio-token
        projected:
          sources:
          - serviceAccountToken: {path: istio-token, expirationSeconds: 43200, audience: {{ .Values.global.sds.token.aud }}}
      - {name: istiod-ca-cert, configMap: {name: istio-ca-root-cert}}
{{- end }}
{{- define "pull-secrets" }}
      {{- with .Values.global.imagePullSecrets }}
      imagePullSecrets:
        {{- range . }}
      - name: {{ . }}
        {{- end }}
      {{- end }}
{{- end }}
{{- define "log-flags" }}
        - {{ printf "--proxyLogLevel=%s" (annotation .ObjectMeta "sidecar.istio.io/logLevel" .Values.global.proxy.logLevel) | quote }}
        - {{ printf "--proxyComponentLogLevel=%s" (annotation .ObjectMeta "sidecar.istio.io/componentLogLevel" .Values.global.proxy.componentLogLevel) | quote }}
        - {{ printf "--log_output_level=%s" (annotation .ObjectMeta "sidecar.istio.io/agentLogLevel" .Values.global.logging.level) | quote }}
        {{- if .Values.global.logAsJson }}
        - --log_as_json
        {{- end }}
{{- end }}
{{- define "image" }}
        {{- $said := annotation .ObjectMeta "sidecar.istio.io/proxyImage" "" }}
        image: {{ ternary $said .ProxyImage (contains "/" $said) | quote }}
        {{- with .Values.global.imagePullPolicy }}
        imagePullPolicy: {{ . }}
        {{- end }}
{{- end }}
