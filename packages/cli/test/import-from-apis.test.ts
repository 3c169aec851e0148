// Harbor and Quay move in by their own APIs. They are fakes, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type HarborProject, startFakeHarbor, startFakeQuay } from "./fake-registries.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

const GONE = `sha256:${"ef".repeat(32)}`;

const HUB_LOGIN = { type: "basic", access_key: "acme", access_secret: "*****" };

interface Secret {
  robot: string;
  username: string;
  password: string;
  made: boolean;
}
interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
  /** Of robots. */
  role?: string;
}

async function openPair(t: TestContext): Promise<{ there: Stage; here: Stage }> {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await here.ok("groups", "create", "acme/old");
  return { there, here };
}

/** Makes a plan and applies it with histories; the plan's items. */
async function moveIn(here: Stage, [kind, url, ...flags]: string[], user: string): Promise<Item[]> {
  const command = ["import-from", kind ?? "", url ?? "", "--into", "acme/old"];
  const read = ["--username", user, "--password-file", "password", ...flags];
  await here.ok(...command, "--plan", "plan.json", ...read);
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  const { failed } = await here.json<{ failed: object[] }>(...command, "--apply", "plan.json", "--history", ...pull);
  assert.deepEqual(failed, []);
  return (JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: Item[] }).items;
}

async function movesOf(here: Stage, image: string): Promise<string[]> {
  const { moves } = await here.json<{ moves: { time: string; reason: string; digest: string }[] }>(
    "tags",
    "history",
    image,
  );
  return moves.map(({ time, reason, digest }) => `${new Date(time).toISOString()} ${reason} ${digest}`).toReversed();
}

