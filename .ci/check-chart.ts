// Checks what no schema covers of the rendered Helm chart: that the server accepts the settings, and that every object
// that another one names exists.
//
//   node .ci/check-chart.ts FILE…
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { SHUTDOWN_LIMIT_MS } from "../packages/server/src/boot/shutdown.ts";
import { loadConfig } from "../packages/kernel/src/config/index.ts";

interface Resource {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec?: Spec;
}
interface Spec {
  replicas?: number;
  template?: { metadata: { labels: Record<string, string> }; spec: Pod };
  selector?: Record<string, string> & { matchLabels?: Record<string, string> };
}
interface Policy {
  podSelector: { matchLabels: Record<string, string> };
  policyTypes: string[];
  ingress: { ports: { port: number }[] }[];
}
interface Pod {
  containers: Container[];
  volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[];
  terminationGracePeriodSeconds?: number;
}
interface Container {
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  volumeMounts: { name: string; mountPath: string }[];
  ports?: { name: string }[];
  securityContext: { readOnlyRootFilesystem: boolean };
  lifecycle?: { preStop: { sleep: { seconds: number } } };
}

for (const file of process.argv.slice(2)) {
  const resources = parseAllDocuments(readFileSync(file, "utf8")).flatMap((document) => {
    assert.deepEqual(document.errors, [], file);
    const resource = document.toJS() as Resource | null;
    return resource === null ? [] : [resource];
  });
  const ids = resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  assert.equal(new Set(ids).size, ids.length, `${file}: two objects of one name`);
  const find = (kind: string, name: string): Resource | undefined =>
    resources.find((resource) => resource.kind === kind && resource.metadata.name === name);

  for (const { kind, spec } of resources) {
    if (spec?.template) checkPod(file, spec.template.spec, kind, find);
  }
  const deployment = resources.find(({ kind }) => kind === "Deployment")?.spec;
  const labels = deployment?.template?.metadata.labels ?? {};
  for (const selecting of resources.filter(({ kind }) =>
    ["Service", "PodDisruptionBudget", "Deployment"].includes(kind),
  )) {
    const selector = selecting.kind === "Service" ? selecting.spec?.selector : selecting.spec?.selector?.matchLabels;
    assert.ok(
      selector && Object.entries(selector).every(([name, value]) => labels[name] === value),
      `${file}: ${selecting.kind} selects the server's pods`,
    );
    const others = resources
      .filter(({ kind }) => kind === "Job" || kind === "Pod")
      .map((other) => other.spec?.template?.metadata.labels ?? other.metadata.labels);
    for (const other of others)
      assert.ok(
        !Object.entries(selector).every(([name, value]) => other[name] === value),
        `${file}: ${selecting.kind} selects no other pod`,
      );
  }
  // Every pod is under the policy, and nobody connects to anything but the server's port.
  const policy = resources.find(({ kind }) => kind === "NetworkPolicy")?.spec as Policy | undefined;
  assert.ok(policy, `${file}: a network policy`);
  for (const { kind, metadata, spec } of resources) {
    const pod = spec?.template?.metadata.labels ?? (kind === "Pod" ? metadata.labels : undefined);
    for (const [name, value] of Object.entries(pod === undefined ? {} : policy.podSelector.matchLabels))
      assert.equal(pod?.[name], value, `${file}: the network policy selects the pod of ${kind}`);
  }
  assert.deepEqual(policy.policyTypes, ["Ingress", "Egress"]);
  assert.deepEqual(
    policy.ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
    [8080],
  );
  console.log(`${file.replace(/^.*\//, "")}: ${ids.length} objects`);
}

function checkPod(
  file: string,
  pod: Pod,
  kind: string,
  find: (kind: string, name: string) => Resource | undefined,
): void {
  const [container] = pod.containers;
  assert.ok(container);
  const env = Object.assign(
    {},
    ...container.envFrom.map(({ configMapRef, secretRef }) => {
      if (configMapRef) {
        const config = find("ConfigMap", configMapRef.name);
        assert.ok(config, `${file}: ${configMapRef.name} is there`);
        return config.data;
      }
      // A secret that the operator created beforehand has these keys.
      return (
        find("Secret", secretRef?.name ?? "")?.stringData ?? {
          MOORAGE_DATABASE_URL: "postgres://user:password@database.example.com/moorage",
          MOORAGE_SECRET_KEY: "00".repeat(32),
        }
      );
    }),
  ) as Record<string, string>;
  for (const [name, value] of Object.entries(env)) assert.equal(typeof value, "string", `${file}: ${name}`);
  const config = loadConfig(env);
  assert.ok(container.securityContext.readOnlyRootFilesystem, file);
  assert.deepEqual(
    container.volumeMounts.map(({ name }) => name).sort(),
    pod.volumes.map(({ name }) => name).sort(),
    `${file}: volumes are mounted`,
  );
  const paths = container.volumeMounts.map(({ mountPath }) => mountPath);
  for (const path of [config.dataDir, config.tlsCert, config.databaseTlsCa]) {
    assert.ok(
      path === "" || paths.some((mounted) => path === mounted || path.startsWith(`${mounted}/`)),
      `${file}: ${path} lies on a volume`,
    );
  }
  if (kind !== "Deployment") return;
  assert.equal(config.port, 8080);
  assert.equal(config.host, "0.0.0.0");
  const sleepMs = (container.lifecycle?.preStop.sleep.seconds ?? 0) * 1000;
  assert.ok(
    (pod.terminationGracePeriodSeconds ?? 0) * 1000 >
      sleepMs + config.drainDelayMs + config.drainTimeoutMs + SHUTDOWN_LIMIT_MS,
    `${file}: the drain has its time`,
  );
  const claim = pod.volumes.find(({ name }) => name === "data")?.persistentVolumeClaim;
  assert.equal(
    claim !== undefined,
    config.databaseUrl === "",
    `${file}: the data folder is kept when it holds the data`,
  );
  if (config.databaseUrl === "") return;
  assert.match(config.blobsUrl, /^s3:/);
  assert.notEqual(config.secretKeys.length, 0, `${file}: replicas share a key`);
}
