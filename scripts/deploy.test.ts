import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { parse, parseDocument } from "yaml";
import { SHUTDOWN_LIMIT_MS } from "../packages/server/src/boot/shutdown.ts";
import { loadConfig, parseDuration, SETTINGS } from "../packages/kernel/src/config/index.ts";

// Checks of deploy/ that need neither Go nor a container engine. `.ci/deploy.sh` renders the chart, lints, and starts
// the content of the image.

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const known = new Set(SETTINGS.map(({ name }) => name));
// Settings of clients: of the credential helper, and in the commands of the documents for the server's URL.
const OF_CLIENTS = new Set([
  "MOORAGE_AUDIENCE",
  "MOORAGE_COMPLETION_MS",
  "MOORAGE_CONTEXT",
  "MOORAGE_MAVEN_TOKEN",
  "MOORAGE_NPM_TOKEN",
  "MOORAGE_OUTPUT",
  "MOORAGE_IDENTITY",
  "MOORAGE_ID_TOKEN",
  "MOORAGE_ID_TOKEN_FILE",
  "MOORAGE_REGISTRY_HOST",
  "MOORAGE_TOKEN",
  "MOORAGE_URL",
]);

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, unknown>;
}
interface Service {
  cap_drop?: string[];
  security_opt?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  volumes?: string[];
  networks?: string[];
  stop_grace_period?: string;
  build?: unknown;
}

const compose = parse(read("deploy/compose.yaml")) as Compose;

test("deploy/ and the documents use no unknown setting", () => {
  const files = globSync(["deploy/**/*", "docs/**/*.md", "*.md"], { cwd: root, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.ok(files.length > 20);
  for (const { parentPath, name } of files) {
    for (const [variable] of readFileSync(join(parentPath, name), "utf8").matchAll(/\bMOORAGE_[A-Z][A-Z_]*[A-Z]\b/g)) {
      assert.ok(
        known.has(variable) || OF_CLIENTS.has(variable) || /^MOORAGE_(?:TEST_|BUNDLE$)/.test(variable),
        `${name}: ${variable} is no setting`,
      );
    }
  }
});

test("no service of the compose file keeps capabilities that it was not given, or gains any", () => {
  assert.ok(Object.keys(compose.services).length >= 5);
  for (const [name, { cap_drop, security_opt }] of Object.entries(compose.services)) {
    assert.deepEqual(cap_drop, ["ALL"], name);
    assert.deepEqual(security_opt, ["no-new-privileges:true"], name);
  }
});

test("the server accepts the settings of the compose file", () => {
  const secrets: Record<string, string> = {
    POSTGRES_PASSWORD: "5f0c",
    S3_SECRET_KEY: "77aa",
    MOORAGE_SECRET_KEY: "00".repeat(32),
  };
  const filled = Object.entries(compose.services["moorage"]?.environment ?? {}).map(([name, value]) => {
    const text = String(value).replaceAll(
      /\$\{(\w+):([-?])([^}]*)\}/g,
      (_, variable: string, kind: string, word: string) => (kind === "-" ? word : (secrets[variable] ?? "")),
    );
    return [name, text] as const;
  });
  const config = loadConfig(Object.fromEntries(filled));
  assert.equal(config.databaseUrl, "postgres://moorage:5f0c@postgres:5432/moorage");
  assert.equal(config.databaseTls, "disable");
  assert.equal(config.secretKeys.length, 1);
  assert.equal(config.baseUrl, "http://localhost:8080");
  assert.ok(
    (parseDuration(compose.services["moorage"]?.stop_grace_period ?? "") ?? 0) >
      config.drainDelayMs + config.drainTimeoutMs + SHUTDOWN_LIMIT_MS,
    "Docker waits longer than the server takes to end",
  );
});

test("the compose file uses only what it declares, and waits only for services with a health check", () => {
  for (const [name, service] of Object.entries(compose.services)) {
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      assert.ok(
        source.startsWith(".") ? readFileSync(join(root, "deploy", source)) : source in compose.volumes,
        `${name}: ${source}`,
      );
    }
    for (const network of service.networks ?? []) assert.ok(network in compose.networks, `${name}: ${network}`);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = compose.services[other];
      assert.ok(target, `${name} waits for ${other}`);
      // The health check of the server is in its image.
      if (condition === "service_healthy")
        assert.ok(target.healthcheck ?? target.build, `${other} has no health check`);
    }
  }
});