test("Harbor: projects, repositories and tags come, with since when they are there", async (t) => {
  const { there, here } = await openPair(t);
  await there.push("acme/app:1.0", 1);
  await there.push("acme/team/web:2.0", 2);
  const selector = ([decoration, pattern]: [string, string]) => ({ kind: "doublestar", decoration, pattern });
  const rule = (id: number, tags: [string, string], repository: [string, string]) => ({
    id,
    disabled: false,
    template: "immutable_template",
    tag_selectors: [selector(tags)],
    scope_selectors: { repository: [selector(repository)] },
  });
  const robot = (id: number, name: string, actions: string[], fields: object) => ({
    id,
    name: `robot$acme+${name}`,
    level: "project",
    disable: false,
    permissions: [
      { kind: "project", namespace: "acme", access: actions.map((action) => ({ resource: "repository", action })) },
    ],
    ...fields,
  });
  const tag = (name: string, push_time: string) => ({ name, push_time });
  const projects: HarborProject[] = [
    {
      name: "acme",
      project_id: 1,
      storage: 10_737_418_240,
      robots: [
        robot(1, "ci", ["pull", "push"], { expires_at: -1 }),
        robot(2, "nodes", ["pull"], { expires_at: Math.floor(Date.now() / 1000) + 86_400 }),
        robot(3, "off", ["pull"], { disable: true }),
        robot(4, "old", ["pull"], { expires_at: 1_000_000_000 }),
        // A list that says one thing and the other: what is denied is denied.
        robot(6, "split", [], {
          permissions: [
            {
              kind: "project",
              namespace: "acme",
              access: ["pull", "push"].map((action) => ({ resource: "repository", action, effect: "allow" })),
            },
            {
              kind: "project",
              namespace: "acme",
              access: [{ resource: "repository", action: "push", effect: "deny" }],
            },
          ],
        }),
        robot(5, "wide", ["pull"], { permissions: [{ kind: "system", namespace: "/", access: [] }] }),
      ],
      rules: [
        rule(1, ["matches", "v{1,2}.*"], ["repoMatches", "**"]),
        rule(2, ["matches", "**"], ["repoMatches", "team/**"]),
        rule(3, ["excludes", "dev"], ["repoMatches", "**"]),
      ],
      repositories: {
        app: [
          { digest: BUILD[1], push_time: "2024-01-01T00:00:00.000Z", tags: [tag("1.0", "2024-02-01T10:00:00.123Z")] },
          { digest: BUILD[3], push_time: "2023-01-01T00:00:00.000Z", tags: null },
          { digest: GONE, push_time: "2023-01-01T00:00:00.000Z", tags: [tag("broken", "2023-01-01T00:00:00.000Z")] },
        ],
        "team/web": [
          { digest: BUILD[2], push_time: "0001-01-01T00:00:00.000Z", tags: [tag("2.0", "0001-01-01T00:00:00.000Z")] },
        ],
      },
    },
    { name: "cache", project_id: 2, registry_id: 3, repositories: { "library/nginx": [] } },
  ];
  const registries = { 3: { id: 3, type: "docker-hub", url: "https://hub.docker.com", credential: HUB_LOGIN } };
  const { url } = await startFakeHarbor(t, there.url, projects, { registries });
  const items = await moveIn(here, ["harbor", url], "admin");
  assert.deepEqual(
    items.filter(({ action }) => action === "cannot").map(({ kind, source, why }) => [kind, source, why]),
    [
      ["tag", `acme/app:@${BUILD[3]}`, "has no tag"],
      ["tag", "acme/app:broken", `the source does not have the manifest ${GONE}`],
      [
        "repo",
        "cache/library/nginx",
        "is of a project that caches another registry: it comes from there when it is pulled",
      ],
      ["robot", "robot$acme+off", "is disabled there"],
      ["robot", "robot$acme+old", "has ended there"],
      ["robot", "robot$acme+wide", "may do something beside its project"],
      ["policy", "acme: immutable tags, rule 3", "excludes names, or has a pattern with more than stars and braces"],
    ],
  );
  const robots = items.filter(({ kind, action }) => kind === "robot" && action !== "cannot");
  assert.deepEqual(
    robots.map(({ source, role }) => [source, role]),
    [
      ["robot$acme+ci", "registry.push"],
      ["robot$acme+nodes", "registry.pull"],
      ["robot$acme+split", "registry.pull"],
    ],
  );
  assert.deepEqual(await movesOf(here, "acme/old/acme/app:1.0"), [`2024-02-01T10:00:00.123Z import ${BUILD[1]}`]);
  assert.match((await movesOf(here, "acme/old/acme/team/web:2.0"))[0] ?? "", new RegExp(` mirror ${BUILD[2]}$`));

  const command = ["import-from", "harbor", url, "--into", "acme/old", "--apply", "plan.json"];
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  const { counts } = await here.json<{ counts: object[] }>(...command, ...pull, "--policies", "--history");
  const count = (done: number, same: number) => ({ done, same, kept: 0, left: 0, failed: 0 });
  assert.deepEqual(counts.slice(-3), [
    { kind: "policy", ...count(3, 0), cannot: 1 },
    { kind: "quota", ...count(1, 0), cannot: 0 },
    { kind: "registry-upstream", ...count(1, 0), cannot: 0 },
  ]);
  const policyOf = async (image: string): Promise<unknown> =>
    (await here.json<{ tagPolicy?: { immutableTags: string[] } }>("repos", "get", image)).tagPolicy?.immutableTags;
  assert.deepEqual(await policyOf("acme/old/acme/app"), [String.raw`(?:v1\..*|v2\..*)`]);
  assert.deepEqual(await policyOf("acme/old/acme/team/web"), [String.raw`(?:v1\..*|v2\..*)`, ".*"]);
  assert.equal((await here.json<{ bytes: string }>("quotas", "get", "acme/old/acme")).bytes, "10737418240");
  const upstream = await here.json<object>("registry-upstreams", "get", "acme/old/cache");
  assert.deepEqual(
    Object.entries(upstream).filter(([name]) => ["registry", "username", "disabled"].includes(name)),
    [
      ["registry", "docker.io"],
      ["username", ""],
      ["disabled", true],
    ],
  );
  const again = await here.json<{ counts: object[] }>(...command, ...pull, "--policies", "--history");
  assert.deepEqual(again.counts.slice(-3), [
    { kind: "policy", ...count(0, 3), cannot: 1 },
    { kind: "quota", ...count(0, 1), cannot: 0 },
    { kind: "registry-upstream", ...count(0, 1), cannot: 0 },
  ]);

  const file = join(here.folder, "secrets");
  await here.ok(...command, ...pull, "--policies", "--history", "--secrets", "secrets");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const secrets = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Secret);
  const made = secrets.filter((secret) => secret.made);
  assert.deepEqual(
    made.map(({ robot: name }) => name),
    ["robot$acme+ci", "robot$acme+nodes", "robot$acme+split"],
  );
  for (const { username, password } of made) {
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const scope = "scope=repository:acme/old/acme/app:pull";
    const answer = await fetch(`${here.url}/token?service=${here.host}&${scope}`, {
      headers: { authorization: basic },
    });
    const { token } = (await answer.json()) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    const pulled = await fetch(`${here.url}/v2/acme/old/acme/app/manifests/1.0`, { method: "HEAD", headers });
    assert.equal(pulled.status, 200);
  }
  const [code, line] = await here.fails(...command, ...pull, "--secrets", "secrets");
  assert.equal(code, 2);
  assert.match(line, /--secrets: secrets is there already, and must be new/);
  const more = await here.json<{ counts: { kind: string; same: number }[] }>(...command, ...pull, "--secrets", "other");
  assert.equal(more.counts.find(({ kind }) => kind === "robot")?.same, 3);
  assert.equal(readFileSync(join(here.folder, "other"), "utf8"), "");

  // By now a plan finds all that can come here.
  await here.ok(...command.slice(0, -2), "--plan", "again.json", "--username", "admin", "--password-file", "password");
  const { items: later } = JSON.parse(readFileSync(join(here.folder, "again.json"), "utf8")) as { items: Item[] };
  const kinds = ["robot", "policy", "quota", "registry-upstream"];
  assert.deepEqual(
    later
      .filter(({ kind, action }) => kinds.includes(kind) && action !== "cannot")
      .map(({ kind, action }) => `${kind} ${action}`),
    [
      "robot same",
      "robot same",
      "robot same",
      "policy same",
      "policy same",
      "policy same",
      "quota same",
      "registry-upstream same",
    ],
  );
});

