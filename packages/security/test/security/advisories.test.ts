import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AdvisoriesService } from "@moorage/api";
import {
  ADVISORIES,
  ADVISORY_EVENTS,
  type AdvisoryJson,
  holderOf,
  listed,
  newAdvisory,
} from "../../../server/test/support/advisories.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { blamed, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";

// Advisories as resources: who may do what, what is unique, what an update changes, what a deletion leaves.
let platform: Platform;
let group: string;
let owner: string;
before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization)).uid;
  owner = await platform.token();
});
after(() => platform.close());

const { getAdvisory, listAdvisories, listAdvisoryEvents } = AdvisoriesService.method;

test("an advisory is what it was made of, by REST and gRPC, with an id of its own", async () => {
  const fields = {
    artifactName: "acme/web",
    artifactType: "OCI_IMAGE",
    artifactArchitecture: "amd64",
    componentName: "openssl",
    componentLocation: "/usr/lib/libssl.so.3",
    componentType: "apk",
    aliases: ["CVE-2026-1234", "GHSA-2345-6789-cfgh"],
    legacyAdvisoryId: "OLD-1",
    severities: [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
    origin: "openssl-src",
  };
  const scan = { scanner: "one", component: "openssl", componentVersion: "3.0.1" };
  const made = await newAdvisory(platform, group, {
    ...fields,
    events: [{ detection: { scanv1: scan }, findings: "eyJhIjoxfQ==" }, { fixed: { fixedVersion: "3.0.2" } }],
  });
  assert.match(made.advisoryId, /^MRG(?:-[23456789cfghjmpqrvwx]{4}){3}$/);
  const got = await both(platform, getAdvisory, { uid: made.uid }, owner);
  assert.deepEqual(got.body, made);
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(made[name], value, name);
  assert.equal(made["author"], platform.owner);
  assert.deepEqual(
    made.events.map(({ author, reviewState, reviewer }) => [author, reviewState, reviewer]),
    Array.from({ length: 2 }, () => [platform.owner, "REVIEW_STATE_PENDING", ""]),
  );
  const [detected, fixed] = made.events;
  assert.ok((detected?.createTime ?? "") < (fixed?.createTime ?? ""), "times of one advisory strictly increase");
  assert.match(JSON.stringify(detected?.["detection"]), /"component":"openssl"/);
  assert.equal(detected?.findings, "eyJhIjoxfQ==");
  // Findings may be large: a list leaves them out.
  const list = await both(platform, listAdvisories, { uidp: { ids: [made.uid] } }, owner);
  const [first] = list.body["advisories"] as AdvisoryJson[];
  assert.deepEqual(first, { ...made, events: made.events.map((event) => ({ ...event, findings: "" })) });
  const events = await both(platform, listAdvisoryEvents, { parent: made.uid }, owner);
  assert.deepEqual([events.body["advisoryEvents"], events.body.totalCount], [made.events, "2"]);
});

test("a stranger sees nothing, a viewer and an editor see, each method takes its own capability", async () => {
  const made = await newAdvisory(platform, group, { events: [{ detection: { manual: {} } }] });
  const event = made.events[0]?.uid ?? "";
  const fixed = { fixed: { fixedVersion: "2" } };
  const calls: [capability: string, method: string, path: string, body?: object][] = [
    ["CAP_ADVISORIES_LIST", "GET", `${ADVISORIES}/${made.uid}`],
    ["CAP_ADVISORIES_LIST", "GET", `${ADVISORIES}/${made.uid}/events`],
    ["CAP_ADVISORIES_CREATE", "POST", `${ADVISORIES}/${made.uid}/events`, fixed],
    ["CAP_ADVISORIES_UPDATE", "PATCH", `${ADVISORIES}/${made.uid}`, { origin: "source" }],
    ["CAP_ADVISORIES_UPDATE", "PATCH", `${ADVISORY_EVENTS}/${event}`, { issue: "https://issues.example/1" }],
    ["CAP_ADVISORIES_DELETE", "DELETE", `${ADVISORIES}/${made.uid}`],
  ];
  const stranger = await platform.token(await platform.identity(platform.organization));
  const elsewhere = await platform.identity((await platform.group(platform.organization)).uid, "owner");
  for (const token of [stranger, await platform.token(elsewhere)]) {
    for (const [, method, path, body] of calls) {
      const answer = await platform.call(method, path, { token, body });
      assert.deepEqual([answer.status, reason(answer)], [404, "NOT_FOUND"], `${method} ${path}`);
    }
    assert.deepEqual(await listed(platform, `uidp.ids=${made.uid}`, token), []);
  }
  for (const role of ["viewer", "editor", "console_viewer", "auditor"]) {
    const token = await platform.token(await platform.identity(group, role));
    assert.deepEqual(await listed(platform, `uidp.ids=${made.uid}`, token), [made["artifactName"]], role);
    for (const [capability, method, path, body] of calls) {
      const answer = await platform.call(method, path, { token, body });
      assert.equal(answer.status, capability === "CAP_ADVISORIES_LIST" ? 200 : 403, `${role} ${method} ${path}`);
    }
  }
  const missing = "CAP_ADVISORIES_CREATE";
  const visitor = await platform.token(await platform.identity(group, "viewer"));
  const refused = await platform.call("POST", `${ADVISORIES}/${group}`, {
    token: visitor,
    body: { artifactName: "a" },
  });
  assert.deepEqual([refused.status, refused.body.details[0]?.metadata?.["missing"]], [403, missing]);
  for (const [capability, method, path, body] of calls) {
    const { token } = await holderOf(platform, group, ["CAP_ADVISORIES_LIST", capability]);
    assert.equal((await platform.call(method, path, { token, body })).status, 200, `${method} ${path}`);
  }
  const author = await holderOf(platform, group, [missing]);
  const blind = await platform.call("POST", `${ADVISORIES}/${group}`, {
    token: author.token,
    body: { artifactName: "blind", aliases: ["CVE-1"] },
  });
  assert.deepEqual([blind.status, blind.body["author"]], [200, author.uid]);
});

test("a group has one advisory for each artifact, component and vulnerability", async () => {
  const fields = { artifactName: "one", componentName: "zlib", aliases: ["CVE-2026-1", "GHSA-1"] };
  const first = await newAdvisory(platform, group, fields);
  const again = async (change: object) =>
    platform.call("POST", `${ADVISORIES}/${group}`, { token: owner, body: { ...fields, ...change } });
  for (const change of [{}, { aliases: ["ghsa-1"] }, { aliases: ["OSV-1", "CVE-2026-1"], origin: "other" }]) {
    const answer = await again(change);
    assert.deepEqual([answer.status, reason(answer)], [409, "ALREADY_EXISTS"], JSON.stringify(change));
    assert.match(answer.body.message, new RegExp(first.advisoryId));
  }
  for (const change of [
    { aliases: ["CVE-2026-2"] },
    { artifactName: "two" },
    { artifactType: "APK" },
    { artifactArchitecture: "arm64" },
    { componentName: "zlib-ng" },
    { componentType: "deb" },
    { componentLocation: "/opt" },
  ])
    assert.equal((await again(change)).status, 200, JSON.stringify(change));
  const elsewhere = await platform.group(platform.organization);
  await newAdvisory(platform, elsewhere.uid, fields);
  // An update cannot make it the same as another; a deletion makes place.
  const other = await newAdvisory(platform, group, { ...fields, aliases: ["CVE-2026-9"] });
  const same = await platform.call("PATCH", `${ADVISORIES}/${other.uid}`, {
    token: owner,
    body: { aliases: ["ghsa-1"] },
  });
  assert.equal(same.status, 409);
  assert.deepEqual((await platform.ok("GET", `${ADVISORIES}/${other.uid}`))["aliases"], ["CVE-2026-9"]);
  await platform.ok("DELETE", `${ADVISORIES}/${first.uid}`);
  await platform.ok("PATCH", `${ADVISORIES}/${other.uid}`, { aliases: ["ghsa-1"] });
});

test("what is wrong with an advisory is all said, for its events too", async () => {
  const long = "a".repeat(2049);
  const answer = await platform.call("POST", `${ADVISORIES}/${group}`, {
    token: owner,
    body: {
      artifactType: "an image",
      aliases: ["cve-1", "CVE-1", "not an id"],
      severities: [{ score: "1" }],
      events: [
        { issue: "none" },
        { fixed: {} },
        { falsePositiveDetermination: { note: long } },
        { patched: { note: "x" } },
        { detection: {}, findings: Buffer.alloc((16 << 10) + 1).toString("base64") },
      ],
    },
  });
  assert.deepEqual(
    blamed(answer).toSorted(),
    [
      "aliases[1]",
      "aliases[2]",
      "artifactName",
      "artifactType",
      "events[0].type",
      "events[1].fixed.fixedVersion",
      "events[2].falsePositiveDetermination.note",
      "events[2].falsePositiveDetermination.type",
      "events[3].patched.patchedVersions",
      "events[4].findings",
      "severities[0].type",
    ].toSorted(),
  );
  const none = await platform.call("POST", `${ADVISORIES}/${group}`, { token: owner, body: { artifactName: "a" } });
  assert.deepEqual(blamed(none), ["aliases"]);
});

test("an update changes what its mask names, and never the events or the id", async () => {
  const made = await newAdvisory(platform, group, {
    componentName: "before",
    origin: "before",
    events: [{ detection: { manual: {} } }],
  });
  const path = `${ADVISORIES}/${made.uid}`;
  const masked = await platform.ok("PATCH", `${path}?updateMask=origin`, { origin: "after", componentName: "x" });
  assert.deepEqual([masked["origin"], masked["componentName"], masked["events"]], ["after", "before", made.events]);
  const byKeys = await platform.ok("PATCH", path, { componentName: "", advisoryId: "MRG-1", events: [] });
  assert.deepEqual(
    [byKeys["componentName"], byKeys["advisoryId"], byKeys["events"]],
    ["", made.advisoryId, made.events],
  );
  assert.ok(byKeys.updateTime > made.updateTime);
  const whole = await platform.ok("PATCH", `${path}?updateMask=*`, { artifactName: "whole", aliases: ["CVE-2"] });
  assert.deepEqual([whole["origin"], whole["artifactName"]], ["", "whole"]);
  assert.deepEqual(await listed(platform, `uidp.children_of=${group}&query=WHOL`), ["whole"]);
  assert.deepEqual(await listed(platform, `uidp.children_of=${group}&query=${String(made["artifactName"])}`), []);
  for (const mask of ["events", "advisoryId", "author", "none"]) {
    const answer = await platform.call("PATCH", `${path}?updateMask=${mask}`, { token: owner, body: {} });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["updateMask"]], mask);
  }
  const cleared = await platform.call("PATCH", `${path}?updateMask=aliases`, { token: owner, body: {} });
  assert.deepEqual(blamed(cleared), ["aliases"]);
  for (const [aliases, field] of [
    [["not an id"], "aliases[0]"],
    [["CVE-1", "cve-1"], "aliases[1]"],
  ] as const)
    assert.deepEqual(blamed(await platform.call("PATCH", path, { token: owner, body: { aliases } })), [field]);
});

