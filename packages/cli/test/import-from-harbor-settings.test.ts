// Labels, gates, and what else a project of Harbor has of settings. Harbor is a fake, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PlanItem } from "../src/move-in/plan.ts";
import { type HarborProject, type HarborSystem, startFakeHarbor } from "./fake-registries.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

interface Result {
  counts: { kind: string; done: number; same: number; kept: number; left: number; cannot: number }[];
  failed: object[];
}
interface Tag {
  bundles: string[];
  deprecated: boolean;
}
interface Gate {
  severity: string;
  mode: string;
  on: string[];
  onUnknown: string;
}

/** A Harbor with these projects, whose images are in a server, and a server to move to. */
async function openMove(t: TestContext, images: string[], projects: HarborProject[], system: HarborSystem = {}) {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  for (const image of images) await there.push(image, 1);
  await here.ok("groups", "create", "acme/old");
  const { url } = await startFakeHarbor(t, there.url, projects, system);
  const command = ["import-from", "harbor", url, "--into", "acme/old"];
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  return {
    here,
    async plan(): Promise<PlanItem[]> {
      await here.ok(...command, "--plan", "plan.json", "--username", "admin", "--password-file", "password");
      return (JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] }).items;
    },
    apply: (...flags: string[]) => here.json<Result>(...command, "--apply", "plan.json", ...pull, ...flags),
    applyFails: (...flags: string[]) => here.fails(...command, "--apply", "plan.json", ...pull, ...flags),
  };
}

// The year 1 stands for no time.
const NEVER = "0001-01-01T00:00:00.000Z";

function artifact(names: string[], fields: object = {}) {
  const push_time = "2024-01-01T00:00:00.000Z";
  return { digest: BUILD[1], push_time, tags: names.map((name) => ({ name, push_time })), ...fields };
}

function linesOf(items: readonly PlanItem[], ...kinds: string[]): string[] {
  return items
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, source, action, why }) => `${kind} ${source} ${action}: ${why}`);
}

test("labels of Harbor become bundles beside those that tags have, and what of them cannot come is said", async (t) => {
  const labels = [{ id: 1, name: "stable" }, { id: 2, name: "eu west" }, { id: 3, name: "" }, null];
  const { here, plan, apply, applyFails } = await openMove(
    t,
    ["acme/app:1", "acme/other:1", "acme/odd:1"],
    [
      {
        name: "acme",
        project_id: 1,
        repositories: {
          app: [artifact(["1"], { labels })],
          other: [artifact(["1"])],
          odd: [artifact(["1"], { labels: 7 })],
        },
      },
    ],
  );
  const tags = (items: PlanItem[]): object[] =>
    items
      .filter(({ kind }) => kind === "tag")
      .map(({ source, action, why, bundles }) => [source, action, why, bundles]);
  const left = "2 labels of it cannot come";
  const [odd, other] = [
    ["acme/odd:1", "create", "its labels cannot be read", undefined],
    ["acme/other:1", "create", "", undefined],
  ];
  assert.deepEqual(tags(await plan()), [["acme/app:1", "create", left, ["stable", "eu west"]], odd, other]);
  const tagOf = (image: string): Promise<Tag> => here.json<Tag>("tags", "get", `acme/old/acme/${image}`);
  const of = ({ counts }: Result, kind: string): unknown => {
    const { done, same } = counts.find((each) => each.kind === kind) ?? {};
    return [done, same];
  };
  assert.deepEqual(of(await apply(), "tag"), [3, 0]);
  assert.deepEqual((await tagOf("app:1")).bundles, ["stable", "eu west"]);
  assert.deepEqual((await tagOf("other:1")).bundles, []);
  assert.deepEqual(of(await apply(), "tag"), [0, 3]);

  // What somebody set here stays; what was taken away comes again.
  const { uid, digest } = await here.json<{ uid: string; digest: string }>("tags", "get", "acme/old/acme/app:1");
  await here.api("PUT", `/registry/v1/tags/${uid}`, {
    name: "1",
    digest,
    deprecated: true,
    bundles: ["own", "stable"],
  });
  assert.deepEqual(tags(await plan())[0], [
    "acme/app:1",
    "update",
    `lacks a label here; ${left}`,
    ["stable", "eu west"],
  ]);
  assert.deepEqual(of(await apply(), "tag"), [1, 2]);
  const { bundles, deprecated } = await tagOf("app:1");
  assert.deepEqual([bundles, deprecated], [["own", "stable", "eu west"], true]);

  const file = join(here.folder, "plan.json");
  writeFileSync(file, readFileSync(file, "utf8").replace('"stable","eu west"', '"stable",7'));
  const [code, line] = await applyFails();
  assert.equal(code, 2);
  assert.match(line, /\.bundles: must be at most 256 texts of at most 128 characters/);
});