test("Quay: the history of tags comes, deleted ones included, and what they pointed to can be pulled", async (t) => {
  const { there, here } = await openPair(t);
  await there.push("acme/app:1.0", 1);
  await there.push("acme/app:1.0", 2);
  await there.push("acme/app:soon", 2);
  await there.push("acme/app:odd", 2);
  const second = (text: string): number => Date.parse(text) / 1000;
  const soon = Math.floor(Date.now() / 1000) + 86_400;
  const { url } = await startFakeQuay(t, there.url, {
    "acme/app": [
      { name: "1.0", start_ts: second("2024-02-01T00:00:00Z"), manifest_digest: BUILD[2] },
      { name: "soon", start_ts: second("2024-05-01T00:00:00Z"), end_ts: soon, manifest_digest: BUILD[2] },
      { name: "odd", start_ts: second("2024-05-01T00:00:00Z"), end_ts: 1e15, manifest_digest: BUILD[2] },
      {
        name: "1.0",
        start_ts: second("2024-01-01T00:00:00Z"),
        end_ts: second("2024-02-01T00:00:00Z"),
        manifest_digest: BUILD[1],
      },
      {
        name: "dead",
        start_ts: second("2023-01-01T00:00:00Z"),
        end_ts: second("2023-03-01T00:00:00Z"),
        manifest_digest: BUILD[1],
      },
    ],
    "acme/empty": [],
  });
  const items = await moveIn(here, ["quay", url, "--namespace", "acme"], "$oauthtoken");
  const ends = items.filter(({ kind }) => kind === "tag-end");
  assert.deepEqual(
    ends.map(({ source, action }) => [source, action]),
    [
      ["acme/app:odd", "cannot"],
      ["acme/app:soon", "create"],
    ],
  );
  const endOf = async (tag: string): Promise<unknown> =>
    (await here.json<{ expireTime?: string }>("tags", "get", `acme/old/acme/app:${tag}`)).expireTime;
  assert.equal(Date.parse(String(await endOf("soon"))), soon * 1000);
  assert.equal(await endOf("odd"), undefined, "the tag came, whatever its end is");
  // The end is set without a move.
  assert.deepEqual(await movesOf(here, "acme/old/acme/app:soon"), [`2024-05-01T00:00:00.000Z import ${BUILD[2]}`]);
  assert.deepEqual(await movesOf(here, "acme/old/acme/app:1.0"), [
    `2024-01-01T00:00:00.000Z import ${BUILD[1]}`,
    `2024-02-01T00:00:00.000Z import ${BUILD[2]}`,
  ]);
  assert.deepEqual(await movesOf(here, "acme/old/acme/app:dead"), [
    `2023-01-01T00:00:00.000Z import ${BUILD[1]}`,
    "2023-03-01T00:00:00.000Z import ",
  ]);
  const apply = ["import-from", "quay", url, "--into", "acme/old", "--apply", "plan.json"];
  await here.ok(...apply, "--history", "--finish", "--pull-username", "robot", "--pull-password-file", "password");
  const { repos } = await here.json<{ repos: { name: string; syncConfig?: object }[] }>("repos", "list", "acme/old");
  assert.deepEqual(
    repos.map(({ name, syncConfig }) => [name, syncConfig]),
    [
      ["app", undefined],
      ["empty", undefined],
    ],
  );
  assert.match(await here.ok("images", "inspect", `acme/old/acme/app@${BUILD[1]}`, "-o", "json"), new RegExp(BUILD[1]));
});

