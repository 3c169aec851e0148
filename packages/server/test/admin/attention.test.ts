import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../support/catalog/archives.ts";
import { npmFile } from "../support/catalog/catalog.ts";
import { pushLayers } from "../support/catalog/push.ts";
import { addDeliveries, STATE } from "../support/deliveries.ts";
import { eventually } from "../support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../support/feed-records.ts";
import { before as affectedBefore } from "../support/matching.ts";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";

// What needs attention: of each kind what the caller may see, and what it was not looked at.

interface Subject {
  uid: string;
  name: string;
  detail: string;
  time?: string;
  count: string;
}
interface Gap {
  reason: string;
  count: string;
  atLeast: boolean;
  missing: string[];
}
interface Attention {
  kind: string;
  count: string;
  atLeast: boolean;
  images: string;
  pulls: string;
  subjects: Subject[];
  gaps: Gap[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KINDS = [
  "EXPLOITED",
  "MIRROR",
  "REGISTRY_UPSTREAM",
  "LIBRARY_UPSTREAM",
  "REPLICATION",
  "NO_FEEDS",
  "FEED",
  "DELIVERY",
  "TOKEN",
  "QUOTA_EXCEEDED",
  "QUOTA_WARNED",
];

let platform: Platform;
let team = "";
let other = "";
before(async () => {
  platform = await startPlatform({
    MOORAGE_CATALOG_IMAGES: "1",
    MOORAGE_WORK_POLL: "20ms",
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
  });
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  other = (await platform.group(platform.organization, { name: "other" })).uid;
});
after(() => platform.close());

const wordOf = (text: string): string => text.replace(/^ATTENTION_(?:KIND|GAP_REASON)_/, "");

/** What needs attention, by kind, as somebody sees it. */
async function looked(group = "", identity = platform.owner): Promise<Map<string, Attention>> {
  const token = await platform.token(identity);
  const query = group === "" ? "" : `?uidp.descendants_of=${group}`;
  const { status, body } = await platform.call("GET", `/operations/v2/attention${query}`, { token });
  assert.equal(status, 200, JSON.stringify(body));
  const { attention } = body as Json & { attention: Attention[] };
  assert.deepEqual(
    attention.map(({ kind }) => wordOf(kind)),
    KINDS,
    "each kind is answered, by harm",
  );
  return new Map(attention.map((each) => [wordOf(each.kind), each]));
}
async function of(kind: string, group?: string, identity?: string): Promise<Attention> {
  const found = (await looked(group, identity)).get(kind);
  assert.ok(found !== undefined);
  return found;
}
const gapsOf = ({ gaps }: Attention): string[] => gaps.map(({ reason }) => wordOf(reason));
const namesOf = ({ subjects }: Attention): string[] => subjects.map(({ name }) => name);

async function push(path: string, tag: string, layers: readonly Buffer[]): Promise<string> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  return await pushLayers({ url: platform.url, token, name: `acme/${path}` }, tag, [...layers]);
}
async function pull(path: string, reference: string): Promise<void> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const { status } = await platform.call("GET", `/v2/acme/${path}/manifests/${reference}`, { token });
  assert.equal(status, 200);
}
const repoUid = async (name: string): Promise<string> =>
  (await platform.ok<{ repos: { uid: string }[] }>("GET", `/registry/v2/repos?name=${name}`)).repos[0]?.uid ?? "";