test("the prevention of vulnerable images becomes a gate, which enforces where nothing passes by a list", async (t) => {
  const prevents = { prevent_vul: "true", severity: "high", reuse_sys_cve_allowlist: "false" };
  const [past, ahead] = [Date.parse("2024-06-01T00:00:00Z") / 1000, Date.parse("2100-01-01T00:00:00Z") / 1000];
  const list = (...ids: unknown[]) => ({ items: ids.map((cve_id) => ({ cve_id })) });
  const repositories = {
    app: [
      artifact(["1"], { pull_time: "2024-03-01T00:00:00.000Z" }),
      { ...artifact([], { pull_time: NEVER }), digest: BUILD[2] },
    ],
  };
  const webhooks = [
    {
      id: 1,
      name: "chat",
      enabled: true,
      event_types: ["PUSH_ARTIFACT", "SCANNING_FAILED"],
      targets: [{ type: "http", address: "https://hooks.example.com/t0ken", auth_header: "Bearer s3cret" }],
    },
    { id: 2, enabled: false, event_types: null },
  ];
  const names = ["strict", "lenient", "ended", "general", "odd", "open"];
  const metadata: Record<string, Record<string, string>> = {
    strict: prevents,
    lenient: { ...prevents, severity: "critical" },
    ended: { ...prevents, severity: "low" },
    general: { prevent_vul: "true", severity: "medium" },
    odd: { ...prevents, severity: "constructor" },
    open: { prevent_vul: "false", severity: "high", public: "true", enable_content_trust_cosign: "true" },
  };
  const allowlists: Record<string, object> = {
    lenient: { ...list("CVE-2024-1", "CVE-2024-2"), expires_at: ahead },
    ended: { ...list("CVE-2024-1"), expires_at: past },
  };
  const { here, plan, apply } = await openMove(
    t,
    ["acme/app:1"],
    [
      ...names.map((name, at): HarborProject => ({
        name,
        project_id: at + 1,
        metadata: metadata[name] ?? {},
        ...(allowlists[name] && { cve_allowlist: allowlists[name] }),
        repositories: {},
      })),
      { name: "acme", project_id: 99, metadata: prevents, webhooks, repositories },
    ],
    { allowlist: list("CVE-2024-9") },
  );
  const differs =
    "as there, images wait until they are scanned; an index passes as long as one of its images does, and repos made later need a gate of their own";
  const lists = "here an advisory lets a vulnerability pass, for a component of an image";
  const items = await plan();
  const other = "the body of events differs here, so its receiver has to change: make a subscription";
  assert.deepEqual(linesOf(items, "gate", "setting", "webhook"), [
    `gate acme: prevention of vulnerable images, app create: with --policies; ${differs}`,
    `setting general: list of allowed vulnerabilities cannot: lets pass CVE-2024-9; ${lists}`,
    `setting lenient: list of allowed vulnerabilities cannot: lets pass CVE-2024-1, CVE-2024-2 until 2100-01-01T00:00:00.000Z; ${lists}`,
    "gate odd: prevention of vulnerable images cannot: names no severity that is known here",
    `webhook acme: webhook chat cannot: for PUSH_ARTIFACT, SCANNING_FAILED; ${other}`,
    `webhook acme: webhook 2 cannot: disabled there; for no events; ${other}`,
    "setting acme: times of last pulls cannot: known of 1 of 2 images; here pulls are counted from the first one on",
    "setting open: only signed images cannot: there any signature is enough, here it must be that of a signer: make a signature policy",
  ]);
  assert.doesNotMatch(readFileSync(join(here.folder, "plan.json"), "utf8"), /t0ken|s3cret/);
  // Projects without repositories are groups.
  assert.deepEqual(
    items.filter(({ kind }) => kind === "group").map(({ source }) => source),
    ["acme", "ended", "general", "lenient", "odd", "open", "strict"],
  );
  const gateOf = async (image: string): Promise<Gate | undefined> =>
    (await here.json<{ tagPolicy?: { vulnerabilities?: Gate } }>("repos", "get", `acme/old/${image}`)).tagPolicy
      ?.vulnerabilities;
  const of = ({ counts, failed }: Result): unknown => {
    const { done, same, kept, left } = counts.find(({ kind }) => kind === "gate") ?? {};
    return [done, same, kept, left, failed];
  };
  assert.deepEqual(of(await apply()), [0, 0, 0, 1, []]);
  assert.equal(await gateOf("acme/app"), undefined);
  assert.deepEqual(of(await apply("--policies")), [1, 0, 0, 0, []]);
  const gate = await gateOf("acme/app");
  assert.deepEqual(
    [gate?.severity, gate?.mode, gate?.on, gate?.onUnknown],
    ["FINDING_SEVERITY_HIGH", "GATE_MODE_ENFORCE", ["GATE_ACTION_PULL"], "ON_UNKNOWN_HOLD"],
  );
  assert.deepEqual(of(await apply("--policies")), [0, 1, 0, 0, []]);
  assert.deepEqual(
    (await plan()).filter(({ kind, action }) => kind === "gate" && action !== "cannot").map(({ action }) => action),
    ["same"],
  );
});