test("a deleted advisory is gone from Get and lists, its events too; its group can go, one with an advisory cannot", async () => {
  const { uid: place } = await platform.group(group);
  const fields = { artifactName: "gone", aliases: ["CVE-7"] };
  const made = await newAdvisory(platform, place, { ...fields, events: [{ detection: {} }] });
  const event = made.events[0]?.uid ?? "";
  const blocked = await platform.call("DELETE", `/iam/v2/groups/${place}`, { token: owner });
  assert.deepEqual(
    blocked.body.details.flatMap(({ violations = [] }) => violations),
    [{ type: "RESOURCE_NOT_EMPTY", subject: place, description: "the group still has advisories: 1" }],
  );
  assert.equal((await platform.call("DELETE", `${ADVISORIES}/${made.uid}`, { token: owner })).text, "");
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  for (const [method, path, body, token] of [
    ["GET", `${ADVISORIES}/${made.uid}`, undefined, owner],
    ["DELETE", `${ADVISORIES}/${made.uid}`, undefined, owner],
    ["PATCH", `${ADVISORIES}/${made.uid}`, { origin: "x" }, owner],
    ["GET", `${ADVISORIES}/${made.uid}/events`, undefined, owner],
    ["POST", `${ADVISORIES}/${made.uid}/events`, { detection: {} }, owner],
    ["PATCH", `${ADVISORY_EVENTS}/${event}`, { issue: "x" }, owner],
    // The same for who may only look.
    ["DELETE", `${ADVISORIES}/${made.uid}`, undefined, viewer],
    ["PATCH", `${ADVISORY_EVENTS}/${event}`, { issue: "x" }, viewer],
  ] as const)
    assert.equal((await platform.call(method, path, { body, token })).status, 404, `${method} ${path}`);
  for (const query of ["", "&query=gone", "&aliases=CVE-7", `&advisoryIds=${made.advisoryId}`])
    assert.deepEqual(await listed(platform, `uidp.children_of=${place}${query}`), []);
  const kept = await platform.reader
    .selectFrom("advisories")
    .select("delete_time")
    .where("uid", "=", made.uid)
    .executeTakeFirst();
  assert.ok(kept?.delete_time);
  // Another may take its place, with another id.
  const next = await newAdvisory(platform, place, fields);
  assert.notEqual(next.advisoryId, made.advisoryId);
  await platform.ok("DELETE", `${ADVISORIES}/${next.uid}`);
  await platform.ok("DELETE", `/iam/v2/groups/${place}`);
  for (const table of ["advisories", "advisory_events"] as const)
    assert.deepEqual(
      await platform.reader
        .selectFrom(table)
        .select("uid")
        .where("uid", ">=", place)
        .where("uid", "<", `${place}0`)
        .execute(),
      [],
    );
});