test("nothing is answered as a count of 0 alone: what nobody could look at is said", async () => {
  const fresh = await looked();
  assert.deepEqual(gapsOf(fresh.get("EXPLOITED") as Attention), ["NO_DATA"], "no feed says what is exploited");
  assert.equal(fresh.get("NO_FEEDS")?.count, "1");
  for (const kind of ["MIRROR", "REPLICATION", "DELIVERY", "TOKEN", "QUOTA_WARNED"])
    assert.deepEqual([fresh.get(kind)?.count, fresh.get(kind)?.gaps], ["0", []], kind);
  const stranger = await platform.identity(platform.organization);
  for (const [kind, { count, gaps }] of await looked("", stranger)) {
    if (kind === "TOKEN") continue;
    assert.deepEqual([count, gaps.length, gaps[0]?.reason], ["0", 1, "ATTENTION_GAP_REASON_PERMISSION"], kind);
    assert.ok((gaps[0]?.missing.length ?? 0) > 0, kind);
  }
  assert.deepEqual((await of("DELIVERY", "", stranger)).gaps[0]?.missing, ["CAP_EVENTS_SUBSCRIPTION_LIST"]);
  const exchanged = await platform.call("GET", "/sts/exchange?cap=CAP_REPO_LIST", { token: await platform.token() });
  const { body } = await platform.call("GET", "/operations/v2/attention", { token: String(exchanged.body["token"]) });
  const own = (body as Json & { attention: Attention[] }).attention.find(({ kind }) => wordOf(kind) === "TOKEN");
  assert.deepEqual(own && gapsOf(own), ["PERMISSION"], "a narrowed token lists no tokens");
  const bad = await platform.call("GET", "/operations/v2/attention?uidp.in_root=true", {
    token: await platform.token(platform.owner),
  });
  assert.equal(bad.status, 400);
});

test("exploited vulnerabilities are those in what was pulled in the last 24 hours, with their images and pulls", async () => {
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-1", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0") }),
    osvOf("GHSA-2", { aliases: ["CVE-2026-2"], ...affectedBefore("right-pad", "1.5.0") }),
    osvOf("GHSA-3", { aliases: ["CVE-2026-3"], ...affectedBefore("left-pad", "1.5.0") }),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1"), plainRecord("CVE-2026-2")]);
  await push("team/app", "v1", [tarOf([npmFile("app", "left-pad", "1.0.0")])]);
  await push("other/app", "v1", [tarOf([npmFile("app", "left-pad", "1.1.0")])]);
  await push("team/idle", "v1", [tarOf([npmFile("app", "right-pad", "1.0.0")])]);
  await eventually(async () => {
    const rows = await platform.reader.selectFrom("finding_notices").select("digest").execute();
    const checks = await platform.reader.selectFrom("finding_checks").select("digest").execute();
    const causes = await platform.reader.selectFrom("finding_causes").select("id").execute();
    return rows.length === 3 && checks.length === 0 && causes.length === 0;
  });
  const idle = await of("EXPLOITED");
  assert.equal(idle.count, "0", "what nobody pulls does no harm today");
  assert.deepEqual(gapsOf(idle), ["NOT_COUNTED"], "pulls are counted only since the server was started");
  await platform.transact(async (tx) => {
    await tx
      .updateTable("pull_coverage")
      .set({ since: platform.clock.nowMs() - 2 * DAY_MS })
      .execute();
  });
  await pull("team/app", "v1");
  await pull("team/app", "v1");
  await pull("other/app", "v1");
  await eventually(async () => (await of("EXPLOITED")).pulls === "3");
  const found = await of("EXPLOITED");
  assert.deepEqual([found.count, found.images, found.gaps], ["1", "2", []]);
  assert.deepEqual(
    found.subjects.map(({ name, count }) => [name, count]),
    [["CVE-2026-1", "2"]],
  );
  const ofTeam = await of("EXPLOITED", team);
  assert.deepEqual([ofTeam.count, ofTeam.images, ofTeam.pulls], ["1", "1", "2"]);

  const odd = await push("team/odd", "v1", [Buffer.from("no archive")]);
  await pull("team/odd", "v1");
  await eventually(async () => {
    const [gap] = (await of("EXPLOITED")).gaps;
    return gap?.reason === "ATTENTION_GAP_REASON_UNKNOWN_IMAGES" && gap.count === "1";
  });
  assert.deepEqual((await of("EXPLOITED", other)).gaps, []);
  await platform.transact(async (tx) => {
    await tx.deleteFrom("pull_days").where("digest", "=", odd).execute();
    const row = await tx
      .selectFrom("pull_days")
      .selectAll()
      .where("digest", "<>", "")
      .limit(1)
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: 300 }, (_, n) => ({ ...row, digest: `sha256:${String(n).padStart(64, "0")}` }));
    for (const each of rows) await tx.insertInto("pull_days").values(each).execute();
  });
  const many = await of("EXPLOITED");
  assert.ok(gapsOf(many).includes("TOO_MANY"), "more images than are looked at");
  const left = many.gaps.find(({ reason }) => wordOf(reason) === "TOO_MANY");
  assert.ok(Number(left?.count) >= 2, JSON.stringify(left));
});

