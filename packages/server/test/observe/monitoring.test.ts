import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import { ENGINE } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { fileOf } from "../support/feed-files.ts";
import { startFeedServer } from "../support/feed-server.ts";
import { type Installation, startInstallation } from "../support/installation.ts";
import { npmPath } from "../support/npm.ts";
import { startNpmRegistry, tarballPath } from "../support/npm-registry.ts";
import { namesIn } from "../support/promql.ts";
import { eventsOf, QUICK, startReceiver } from "../support/receiver.ts";

// The dashboards of deploy/grafana and the rules of deploy/prometheus against a server with something of everything.

const root = join(dirname(import.meta.dirname), "../../..");
const DASHBOARDS = join(root, "deploy/grafana");
const RULES = join(root, "deploy/prometheus/moorage.rules.yaml");

/** Labels that Prometheus adds, and the metric that it makes of a scrape. */
const OF_PROMETHEUS = new Set(["job", "instance"]);
const MADE_BY_PROMETHEUS = new Set(["up"]);
/** What a server has on PostgreSQL alone. */
const OF_POSTGRES = new Set(["moorage_database_connections"]);

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const rules = (parse(readFileSync(RULES, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** Every expression of PromQL with the place where it stands. */
function expressions(): { place: string; expression: string }[] {
  const found = rules.map(({ alert, expr }) => ({ place: alert, expression: expr }));
  for (const name of readdirSync(DASHBOARDS)) {
    const dashboard = JSON.parse(readFileSync(join(DASHBOARDS, name), "utf8")) as {
      panels: { title: string; targets?: { expr: string }[] }[];
    };
    for (const { title, targets = [] } of dashboard.panels)
      found.push(...targets.map(({ expr }) => ({ place: `${name}: ${title}`, expression: expr })));
  }
  return found;
}

/** The names of labels by metric, of all time series of a server. */
async function labelsOf({ url }: Installation): Promise<Map<string, Set<string>>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = new Map<string, Set<string>>();
  for (const line of text.split("\n")) {
    const [, metric = "", labels = ""] = /^([a-z]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === "") continue;
    const names = found.get(metric) ?? new Set();
    for (const [, label = ""] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) names.add(label);
    found.set(metric, names);
  }
  return found;
}

/**
 * A server that was pushed to and pulled from, with a feed, an upstream, a failing sink, an identity past its limit,
 * and a fault of the storage.
 */
async function startDriven(t: TestContext): Promise<Installation> {
  const feeds = await startFeedServer(t);
  feeds.pages.set("/kev.json", { content: JSON.stringify({ vulnerabilities: [{ cveID: "CVE-1" }] }) });
  const feed = { name: "kev", format: "kev", licence: "CC0-1.0", address: `${feeds.url}/kev.json` };
  const upstream = await startNpmRegistry(t);
  upstream.publish("left", "1.0.0");
  const receiver = await startReceiver(t);
  receiver.answer = 500;
  const server = await startInstallation(t, {
    ...QUICK,
    MOORAGE_FEEDS_FILE: fileOf(t, "feeds.json", JSON.stringify([feed])),
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_EVENTS_RETRY: "1h",
    MOORAGE_RATE_LIMIT_IDENTITY: "1/s:300",
  });
  const { ask, api, bootstrap, platform, registry: token } = server;
  await eventsOf(server).subscribe(receiver.url);
  const { layer } = await server.pushImage("acme/app", "v1", "one");
  await ask("GET", "/v2/acme/app/manifests/v1", { token });
  await ask("GET", `/v2/acme/app/blobs/${layer}`, { token });
  const { uid: group } = await api("POST", `/iam/v2/groups/${bootstrap.organization.uid}`, { name: "team" });
  await api("POST", `/libraries/v2/upstreams/${group}`, { ecosystem: "ECOSYSTEM_JAVASCRIPT", url: upstream.url });
  for (const path of [npmPath("acme/team", "left"), `/npm/acme/team${tarballPath("left", "1.0.0")}`])
    assert.equal((await ask("GET", path, { token: platform })).status, 200, path);
  const away = `${server.dataDir}-away`;
  renameSync(server.dataDir, away);
  await server.pushBlob("acme/app", "a blob for which there is no place".repeat(9_000));
  renameSync(away, server.dataDir);
  await eventually(async () => (await ask("GET", "/iam/v2/groups", { token: platform })).status === 429);
  return server;
}

test("every metric and label of the dashboards and rules exists on a server", { timeout: 300_000 }, async (t) => {
  const server = await startDriven(t);
  const all = expressions();
  assert.ok(all.length > 100, `${all.length} expressions`);
  const wrong = async (): Promise<string[]> => {
    const labels = await labelsOf(server);
    return all.flatMap(({ place, expression }) => {
      const { selectors, grouping } = namesIn(expression);
      const used = selectors.filter(
        ({ metric }) => !MADE_BY_PROMETHEUS.has(metric) && !(ENGINE === "sqlite" && OF_POSTGRES.has(metric)),
      );
      if (selectors.length === 0) return [`${place}: no metric was found`];
      const missing = used.filter(({ metric }) => !labels.has(metric)).map(({ metric }) => metric);
      const unknown = used.flatMap(({ metric, labels: asked }) =>
        asked.filter((label) => !OF_PROMETHEUS.has(label) && labels.get(metric)?.has(label) !== true),
      );
      const groupedBy = grouping.filter(
        (label) =>
          used.length > 0 && !OF_PROMETHEUS.has(label) && !used.some(({ metric }) => labels.get(metric)?.has(label)),
      );
      return [...missing, ...unknown, ...groupedBy].map((name) => `${place}: ${name}`);
    });
  };
  // Jobs, deliveries and probes take their time.
  await eventually(async () => (await wrong()).length === 0, { everyMs: 250, instead: wrong });
});

test("every alert has a run-book, which its annotation links to, and is played by promtool's tests", () => {
  const operations = readFileSync(join(root, "docs/operations.md"), "utf8");
  const played = parse(readFileSync(RULES.replace(/yaml$/, "test.yaml"), "utf8"), { merge: true }) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  const plays = played.tests.flatMap((each) => each.alert_rule_test);
  assert.ok(rules.length > 20);
  for (const { alert, annotations, labels } of rules) {
    assert.match(operations, new RegExp(`^### ${alert}$`, "m"), `docs/operations.md has no heading ${alert}`);
    assert.equal(annotations["runbook_url"], `docs/operations.md#${alert.toLowerCase()}`);
    assert.deepEqual(Object.keys(annotations), ["summary", "description", "runbook_url"], alert);
    assert.match(labels.severity, /^(?:page|ticket)$/, alert);
    const ofAlert = plays.filter(({ alertname }) => alertname === alert);
    assert.ok(
      ofAlert.some(({ exp_alerts: expected }) => expected !== undefined),
      `no test has ${alert} fire`,
    );
    assert.ok(
      ofAlert.some(({ exp_alerts: expected }) => expected === undefined),
      `no test has ${alert} be quiet`,
    );
  }
  const headings = [...operations.matchAll(/^### (Moorage\w+)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(headings.toSorted(), rules.map(({ alert }) => alert).toSorted());
});

test("every dashboard has its own address, and its panels do not overlap", () => {
  const uids = new Set<string>();
  for (const name of readdirSync(DASHBOARDS)) {
    const { uid, panels } = JSON.parse(readFileSync(join(DASHBOARDS, name), "utf8")) as {
      uid: string;
      panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
    };
    assert.equal(name, `${uid}.json`);
    uids.add(uid);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, name);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length, `${name}: panels overlap`);
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  }
  assert.equal(uids.size, 6);
});
