"""What the comparison of beyond.py asks for: the variants of nodes, settings of the mesh and variables of istiod that no case has."""


def meta(**kw):
    def f(n):
        for k, v in kw.items():
            n["metadata"].pop(k, None) if v is None else n["metadata"].__setitem__(k, v)
    return f


def address(*ips):
    def f(n):
        p = n["id"].split("~")
        p[1] = ips[0]
        n["id"] = "~".join(p)
        n["metadata"]["INSTANCE_IPS"] = ",".join(ips)
    return f


def more_ips(*ips):
    def f(n):
        own = n["id"].split("~")[1]
        n["metadata"]["INSTANCE_IPS"] = ",".join([own, *ips])
    return f


def proxy_config(**kw):
    def f(n):
        n["metadata"].setdefault("PROXY_CONFIG", {})
        n["metadata"]["PROXY_CONFIG"].update(kw)
    return f


def labels(**kw):
    def f(n):
        l = n["metadata"].setdefault("LABELS", {})
        for k, v in kw.items():
            l[k.replace("__", "/").replace("_dot_", ".").replace("_", "-")] = v
    return f


NODES = {
    "plain": lambda n: None,
    "v1.20": meta(ISTIO_VERSION="1.20.8"), "v1.22": meta(ISTIO_VERSION="1.22.0"), "v1.24": meta(ISTIO_VERSION="1.24.3"), "v1.26": meta(ISTIO_VERSION="1.26.0"),
    "v1.28": meta(ISTIO_VERSION="1.28.1"), "v1.30": meta(ISTIO_VERSION="1.30.0"), "v1.33-alpha": meta(ISTIO_VERSION="1.33-alpha.1"), "v-none": meta(ISTIO_VERSION=None),
    "v-odd": meta(ISTIO_VERSION="release-1.29-20260101"),
    "dns": meta(DNS_CAPTURE="true"), "dns-auto": meta(DNS_CAPTURE="true", DNS_AUTO_ALLOCATE="true"),
    "ipv6": address("2001:db8::5"), "dual46": more_ips("2001:db8::5"), "dual64": address("2001:db8::5", "10.9.8.7"),
    "network": meta(NETWORK="network-2"), "network-view": meta(REQUESTED_NETWORK_VIEW="network-1"), "cluster": meta(CLUSTER_ID="other"),
    "tproxy": meta(INTERCEPTION_MODE="TPROXY"), "none": meta(INTERCEPTION_MODE="NONE"),
    "unprivileged": meta(UNPRIVILEGED_POD="true"), "http10": meta(HTTP10="1"), "idle": meta(IDLE_TIMEOUT="37s"),
    "mtls-files": meta(TLS_CLIENT_CERT_CHAIN="/c.pem", TLS_CLIENT_KEY="/k.pem", TLS_CLIENT_ROOT_CERT="/r.pem", TLS_SERVER_CERT_CHAIN="/sc.pem", TLS_SERVER_KEY="/sk.pem", TLS_SERVER_ROOT_CERT="/sr.pem"),
    "credential": meta(CREDENTIAL_META_DATA="x"), "sts": meta(STS_PORT="15463"), "hbone": meta(ENABLE_HBONE="true"), "no-hbone": meta(DISABLE_HBONE_SEND="true"),
    "raw-mtls": meta(MESH_ID="other-mesh"), "sa": meta(SERVICE_ACCOUNT="somebody"), "workload": meta(WORKLOAD_NAME="a-workload", OWNER="kubernetes://apis/apps/v1/namespaces/x/deployments/a"),
    "labels": labels(app="other", version="v9"), "revision": labels(istio_dot_io__rev="canary"), "canonical": labels(service_dot_istio_dot_io__canonical_name="canon", service_dot_istio_dot_io__canonical_revision="7"),
    "locality": lambda n: n.__setitem__("locality", "eu/eu-1/a"),
    "tracing": proxy_config(tracing={"sampling": 13.5, "zipkin": {"address": "zipkin.istio-system:9411"}, "max_path_tag_length": 77, "custom_tags": {"a": {"literal": {"value": "b"}}, "c": {"environment": {"name": "D", "default_value": "e"}}}}),
    "otel": proxy_config(tracing={"enable_istio_tags": False, "tlsSettings": {"mode": "ISTIO_MUTUAL"}}),
    "proxy-config": proxy_config(concurrency=3, statusPort=15021, holdApplicationUntilProxyStarts=True, terminationDrainDuration="7s", proxyMetadata={"A": "b"}),
    "headers": proxy_config(proxyHeaders={"server": {"disabled": True}, "requestId": {"disabled": True}, "attemptCount": {"disabled": True}, "envoyDebugHeaders": {"disabled": True}, "forwardedClientCert": "SANITIZE_SET", "setCurrentClientCertDetails": {"subject": True, "uri": False}, "metadataExchangeHeaders": {"mode": "IN_MESH"}, "preserveHttp1HeaderCase": True}),
    "gateway-topology": proxy_config(gatewayTopology={"numTrustedProxies": 2, "forwardClientCertDetails": "APPEND_FORWARD", "proxyProtocol": {}}),
    "private-key": proxy_config(privateKeyProvider={"cryptomb": {"pollDelay": "10ms", "fallback": True}}),
    "private-key-qat": proxy_config(privateKeyProvider={"qat": {"pollDelay": "2ms"}}),
    "inject-port": proxy_config(interceptionMode="TPROXY", proxyAdminPort=15999, statNameLength=100),
    "multi-root": meta(PROXY_CONFIG={"proxyMetadata": {"PROXY_CONFIG_XDS_AGENT": "true"}}),
    "expected": meta(PILOT_SAN=["a"], EXIT_ON_ZERO_ACTIVE_CONNECTIONS="true"),
    "no-namespace": meta(NAMESPACE=None), "no-labels": meta(LABELS=None), "no-cluster": meta(CLUSTER_ID=None),
    "router": lambda n: n.__setitem__("id", n["id"].replace("sidecar~", "router~", 1)),
    "outlier-log": meta(OUTLIER_LOG_PATH="/dev/stdout"), "peer-metadata": meta(ENABLE_PEER_METADATA="true", PEER_METADATA_DISCOVERY="true"),
    "envoy-status": meta(ENVOY_PROMETHEUS_PORT=15090, ENVOY_STATUS_PORT=15021), "file-root": meta(CERT_BASE="x", PROXY_XDS_VIA_AGENT="true"),
}

