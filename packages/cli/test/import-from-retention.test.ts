// Rules of retention move in with --policies, and what they would delete is said before. Harbor and Quay are
// fakes, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PlanItem } from "../src/move-in/plan.ts";
import { type HarborProject, startFakeHarbor, startFakeQuay } from "./fake-registries.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

interface Result {
  counts: { kind: string; [outcome: string]: number | string }[];
  failed: object[];
  kept: object[];
  retention?: { name: string; outcome: string; why: string }[];
}

const ALWAYS = "3153600000s";

function artifact(build: 1 | 2 | 3, time: string, ...names: string[]) {
  const push_time = `${time}T00:00:00.000Z`;
  return { digest: BUILD[build], push_time, tags: names.map((name) => ({ name, push_time })) };
}

function rule(template: string, params: object, tags: string, fields: object = {}): object {
  const selector = (decoration: string, pattern: string) => [{ kind: "doublestar", decoration, pattern }];
  return {
    action: "retain",
    template,
    params,
    tag_selectors: selector("matches", tags),
    scope_selectors: { repository: selector("repoMatches", "**") },
    ...fields,
  };
}

function policy(...rules: object[]): object {
  return { algorithm: "or", rules, trigger: { kind: "Schedule", settings: { cron: "0 0 0 * * *" } } };
}

/** A Harbor with these projects, and a server to move to. */
async function openMove(t: TestContext, images: [string, 1 | 2 | 3][], projects: HarborProject[]) {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  for (const [image, build] of images) await there.push(image, build);
  await here.ok("groups", "create", "acme/old");
  const front = await startFakeHarbor(t, there.url, projects);
  const command = ["import-from", "harbor", front.url, "--into", "acme/old"];
  const read = ["--plan", "plan.json", "--username", "admin", "--password-file", "password"];
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  return {
    here,
    async plan() {
      await here.ok(...command, ...read);
      const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] };
      return items.filter(({ kind }) => kind === "retention");
    },
    apply: (...flags: string[]) =>
      here.json<Result>(...command, "--apply", "plan.json", ...pull, "--history", ...flags),
    applyText: (...flags: string[]) => here.ok(...command, "--apply", "plan.json", ...pull, "--history", ...flags),
  };
}

test("Harbor's rules of retention come with --policies, after it was said what they delete", async (t) => {
  const { here, plan, apply, applyText } = await openMove(
    t,
    [
      ["acme/app:v1", 1],
      ["acme/app:v2", 2],
      ["acme/app:dev", 3],
    ],
    [
      {
        name: "acme",
        project_id: 1,
        rules: [
          {
            id: 1,
            tag_selectors: [{ kind: "doublestar", decoration: "matches", pattern: "release-*" }],
            scope_selectors: { repository: [{ kind: "doublestar", decoration: "repoMatches", pattern: "**" }] },
          },
        ],
        retention: policy(
          rule("latestPushedK", { latestPushedK: 1 }, "v*"),
          rule("nDaysSinceLastPush", { nDaysSinceLastPush: 30 }, "v*"),
          rule("nDaysSinceLastPull", { nDaysSinceLastPull: 7 }, "v*"),
          rule("latestPulledN", { latestPulledN: 2 }, "dev*"),
          rule("latestPushedK", { latestPushedK: 3 }, "**", { disabled: true }),
        ),
        repositories: {
          app: [artifact(1, "2024-01-01", "v1"), artifact(2, "2024-02-01", "v2"), artifact(3, "2024-03-01", "dev")],
        },
      },
    ],
  );
  const rules = [
    { tagPattern: "sha256-.*", keepFor: ALWAYS },
    { tagPattern: "release-.*", keepFor: ALWAYS },
    { tagPattern: "v.*", keepLast: 1, keepFor: "2592000s", keepPulledFor: "604800s" },
    { tagPattern: "dev.*", keepLastPulled: 2 },
  ];
  const [item, ...others] = await plan();
  assert.deepEqual(others, []);
  assert.deepEqual(item, {
    kind: "retention",
    source: "acme: retention, app",
    target: "acme/old/acme/app",
    action: "create",
    why: "with --policies; tags that no rule matches stay",
    rules,
  });
  const policyOf = async (): Promise<object[] | undefined> =>
    (await here.json<{ tagPolicy?: { retention?: object[] } }>("repos", "get", "acme/old/acme/app")).tagPolicy
      ?.retention;
  const name = "acme: retention, app";
  const left = await apply();
  assert.equal(left.counts.find(({ kind }) => kind === "retention")?.["left"], 1);
  assert.match(left.retention?.[0]?.why ?? "", /^comes with --policies; would delete /);
  assert.equal(await policyOf(), undefined);

  const done = await apply("--policies");
  assert.deepEqual(
    done.retention?.map((each) => [each.name, each.outcome]),
    [[name, "done"]],
  );
  assert.deepEqual(
    await policyOf(),
    rules.map((each) => ({ keepLast: 0, keepLastPulled: 0, ...each })),
  );
  assert.equal((await apply("--policies")).counts.find(({ kind }) => kind === "retention")?.["same"], 1);

  const repo = (await here.json<{ uid: string }>("repos", "get", "acme/old/acme/app")).uid;
  const own = [{ keepLast: 9 }];
  await here.api("PATCH", `/registry/v2/repos/${repo}?updateMask=tagPolicy.retention`, {
    tagPolicy: { retention: own },
  });
  assert.match(await applyText("--policies"), /retention acme: retention, app: has rules of retention here/);
  assert.equal((await policyOf())?.length, 1);
});