test("Quay: the end of a tag that may not be set, or is past, is an item's, and the tag comes", async (t) => {
  const { there, here } = await openPair(t);
  await there.push("acme/app:soon", 2);
  const soon = Math.floor(Date.now() / 1000) + 86_400;
  const start = Date.parse("2024-05-01T00:00:00Z") / 1000;
  const tags = [{ name: "soon", start_ts: start, end_ts: soon, manifest_digest: BUILD[2] }];
  const { url } = await startFakeQuay(t, there.url, { "acme/app": tags });
  const command = ["import-from", "quay", url, "--into", "acme/old"];
  const login = ["--username", "$oauthtoken", "--password-file", "password"];
  await here.ok(...command, "--plan", "plan.json", ...login, "--namespace", "acme");
  const read = (): { items: (Item & { endTime?: string })[] } =>
    JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as never;
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  const apply = [...command, "--apply", "plan.json", ...pull, "-o", "json"];

  // Somebody who may do all but delete tags.
  const { roles } = await here.api<{ roles: { capabilities: string[] }[] }>("GET", "/iam/v2/roles?name=owner");
  const { groups } = await here.api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=acme");
  const group = groups[0]?.uid ?? "";
  const capabilities = (roles[0]?.capabilities ?? []).filter((each) => each !== "CAP_TAG_DELETE");
  const role = await here.api("POST", `/iam/v2/roles/${group}`, { name: "mover", capabilities });
  const mover = await here.api("POST", `/iam/v2/identities/${group}`, { name: "mover" });
  await here.api("POST", `/iam/v2/roleBindings/${group}`, { identityUid: mover.uid, roleUid: role.uid });
  const token = (await here.ok("token", "--identity", mover.uid)).trim();
  const { code, stdout, stderr } = await here.run(apply, { MOORAGE_TOKEN: token });
  assert.equal(code, 0, stderr);
  type Counts = Record<string, number> & { kind: string };
  const of = (text: string, kind: string): Counts | undefined =>
    (JSON.parse(text) as { counts: Counts[] }).counts.find((each) => each.kind === kind);
  assert.deepEqual([of(stdout, "tag")?.["done"], of(stdout, "tag-end")?.["cannot"]], [1, 1], stdout);
  const expireTime = async (): Promise<string | undefined> =>
    (await here.json<{ expireTime?: string }>("tags", "get", "acme/old/acme/app:soon")).expireTime;
  assert.equal(await expireTime(), undefined);

  // An edited plan: its end is past, or is not a time.
  const plan = read();
  const end = plan.items.find(({ kind }) => kind === "tag-end");
  assert.ok(end !== undefined);
  const edited = (endTime: string): void =>
    writeFileSync(
      join(here.folder, "plan.json"),
      JSON.stringify({ ...plan, items: plan.items.map((item) => (item === end ? { ...item, endTime } : item)) }),
    );
  edited("2024-01-01T00:00:00.000Z");
  const [past] = await here.fails(...apply);
  assert.equal(past, 9);
  assert.equal(await expireTime(), undefined);
  edited("tomorrow");
  assert.match((await here.fails(...apply))[1], /endTime: must be a time/);
  edited(new Date(soon * 1000).toISOString());
  await here.ok(...apply);
  assert.equal(Date.parse((await expireTime()) ?? ""), soon * 1000);
});