test("an answer has another ETag when an event was added", async () => {
  const { uid } = await newAdvisory(platform, group);
  const get = async (etag = "") =>
    platform.call("GET", `${ADVISORIES}/${uid}`, { token: owner, headers: { "if-none-match": etag } });
  const etag = String((await get()).headers["etag"]);
  assert.equal((await get(etag)).status, 304);
  await platform.ok("POST", `${ADVISORIES}/${uid}/events`, { detection: {} });
  const after = await get(etag);
  assert.deepEqual([after.status, (after.body["events"] as unknown[]).length], [200, 1]);
});

test("what is done stands in the audit log, and rejections do", async () => {
  const { uid: place } = await platform.group(group);
  const made = await newAdvisory(platform, place);
  const event = await platform.ok("POST", `${ADVISORIES}/${made.uid}/events`, { detection: {} });
  await platform.ok("PATCH", `${ADVISORY_EVENTS}/${event.uid}`, { reviewState: "APPROVED" });
  const viewer = await platform.identity(platform.organization, "viewer");
  await platform.call("DELETE", `${ADVISORIES}/${made.uid}`, { token: await platform.token(viewer) });
  await platform.ok("DELETE", `${ADVISORIES}/${made.uid}`);
  const entries = async () =>
    (
      (await platform.ok("GET", `/iam/v2/auditEntries?uidp.descendants_of=${made.uid}&order_by=createTime`))[
        "auditEntries"
      ] as { method: string; resource: string; decision: string; identity: string }[]
    ).map(({ method, resource, decision, identity }) => [method.split(".").at(-1), resource, decision, identity]);
  const [allowed, denied] = ["AUDIT_DECISION_ALLOWED", "AUDIT_DECISION_DENIED"];
  const expected = [
    ["CreateAdvisory", made.uid, allowed, platform.owner],
    ["CreateAdvisoryEvent", event.uid, allowed, platform.owner],
    ["UpdateAdvisoryEvent", event.uid, allowed, platform.owner],
    ["DeleteAdvisory", made.uid, denied, viewer],
    ["DeleteAdvisory", made.uid, allowed, platform.owner],
  ];
  // Rejections are written a moment later.
  await eventually(async () => (await entries()).length >= expected.length);
  assert.deepEqual((await entries()).toSorted(), expected.toSorted());
});