test("which tags retention would delete is named, and nothing is deleted by saying so", async (t) => {
  const { here, plan, apply, applyText } = await openMove(
    t,
    [
      ["acme/app:v1", 1],
      ["acme/app:v2", 2],
    ],
    [
      {
        name: "acme",
        project_id: 1,
        retention: policy(rule("latestPushedK", { latestPushedK: "1" }, "**")),
        repositories: { app: [artifact(1, "2024-01-01", "v1"), artifact(2, "2024-02-01", "v2")] },
      },
    ],
  );
  assert.equal((await plan())[0]?.why, "with --policies");
  assert.equal((await apply()).retention?.[0]?.why, "comes with --policies; would delete 1 tag as of now: v1");
  assert.match(await applyText(), /tags that retention deletes:\n\s*retention acme: retention, app: comes with/);
  await here.ok("tags", "get", "acme/old/acme/app:v1");
  assert.equal((await apply("--policies")).retention?.[0]?.why, "the next collection deletes 1 tag as of now: v1");
});

test("what of Harbor's retention cannot be said here is named, and nothing is deleted by it", async (t) => {
  const time = "2024-01-01";
  const project = (id: number, retention: object, fields: object = {}): HarborProject => ({
    name: `p${id}`,
    project_id: id,
    retention,
    repositories: { app: [artifact(1, time, "v1")] },
    ...fields,
  });
  const keep = rule("latestPushedK", { latestPushedK: 1 }, "v*");
  const excludes = { tag_selectors: [{ kind: "doublestar", decoration: "excludes", pattern: "v*" }] };
  const two = {
    tag_selectors: ["a*", "b*"].map((pattern) => ({ kind: "doublestar", decoration: "matches", pattern })),
  };
  const { plan } = await openMove(
    t,
    [],
    [
      project(1, policy(keep, rule("latestPushedK", { latestPushedK: 1 }, "", excludes))),
      project(2, policy(rule("latestPushedK", { latestPushedK: 1 }, "", two))),
      project(3, policy(rule("latestPushedK", { latestPushedK: {} }, "**"))),
      project(4, policy(rule("latestShiniestK", { latestShiniestK: 1 }, "**"))),
      project(5, { ...policy(keep), trigger: { kind: "Schedule", settings: { cron: "" } } }),
      project(6, policy(keep), { rules: [{ id: 1, tag_selectors: [], scope_selectors: {} }] }),
      project(7, policy(keep), { repositories: { app: [artifact(1, time, "v1", "latest")] } }),
      project(8, policy(...Array.from({ length: 33 }, () => keep))),
      project(9, { algorithm: "or", rules: "all" }),
      project(10, policy(7 as unknown as object)),
      project(11, policy(rule("__proto__", {}, "**"))),
    ],
  );
  assert.deepEqual(
    (await plan()).map(
      ({ source, action, why }) => `${source} ${action}: ${why.replace(": nothing is deleted here", "")}`,
    ),
    [
      "p1: retention cannot: rule 2 excludes names, or has a pattern with more than stars and braces",
      "p10: retention cannot: rule 1 is no rule",
      "p11: retention cannot: rule 1 has a template or a number that is not known here",
      "p2: retention cannot: rule 1 has more than one selector of tags",
      "p3: retention cannot: rule 1 has a template or a number that is not known here",
      "p4: retention cannot: rule 1 has a template or a number that is not known here",
      "p5: retention cannot: is run by hand alone there",
      "p6: retention cannot: excepts immutable tags there, and not all rules of those can come",
      "p7: retention, app cannot: has images with several tags, all of which Harbor keeps or none",
      "p8: retention cannot: has more than 32 rules",
      "p9: retention cannot: has no list of rules",
    ],
  );
});