test("what fails between registries is answered to who may list it, and gone when it is well again", async () => {
  const app = await repoUid("app");
  const mirror = {
    actor: "",
    password: "",
    next_time: 0,
    holder: "",
    hold_until: 0,
    tags_seen: 0,
    manifests_copied: 0,
  };
  const upstream = {
    parent: team,
    description: "",
    credential: "",
    username: "",
    disabled: 0,
    create_time: 1,
    update_time: 1,
  };
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    const row = { ...mirror, bytes_copied: 0, attempt_time: nowMs, next_time: nowMs + DAY_MS, repo: app };
    await tx
      .insertInto("mirrors")
      .values({ ...row, state: 2, message: "the source answers 429", success_time: nowMs - 2 * HOUR_MS, failures: 3 })
      .execute();
    await tx
      .insertInto("registry_upstreams")
      .values({
        ...upstream,
        uid: `${team}/0000000000000001`,
        registry: "docker.io",
        prefix: "",
        allowed: "[]",
        denied: "[]",
        tag_ttl: null,
        missing_ttl: null,
        cooldown: null,
        allowed_digests: "[]",
        anonymous_networks: "[]",
        last_success_time: nowMs - DAY_MS,
        last_error: "it answered 503",
        last_error_time: nowMs,
        rate: null,
        held_until: 0,
        keep_unpulled: null,
        tag_policy: null,
        follow: null,
        follow_state: null,
      })
      .execute();
    await tx
      .insertInto("upstreams")
      .values({
        ...upstream,
        uid: `${team}/0000000000000002`,
        ecosystem: 1,
        url: "https://registry.example.com",
        reserved_names: "[]",
        merged_names: "[]",
        last_success_time: null,
        last_error: "the name is not known",
        last_error_time: nowMs,
      })
      .execute();
  });
  const { uid: rule } = await platform.ok("POST", `/registry/v2/replications/${team}`, {
    name: "to-paris",
    destination: "https://paris.example.com/acme",
    disabled: true,
  });
  await platform.transact(async (tx) => {
    await tx.updateTable("replications").set({ problem: "the password is wrong" }).where("uid", "=", rule).execute();
  });
  assert.equal((await of("REPLICATION")).count, "0", "what is paused on purpose needs nobody");
  await platform.transact(async (tx) => {
    const running = { disabled: 0, scan_time: null, held_until: nowMs + DAY_MS };
    await tx.updateTable("replications").set(running).where("uid", "=", rule).execute();
  });
  const path = (await of("MIRROR")).subjects[0];
  assert.deepEqual([path?.uid, path?.detail], [app, "the source answers 429"]);
  assert.ok(["acme/team/app", "acme/other/app"].includes(path?.name ?? ""));
  assert.ok(path?.time !== undefined, "since the last success");
  const failing = await looked(team);
  assert.deepEqual(
    ["REGISTRY_UPSTREAM", "LIBRARY_UPSTREAM", "REPLICATION"].map((kind) => {
      const [first] = failing.get(kind)?.subjects ?? [];
      return [failing.get(kind)?.count, first?.name, first?.detail];
    }),
    [
      ["1", "docker.io", "it answered 503"],
      ["1", "https://registry.example.com", "the name is not known"],
      ["1", "to-paris", "the password is wrong"],
    ],
  );
  for (const kind of ["REGISTRY_UPSTREAM", "LIBRARY_UPSTREAM", "REPLICATION"])
    assert.equal((await of(kind, other)).count, "0", `${kind} of another group`);
  const viewer = await platform.identity(other, "viewer");
  for (const kind of ["REGISTRY_UPSTREAM", "LIBRARY_UPSTREAM", "REPLICATION"])
    assert.equal((await of(kind, "", viewer)).count, "0", `${kind} for who sees the other group alone`);
  await platform.transact(async (tx) => {
    await tx.updateTable("mirrors").set({ failures: 0 }).execute();
    await tx
      .updateTable("registry_upstreams")
      .set({ last_success_time: nowMs + 1 })
      .execute();
    await tx.updateTable("upstreams").set({ last_error: "" }).execute();
    await tx.updateTable("replications").set({ problem: "" }).execute();
  });
  const well = await looked();
  for (const kind of ["MIRROR", "REGISTRY_UPSTREAM", "LIBRARY_UPSTREAM", "REPLICATION"])
    assert.equal(well.get(kind)?.count, "0", kind);
});