test("the document mentions every secret that the compose file needs", () => {
  const asked = [...read("deploy/compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
  assert.deepEqual([...new Set(asked)].sort(), ["MOORAGE_SECRET_KEY", "POSTGRES_PASSWORD", "S3_SECRET_KEY"]);
  for (const name of asked) assert.match(read("docs/deploy.md"), new RegExp(`${name}=`));
});

test("every path that the Dockerfile copies exists and is not ignored", () => {
  const sources = [...read("deploy/Dockerfile").matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, words = ""]) =>
    words.split(" ").slice(0, -1),
  );
  assert.ok(sources.length > 8);
  // What the packing reads.
  for (const [, path = ""] of read("scripts/pack.ts").matchAll(/join\(root, "([^"/]+)/g))
    assert.ok(["node_modules", "build", ...sources].includes(path), `${path} is read by the packing`);
  const allowed = read(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  for (const source of sources) {
    assert.notEqual(globSync(source, { cwd: root }).length, 0, source);
    assert.ok(
      allowed.some((path) => source === path || source.startsWith(`${path}/`)),
      `${source} is kept out by .dockerignore`,
    );
  }
});

test("the image has the server's port, data folder and stop signal", () => {
  const dockerfile = read("deploy/Dockerfile");
  assert.match(dockerfile, /^CMD \["moorage", "serve"\]$/m);
  assert.match(dockerfile, /^STOPSIGNAL SIGTERM$/m);
  const [, port] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
  assert.match(dockerfile, new RegExp(`MOORAGE_PORT=${port}`));
  assert.match(dockerfile, /MOORAGE_HOST=0\.0\.0\.0/);
  const major = Number(/^ARG NODE_IMAGE=node:(\d+)/m.exec(dockerfile)?.[1]);
  const { engines } = JSON.parse(read("packages/server/package.json")) as { engines: { node: string } };
  assert.ok(major >= Number(engines.node.replace(">=", "")), "the image's Node is one that the server runs on");
});

const CHART = "deploy/helm/moorage";

test("the chart has the version and the licence of the repository", () => {
  const chart = parse(read(`${CHART}/Chart.yaml`)) as { appVersion: string; annotations: Record<string, string> };
  const { version, license } = JSON.parse(read("packages/cli/package.json")) as { version: string; license: string };
  assert.equal(chart.appVersion, version);
  assert.ok(Object.values(chart.annotations).includes(license));
});

test("the chart's values and their schema have the same names", () => {
  const document = parseDocument(read(`${CHART}/values.yaml`));
  assert.deepEqual(document.errors, []);
  const schema = JSON.parse(read(`${CHART}/values.schema.json`)) as Schema;
  sameNames(document.toJS() as Record<string, unknown>, schema, "");
});

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
}

function sameNames(values: Record<string, unknown>, schema: Schema, path: string): void {
  const described = Object.keys(schema.properties ?? {}).filter((name) => path !== "" || name !== "global");
  assert.deepEqual(Object.keys(values).sort(), described.sort(), `names at ${path || "the top"}`);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    if (inner.properties) sameNames(values[name] as Record<string, unknown>, inner, `${path}.${name}`);
  }
}

test("the chart uses every value, and none that is not declared", () => {
  const values = parse(read(`${CHART}/values.yaml`)) as Record<string, unknown>;
  const templates = globSync(`${CHART}/templates/**/*.{yaml,tpl,txt}`, { cwd: root }).map(read).join("\n");
  const used = [...templates.matchAll(/(?:\.Values|\$v)((?:\.[a-zA-Z]+)+)/g)].map(([, path = ""]) =>
    path.slice(1).split("."),
  );
  for (const path of used) assert.ok(has(values, path), `.Values.${path.join(".")} is in values.yaml`);
  for (const name of Object.keys(values))
    assert.ok(
      used.some(([first]) => first === name),
      `${name} is used`,
    );
});

function has(values: unknown, [name, ...rest]: string[]): boolean {
  if (name === undefined) return true;
  if (typeof values !== "object" || values === null || !(name in values)) return false;
  return has((values as Record<string, unknown>)[name], rest);
}

test("systemd's unit waits longer than a shutdown takes, and its settings are those of a server", () => {
  const unit = read("deploy/systemd/moorage.service");
  const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const variables = (text: string): Record<string, string> =>
    Object.fromEntries(
      [...text.matchAll(/^(?!#)([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value] as const),
    );
  const env = {
    ...variables(valueOf("Environment").replaceAll(" ", "\n")),
    ...variables(read("deploy/systemd/moorage.env")),
  };
  const { NODE_ENV: _, ...settings } = env;
  for (const name of Object.keys(settings)) assert.ok(known.has(name), name);
  const config = loadConfig(settings);
  assert.equal(config.dataDir, `/var/lib/${valueOf("StateDirectory")}`);
  const stopMs = parseDuration(valueOf("TimeoutStopSec")) ?? 0;
  assert.ok(stopMs > config.drainDelayMs + config.drainTimeoutMs + SHUTDOWN_LIMIT_MS);
  assert.match(read("deploy/systemd/moorage.sysusers.conf"), new RegExp(`^u ${valueOf("User")} `, "m"));
});