MESH = {
    "access-log-text": {"accessLogFile": "/dev/stdout", "accessLogFormat": "%START_TIME% %REQ(:PATH)% %FILTER_STATE(x)%\n"},
    "access-log-json": {"accessLogFile": "/x", "accessLogEncoding": "JSON", "accessLogFormat": '{"a": "%PROTOCOL%", "b": {"c": "%DURATION%"}}'},
    "access-log-service": {"enableEnvoyAccessLogService": True, "disableEnvoyListenerLog": True},
    "registry-only": {"outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"}}, "inbound-localhost": {"inboundTrafficPolicy": {"mode": "LOCALHOST"}},
    "proxy-http-port": {"proxyHttpPort": 15555}, "h2-upgrade": {"h2UpgradePolicy": "UPGRADE"}, "protocol-timeout": {"protocolDetectionTimeout": "2s"},
    "locality": {"localityLbSetting": {"enabled": True, "failover": [{"from": "eu", "to": "us"}]}}, "locality-off": {"localityLbSetting": {"enabled": False}},
    "locality-priority": {"localityLbSetting": {"failoverPriority": ["topology.kubernetes.io/region", "version"]}},
    "locality-distribute": {"localityLbSetting": {"distribute": [{"from": "eu/*", "to": {"eu/*": 80, "us/*": 20}}]}},
    "path-none": {"pathNormalization": {"normalization": "NONE"}}, "path-merge": {"pathNormalization": {"normalization": "MERGE_SLASHES"}}, "path-decode": {"pathNormalization": {"normalization": "DECODE_AND_MERGE_SLASHES"}},
    "mesh-tls": {"meshMTLS": {"minProtocolVersion": "TLSV1_3"}, "tlsDefaults": {"minProtocolVersion": "TLSV1_2", "cipherSuites": ["ECDHE-RSA-AES128-GCM-SHA256"], "ecdhCurves": ["P-384"]}},
    "trust-domain": {"trustDomain": "example.org", "trustDomainAliases": ["old.org", "cluster.local"]},
    "no-auto-mtls": {"enableAutoMtls": False}, "export-private": {"defaultServiceExportTo": ["."], "defaultVirtualServiceExportTo": ["."], "defaultDestinationRuleExportTo": ["."]}, "export-none": {"defaultServiceExportTo": ["~"]},
    "dns-refresh": {"dnsRefreshRate": "17s"}, "connect-timeout": {"connectTimeout": "3s"}, "keepalive": {"tcpKeepalive": {"probes": 3, "time": "9s", "interval": "4s"}},
    "retry": {"defaultHttpRetryPolicy": {"attempts": 5, "perTryTimeout": "2s", "retryOn": "5xx,reset", "retryRemoteLocalities": True}}, "no-retry": {"defaultHttpRetryPolicy": {"attempts": 0}},
    "no-tracing": {"enableTracing": False}, "root-namespace": {"rootNamespace": "shop"}, "ingress-strict": {"ingressControllerMode": "STRICT", "ingressClass": "other", "ingressSelector": "gw"}, "ingress-off": {"ingressControllerMode": "OFF"},
    "verify-san": {"verifyCertificateAtClient": True}, "cluster-local": {"serviceSettings": [{"settings": {"clusterLocal": True}, "hosts": ["*.shop.svc.cluster.local"]}]},
    "zipkin": {"extensionProviders": [{"name": "z", "zipkin": {"service": "zipkin.istio-system.svc.cluster.local", "port": 9411, "maxTagLength": 50, "enable64bitTraceId": True, "path": "/x", "traceContextOption": "USE_B3_WITH_W3C_PROPAGATION", "timeout": "3s"}}], "defaultProviders": {"tracing": ["z"]}},
    "otel": {"extensionProviders": [{"name": "o", "opentelemetry": {"service": "otel.istio-system.svc.cluster.local", "port": 4317, "resourceDetectors": {"environment": {}, "dynatrace": {}}, "serviceAttributeEnrichment": "OTEL_SEMANTIC_CONVENTIONS"}}], "defaultProviders": {"tracing": ["o"]}},
    "otel-http": {"extensionProviders": [{"name": "o", "opentelemetry": {"service": "otel.istio-system.svc.cluster.local", "port": 4318, "http": {"path": "/v1/traces", "timeout": "10s", "headers": [{"name": "h", "value": "v"}]}, "maxTagLength": 20}}], "defaultProviders": {"tracing": ["o"]}},
    "datadog": {"extensionProviders": [{"name": "d", "datadog": {"service": "datadog.istio-system.svc.cluster.local", "port": 8126}}], "defaultProviders": {"tracing": ["d"]}},
    "skywalking": {"extensionProviders": [{"name": "s", "skywalking": {"service": "otel.istio-system.svc.cluster.local", "port": 11800, "accessToken": "t"}}], "defaultProviders": {"tracing": ["s"]}},
    "stackdriver": {"extensionProviders": [{"name": "s", "stackdriver": {"maxNumberOfAttributes": 5, "logging": {"labels": {"a": "request.host"}}}}], "defaultProviders": {"tracing": ["s"], "accessLogging": ["s"], "metrics": ["s"]}},
    "als-http": {"extensionProviders": [{"name": "a", "envoyHttpAls": {"service": "otel.istio-system.svc.cluster.local", "port": 9000, "logName": "requests", "additionalRequestHeadersToLog": ["x"], "filterStateObjectsToLog": ["f"]}}], "defaultProviders": {"accessLogging": ["a"]}},
    "als-tcp": {"extensionProviders": [{"name": "a", "envoyTcpAls": {"service": "otel.istio-system.svc.cluster.local", "port": 9000}}], "defaultProviders": {"accessLogging": ["a"]}},
    "als-otel": {"extensionProviders": [{"name": "a", "envoyOtelAls": {"service": "otel.istio-system.svc.cluster.local", "port": 4317, "logFormat": {"text": "%PROTOCOL%", "labels": {"k": "%DURATION%"}}}}], "defaultProviders": {"accessLogging": ["a"]}},
    "file-log": {"extensionProviders": [{"name": "f", "envoyFileAccessLog": {"path": "/y", "logFormat": {"labels": {"k": "%RESPONSE_CODE%"}}, "omitEmptyValues": True}}, {"name": "g", "envoyFileAccessLog": {"path": "/dev/stderr"}}], "defaultProviders": {"accessLogging": ["f", "g"]}},
    "prometheus": {"extensionProviders": [{"name": "p", "prometheus": {}}], "defaultProviders": {"metrics": ["p"]}},
    "default-config": {"defaultConfig": {"concurrency": 4, "discoveryAddress": "x:1", "drainDuration": "5s", "statsdUdpAddress": "1.2.3.4:5", "tracing": {"sampling": 50, "openCensusAgent": {"address": "a:1"}}, "proxyStatsMatcher": {"inclusionPrefixes": ["a"]}, "extraStatTags": ["t"]}},
    "default-tracing": {"defaultConfig": {"tracing": {"sampling": 0, "customTags": {"h": {"header": {"name": "x-h", "defaultValue": "d"}}}, "maxPathTagLength": 9, "datadog": {"address": "$(HOST_IP):8126"}}}},
    "topology": {"defaultConfig": {"gatewayTopology": {"numTrustedProxies": 3, "forwardClientCertDetails": "ALWAYS_FORWARD_ONLY"}}},
    "prom-merge-off": {"enablePrometheusMerge": False}, "hbone-idle": {"hboneIdleTimeout": "9s"}, "stat-names": {"inboundClusterStatName": "in_%SERVICE%_%SERVICE_PORT%_%TARGET_PORT%", "outboundClusterStatName": "%SERVICE_FQDN%|%SUBSET_NAME%"},
    "thrift": {"thriftConfig": {"rateLimitUrl": "x:1", "rateLimitTimeout": "1s"}},
    "drain-host": {"enableAutoMtls": True, "proxyInboundListenPort": 16006, "proxyListenPort": 16001}, "dual": {"ipFamilies": []},
}