test("each change is an event of the group, in the feed and in streams", async () => {
  const { uid: place } = await platform.group(group);
  const made = await newAdvisory(platform, place, { events: [{ detection: {} }] });
  const path = `${ADVISORIES}/${made.uid}`;
  const added = await platform.ok("POST", `${path}/events`, { fixed: { fixedVersion: "2" } });
  const reviewed = await platform.ok("PATCH", `${ADVISORY_EVENTS}/${added.uid}`, { reviewState: "APPROVED" });
  const updated = await platform.ok("PATCH", path, { origin: "after" });
  await platform.ok("DELETE", path);
  const expected = [
    ["dev.moorage.advisory.created.v1", made.uid],
    ["dev.moorage.advisory.event.created.v1", added.uid],
    ["dev.moorage.advisory.event.updated.v1", added.uid],
    ["dev.moorage.advisory.updated.v1", made.uid],
    ["dev.moorage.advisory.deleted.v1", made.uid],
  ];
  const { EventsService } = await import("@moorage/api");
  const found: [string, string][] = [];
  const left = new AbortController();
  const request = { group: place, typePrefixes: ["dev.moorage.advisory."] };
  const stop = setTimeout(() => left.abort(), 60_000);
  for await (const { event } of platform.grpc.stream(EventsService.method.watchEvents, request, owner, left.signal)) {
    if (event !== undefined) found.push([event.type, event.subject]);
    if (found.length === expected.length) break;
  }
  clearTimeout(stop);
  assert.deepEqual(found, expected);
  const { events } = (await platform.ok("GET", `/events/v2/events?group=${place}`)) as object as {
    events: { type: string; data: { body: object } }[];
  };
  const bodies = events.filter(({ type }) => type.startsWith("dev.moorage.advisory.")).map(({ data }) => data.body);
  assert.deepEqual(bodies, [made, added, reviewed, updated, { uid: made.uid }]);
});