const subscribed = async (group: string): Promise<Json> =>
  await platform.ok("POST", `/events/v2/subscriptions/${group}`, { sink: "http://127.0.0.1:9/hook" });

test("feeds that are old, dead letters by subscription, own tokens that end, and full quotas", async () => {
  assert.equal((await of("NO_FEEDS")).count, "0");
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    const old = { success_time: nowMs - 30 * DAY_MS, create_time: nowMs - 60 * DAY_MS };
    await tx.updateTable("feeds").set(old).where("name", "=", "github").execute();
  });
  const feed = await of("FEED");
  assert.deepEqual([feed.count, namesOf(feed)], ["1", ["github"]]);

  const [one, two] = [await subscribed(team), await subscribed(other)];
  await platform.transact(async (tx) => {
    const dead = { state: STATE.dead, last_error: "the sink answered 410", create_time: nowMs };
    await addDeliveries(tx, one.uid, [dead, dead, { ...dead, create_time: nowMs - 8 * DAY_MS }]);
    await addDeliveries(tx, two.uid, [dead]);
    await addDeliveries(tx, two.uid, [{ state: STATE.delivered, create_time: nowMs }]);
  });
  const dead = await of("DELIVERY");
  assert.equal(dead.count, "3");
  assert.deepEqual(
    dead.subjects.map(({ uid, count, detail }) => [uid, count, detail]),
    [
      [one.uid, "2", "the sink answered 410"],
      [two.uid, "1", "the sink answered 410"],
    ],
  );
  assert.equal((await of("DELIVERY", other)).count, "1");

  const [person] = [platform.owner];
  const token = (name: string, endMs: number, identity = person) => ({
    uid: `${identity}/${name}`,
    hash: name,
    identity,
    name,
    capabilities: "[]",
    scopes: "[]",
    hint: "abcd",
    create_time: 1,
    expiration_time: endMs,
    last_used_time: 0,
  });
  await platform.transact(async (tx) => {
    const rows = [
      token("laptop", nowMs + 3 * DAY_MS),
      token("later", nowMs + 9 * DAY_MS),
      token("over", nowMs - DAY_MS),
      token("foreign", nowMs + DAY_MS, "elsewhere"),
    ];
    for (const row of rows) await tx.insertInto("personal_tokens").values(row).execute();
  });
  const ending = await of("TOKEN");
  assert.deepEqual([ending.count, namesOf(ending)], ["1", ["laptop"]], "other people's tokens are not listed");
  assert.equal(ending.subjects[0]?.time, new Date(nowMs + 3 * DAY_MS).toISOString().replace(".000Z", "Z"));

  for (const group of [team, other]) await platform.ok("POST", `/registry/v2/quotas/${group}`, { tags: "100" });
  await eventually(async () => {
    const rows = await platform.reader.selectFrom("quotas").select("state").execute();
    return rows.every(({ state }) => Number(state) === 2);
  });
  await platform.transact(async (tx) => {
    await tx.updateTable("quotas").set({ state: 4 }).where("uid", "=", team).execute();
    await tx.updateTable("quotas").set({ state: 3 }).where("uid", "=", other).execute();
  });
  assert.deepEqual(namesOf(await of("QUOTA_EXCEEDED")), ["acme/team"]);
  assert.deepEqual(namesOf(await of("QUOTA_WARNED")), ["acme/other"]);
  assert.deepEqual(namesOf(await of("QUOTA_WARNED", team)), []);
});