ENV = {k: v for k, v in (x.split("=", 1) for x in """PILOT_ENABLE_PROTOCOL_SNIFFING_FOR_OUTBOUND=false
PILOT_ENABLE_PROTOCOL_SNIFFING_FOR_INBOUND=false
PILOT_HTTP10=true
PILOT_ENABLE_HEADLESS_SERVICE_POD_LISTENERS=false
PILOT_FILTER_GATEWAY_CLUSTER_CONFIG=true
PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES=true
ENABLE_OPTIMIZED_CONFIG_REBUILD=false
PILOT_DISABLE_MX_ALPN=true
PILOT_ENABLE_ALPN_FILTER=false
PILOT_SKIP_VALIDATE_TRUST_DOMAIN=true
PILOT_SCOPE_GATEWAY_TO_NAMESPACE=true
PILOT_ENABLE_LOOP_BLOCK=false
PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION=false
PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API=false
PILOT_ENABLE_METADATA_EXCHANGE=false
ENABLE_HCM_INTERNAL_NETWORKS=true
ISTIO_DUAL_STACK=true
PILOT_ENABLE_QUIC_LISTENERS=true
ENABLE_TLS_ON_SIDECAR_INGRESS=true
PILOT_ENABLE_PERSISTENT_SESSION_FILTER=true
PILOT_PERSISTENT_SESSION_LABEL=istio.io/persistent-session
ENABLE_EXTERNAL_NAME_ALIAS=false
VERIFY_CERTIFICATE_AT_CLIENT=false
ENABLE_AUTO_SNI=false
PILOT_ENABLE_SENDING_HBONE=true
SIDECAR_IGNORE_PORT_IN_HOST_MATCH=true
PILOT_SIDECAR_USE_REMOTE_ADDRESS=true
ENABLE_DELIMITED_STATS_TAG_REGEX=false
COMPLIANCE_POLICY=fips-140-2
MUTEX=1
PILOT_UNIFIED_SIDECAR_SCOPE=false
PILOT_ENABLE_EXTERNAL_SDS=true
ENABLE_INBOUND_RETRY_POLICY=false
EXCLUDE_UNSAFE_503_FROM_DEFAULT_RETRY=false
PILOT_CONVERT_SIDECAR_SCOPE_CONCURRENCY=1
PILOT_DNS_CARES_UDP_MAX_QUERIES=0
PILOT_DNS_JITTER_DURATION=1s
PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY=false
ENABLE_DEFERRED_CLUSTER_CREATION=false
ENABLE_DEFERRED_STATS_CREATION=false
BYPASS_OVERLOAD_MANAGER_FOR_STATIC_LISTENERS=false
PILOT_MAX_REQUESTS_PER_SECOND=5
LOCAL_CLUSTER_SECRET_WATCHER=true
PILOT_TRACE_SAMPLING=33
METRIC_ROTATION_INTERVAL=5s
METRIC_GRACEFUL_DELETION_INTERVAL=3s
PILOT_ENABLE_GATEWAY_API=false
UNSAFE_ENABLE_ADMIN_ENDPOINTS=true
PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES=false
PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY=false
ENABLE_ENHANCED_DESTINATIONRULE_MERGE=false
PILOT_IGNORE_RESOURCES=*.x.io
ISTIO_WATCH_NAMESPACE=shop""".splitlines())}