test("Quay's policies of pruning and of immutable tags come with --policies", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await there.push("acme/app:v1", 1);
  await there.push("acme/app:v2", 2);
  await here.ok("groups", "create", "acme/old");
  const start = (text: string): number => Date.parse(text) / 1000;
  const count = (value: unknown, fields: object = {}): object => ({ method: "number_of_tags", value, ...fields });
  const age = (value: unknown, fields: object = {}): object => ({ method: "creation_date", value, ...fields });
  const { url } = await startFakeQuay(
    t,
    there.url,
    {
      "acme/app": [
        { name: "v1", start_ts: start("2024-01-01T00:00:00Z"), manifest_digest: BUILD[1] },
        { name: "v2", start_ts: start("2024-02-01T00:00:00Z"), manifest_digest: BUILD[2] },
      ],
      "acme/fixed": [],
      "acme/odd": [],
    },
    {
      "organization/acme/autoprunepolicy/": { policies: [age("4w")] },
      "organization/acme/immutabilitypolicy/": { policies: [{ tagPattern: "release-.*", tagPatternMatches: true }] },
      "repository/acme/app/autoprunepolicy/": {
        policies: [
          count(1, { tagPattern: "^v", tagPatternMatches: true }),
          count(3, { tagPattern: "^v", tagPatternMatches: null }),
          age("36h", { tagPattern: "dev", tagPatternMatches: false }),
        ],
      },
      "repository/acme/fixed/immutabilitypolicy/": { policies: [{ tagPattern: "v.*", tagPatternMatches: false }] },
      "repository/acme/odd/autoprunepolicy/": {
        policies: [
          count("1"),
          count(-1),
          age("7 days"),
          age(7),
          count(1, { tagPattern: "(?=v)" }),
          count(1, { tagPattern: "a)|(b" }),
          count(1, { tagPattern: 7 }),
          { method: "by_mood" },
          7,
        ],
      },
      "repository/acme/odd/immutabilitypolicy/": { policies: "all" },
    },
  );
  const command = ["import-from", "quay", url, "--into", "acme/old"];
  const read = ["--username", "$oauthtoken", "--password-file", "password", "--namespace", "acme"];
  await here.ok(...command, "--plan", "plan.json", ...read);
  const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] };
  const found = items.filter(({ kind }) => kind === "policy" || kind === "retention");
  const rules = [
    { tagPattern: "sha256-.*", keepFor: ALWAYS },
    { tagPattern: "release-.*", keepFor: ALWAYS },
    { tagPattern: ".*(?:^v).*", keepLast: 1 },
    { tagPattern: "", keepFor: "2419200s" },
  ];
  assert.deepEqual(found.find(({ source }) => source === "acme/app: pruning")?.rules, rules);
  const none = "its pattern has no equivalent here";
  assert.deepEqual(
    found.map(({ source, action, why }) => `${source} ${action}: ${why}`),
    [
      "acme/app: immutable tags, of the organization, policy 1 create: with --policies",
      `acme/app: pruning, policy 3 cannot: ${none}`,
      "acme/app: pruning create: with --policies; of a tag that several policies match the first alone decides",
      `acme/fixed: immutable tags, policy 1 cannot: ${none}`,
      "acme/fixed: immutable tags, of the organization, policy 1 create: with --policies",
      "acme/fixed: pruning cannot: excepts immutable tags there, and not all policies of those can come: nothing is deleted here",
      "acme/odd: immutable tags cannot: the source has no list of its immutabilitypolicy",
      "acme/odd: immutable tags, of the organization, policy 1 create: with --policies",
      "acme/odd: pruning, policy 1 cannot: its number is none",
      "acme/odd: pruning, policy 2 cannot: its number is none",
      "acme/odd: pruning, policy 3 cannot: its time is none",
      "acme/odd: pruning, policy 4 cannot: its time is none",
      `acme/odd: pruning, policy 5 cannot: ${none}`,
      `acme/odd: pruning, policy 6 cannot: ${none}`,
      `acme/odd: pruning, policy 7 cannot: ${none}`,
      "acme/odd: pruning, policy 8 cannot: its method is not known here",
      "acme/odd: pruning, policy 9 cannot: its method is not known here",
      "acme/odd: pruning cannot: excepts immutable tags there, and not all policies of those can come: nothing is deleted here",
    ],
  );
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  const apply = [...command, "--apply", "plan.json", ...pull, "--history", "--policies"];
  const { retention, failed } = await here.json<Result>(...apply);
  assert.deepEqual(failed, []);
  assert.deepEqual(
    retention?.map(({ name, why }) => [name, why]),
    [["acme/app: pruning", "the next collection deletes 1 tag as of now: v1"]],
  );
  const again = await here.json<Result>(...apply);
  assert.equal(again.counts.find(({ kind }) => kind === "retention")?.["same"], 1);
  assert.equal(again.counts.find(({ kind }) => kind === "policy")?.["same"], 3);
});