test("replications of Harbor that push come without a password, and what does not come is said", async (t) => {
  const to = (url: string, fields: object = {}) => ({ id: 7, type: "docker-registry", url, ...fields });
  const rule = (id: number, name: string, fields: object) => ({
    id,
    name,
    enabled: true,
    src_registry: { id: 0, name: "Local" },
    dest_registry: to("https://backup.example.com"),
    dest_namespace: "acme",
    dest_namespace_replace_count: 0,
    trigger: { type: "event_based" },
    ...fields,
  });
  const filters = [
    { type: "name", value: "acme/team/*" },
    { type: "tag", value: "v*", decoration: "matches" },
    { type: "resource", value: "image" },
  ];
  const { here, plan, apply } = await openMove(
    t,
    ["acme/app:1"],
    [
      { name: "acme", project_id: 1, repositories: { app: [artifact(["1"])] } },
      { name: "other", project_id: 2, repositories: {} },
      { name: "hub", project_id: 3, registry_id: 7, repositories: {} },
      { name: "gone", project_id: 4, registry_id: 8, repositories: {} },
    ],
    {
      registries: { 7: to("https://quay.example.com/team", { type: "quay" }) },
      replications: [
        rule(1, "Off site", { filters, replicate_deletion: true, override: true, speed: 512 }),
        rule(2, "all", {
          dest_registry: to("https://b.example.com:5000", { credential: { access_secret: "s3cret" } }),
        }),
        rule(3, "fetch", { src_registry: to("https://quay.io"), dest_registry: { id: 0 } }),
        rule(4, "ALL", {}),
        rule(5, "cloud", { dest_registry: to("https://api.ecr.example.com", { type: "aws-ecr" }) }),
        rule(6, "label", { filters: [{ type: "label", value: ["stable"] }] }),
      ],
    },
  );
  const without = "with --policies; disabled until it has a user name and a password, which do not come";
  const cannot = "is a registry of the kind aws-ecr, whose images have another address";
  const twice = "another replication has its name here";
  const items = await plan();
  assert.deepEqual(linesOf(items, "registry-upstream", "replication"), [
    "registry-upstream gone: cache cannot: the source does not have the registry that it caches",
    "registry-upstream hub: cache of quay.example.com create: with --policies",
    `replication replication Off site, acme create: ${without}`,
    ...["acme", "gone", "hub", "other"].map((name) => `replication replication all, ${name} create: ${without}`),
    "replication replication fetch cannot: pulls from quay.io: give a group an upstream for it, or a repo a source that it follows",
    ...["acme", "gone", "hub", "other"].map((name) => `replication replication ALL, ${name} cannot: ${twice}`),
    `replication replication cloud cannot: ${cannot}`,
    "replication replication label cannot: has a filter that has no equivalent here",
  ]);
  assert.doesNotMatch(readFileSync(join(here.folder, "plan.json"), "utf8"), /s3cret/);
  const of = ({ counts, failed }: Result): unknown => [
    ...counts
      .filter(({ kind }) => ["registry-upstream", "replication"].includes(kind))
      .map(({ kind, done, same, left }) => [kind, done, same, left]),
    failed,
  ];
  assert.deepEqual(of(await apply()), [["registry-upstream", 0, 0, 1], ["replication", 0, 0, 5], []]);
  assert.deepEqual(of(await apply("--policies")), [["registry-upstream", 1, 0, 0], ["replication", 5, 0, 0], []]);
  const { replications } = await here.json<{ replications: Record<string, unknown>[] }>(
    "replications",
    "list",
    "acme/old/acme",
  );
  const found = replications.find(({ name }) => name === "off-site") ?? {};
  const shown = ["destination", "repoPattern", "tagPattern", "onPush", "deletions", "onConflict", "bytesPerSecond"];
  assert.deepEqual(
    [...shown, "disabled", "username"].map((name) => found[name]),
    [
      "backup.example.com/acme/acme",
      "team/[^/]*",
      "v.*",
      true,
      "REPLICATION_DELETIONS_FOLLOW",
      "REPLICATION_CONFLICT_OVERWRITE",
      "524288",
      true,
      "",
    ],
  );
  const hub = await here.json<Record<string, unknown>>("registry-upstreams", "get", "acme/old/hub");
  assert.deepEqual([hub["registry"], hub["prefix"], hub["disabled"]], ["quay.example.com", "team", false]);
  assert.deepEqual(of(await apply("--policies")), [["registry-upstream", 0, 1, 0], ["replication", 0, 5, 0], []]);
  assert.deepEqual(
    (await plan()).filter(({ action, kind }) => action === "create" || (action === "update" && kind !== "repo")),
    [],
  );
});
