import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Advisories } from "@moorage/api/v1/vulnerabilities";
import { ADVISORIES, type AdvisoryJson, holderOf } from "../support/advisories.ts";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";

const V1 = "/vulnerabilities/v1/advisories";
const V1_EVENTS = "/vulnerabilities/v1/advisory_events";

interface Event {
  id: string;
  timestamp: string;
  status?: string;
  [field: string]: unknown;
}
interface Advisory {
  id: string;
  events?: Event[];
  [field: string]: unknown;
}

// Every type of event with every field, as v1 writes it and as v2 reads it.
const EVENTS: readonly [v1: object, v2: object][] = [
  [
    { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
    { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
  ],
  [{ detection: { manual: {} } }, { detection: { manual: {} } }],
  [
    {
      detection: {
        scanv1: {
          scanner: "s",
          subpackageName: "sub",
          componentId: "id",
          componentName: "name",
          componentVersion: "1",
          componentType: "go-module",
          componentLocation: "/usr",
          artifactVersion: "2",
          scannerVersion: "3",
          grypeDbBuilt: "then",
          grypeDbChecksum: "sum",
        },
      },
    },
    {
      detection: {
        scanv1: {
          scanner: "s",
          subpackage: "sub",
          componentId: "id",
          component: "name",
          componentVersion: "1",
          componentType: "go-module",
          componentLocation: "/usr",
          artifactVersion: "2",
          scannerVersion: "3",
          grypeDbBuilt: "then",
          grypeDbChecksum: "sum",
        },
      },
    },
  ],
  ...[
    { fixed: { fixedVersion: "2", note: "n", scannerVersion: "3", grypeDbBuilt: "then", grypeDbChecksum: "sum" } },
    { analysisNotPlanned: { note: "n" } },
    { fixNotPlanned: { note: "n" } },
    { pendingUpstreamFix: { note: "n" } },
    { truePositiveDetermination: { note: "n" } },
    { patched: { patchedVersions: ["1", "2"], note: "n" } },
  ].map((same): [object, object] => [same, same]),
  ...[
    "VULNERABILITY_RECORD_ANALYSIS_CONTESTED",
    "COMPONENT_VULNERABILITY_MISMATCH",
    "VULNERABLE_CODE_VERSION_NOT_USED",
    "VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE",
    "VULNERABLE_CODE_NOT_IN_EXECUTION_PATH",
    "VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY",
    "INLINE_MITIGATIONS_EXIST",
  ].map((type): [object, object] => [
    { falsePositiveDetermination: { type, note: "n" } },
    { falsePositiveDetermination: { type: `TYPE_${type}`, note: "n" } },
  ]),
];
const MOVED = { componentLocationChanged: { previousLocation: "/a", newLocation: "/b", note: "moved" } };

describe("advisories by v1", () => {
  let platform: Platform;
  let group: string;
  let count = 0;
  before(async () => {
    platform = await startPlatform();
    group = (await platform.group(platform.organization)).uid;
  });
  after(() => platform.close());

  const made = async (fields: object = {}): Promise<Advisory> => {
    count += 1;
    const advisory = { artifactName: `artifact-${count}`, aliases: [`CVE-2026-${count}`], ...fields };
    return (await platform.ok("POST", V1, { parentId: group, advisory })) as object as Advisory;
  };
  const added = async (id: string, advisoryEvent: object): Promise<Event> =>
    (await platform.ok("POST", `${V1}/${id}/events`, { advisoryEvent })) as object as Event;
  const replaced = async (id: string, event: object): Promise<Event> =>
    (await platform.ok("PUT", `${V1_EVENTS}/${id}`, event)) as object as Event;
  const listed = async <T = Json>(query: string): Promise<T> => platform.ok<T>("GET", `${V1}?${query}`);
  const names = async (query: string): Promise<string[]> =>
    (((await listed(query))["items"] ?? []) as { artifactName: string }[]).map(({ artifactName }) => artifactName);
  const v2 = async (id: string): Promise<AdvisoryJson> =>
    (await platform.ok("GET", `${ADVISORIES}/${id}`)) as AdvisoryJson;
  const eventsOf = async (id: string): Promise<Event[]> =>
    ((await platform.ok("GET", `${V1}/${id}/events`))["items"] ?? []) as Event[];
  const asOwner = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    platform.call(method, path, { token: await platform.token(), body });

  const FIELDS = {
    artifactType: "OCI_IMAGE",
    artifactName: "acme/web",
    artifactArchitecture: "amd64",
    componentName: "openssl",
    componentLocation: "/usr/lib",
    componentType: "deb",
    aliases: ["CVE-2026-70001", "GHSA-2345-6789-cfgh"],
  };

  test("what v1 writes v2 reads, and the other way round, for every field", async () => {
    const one = await made({ ...FIELDS, legacyAdvisoryID: "OLD-1", events: [{ fixNotPlanned: { note: "n" } }] });
    const read = await v2(one.id);
    for (const [field, value] of Object.entries({ ...FIELDS, legacyAdvisoryId: "OLD-1" }))
      assert.deepEqual(read[field], value, field);
    assert.match(read.advisoryId, /^MRG-/);
    assert.deepEqual(
      [one["advisoryId"], one["author"], one["createdAt"], one["updatedAt"], one["deletedAt"]],
      [read.advisoryId, platform.owner, read.createTime, read.updateTime, undefined],
    );
    const body = { ...FIELDS, componentLocation: "/opt", legacyAdvisoryId: "OLD-2", origin: "src" };
    const other = await platform.ok("POST", `${ADVISORIES}/${group}`, body);
    const { items } = await listed<{ items: Advisory[] }>(`id=${other.uid}`);
    assert.deepEqual(items, [
      {
        id: other.uid,
        ...FIELDS,
        componentLocation: "/opt",
        legacyAdvisoryID: "OLD-2",
        advisoryId: other["advisoryId"],
        author: platform.owner,
        createdAt: other.createTime,
        updatedAt: other.updateTime,
      },
    ]);
  });

  test("every type of event is written by one version and read by the other", async () => {
    const { id } = await made();
    for (const [v1Event, v2Event] of EVENTS) {
      const byV1 = await added(id, { ...v1Event, findings: "YQ==", issue: "https://i.example/1" });
      const [type = ""] = Object.keys(v2Event);
      const read = (await v2(id)).events.at(-1);
      assert.deepEqual(filled(read?.[type]), filled(Object.values(v2Event)[0]));
      assert.deepEqual(
        [byV1.id, byV1.timestamp, byV1.status, byV1["findings"], byV1["issue"], byV1["author"], byV1["reviewer"]],
        [read?.uid, read?.createTime, "PENDING", "YQ==", "https://i.example/1", platform.owner, undefined],
      );
      await platform.ok("POST", `${ADVISORIES}/${id}/events`, { ...v2Event, reviewState: "APPROVED" });
      const last = (await eventsOf(id)).at(-1);
      assert.deepEqual(last?.[type], Object.values(v1Event)[0]);
      assert.deepEqual([last?.status, last?.["reviewer"]], ["APPROVED", platform.owner]);
    }
  });

  test("an update replaces all that v1 has, and keeps what v2 alone has", async () => {
    const severities = [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }];
    const before = await platform.ok("POST", `${ADVISORIES}/${group}`, {
      ...FIELDS,
      componentLocation: "/srv",
      legacyAdvisoryId: "OLD-3",
      origin: "src",
      severities,
      events: [{ detection: {} }],
    });
    const body = { artifactName: "only", aliases: ["CVE-2026-70002"], advisoryId: "MRG-none", author: "nobody" };
    const after = await platform.ok("PUT", `${V1}/${before.uid}`, body);
    assert.deepEqual(
      { ...after, updatedAt: undefined, events: (after["events"] as object[]).length },
      {
        id: before.uid,
        artifactName: "only",
        aliases: ["CVE-2026-70002"],
        advisoryId: before["advisoryId"],
        author: platform.owner,
        createdAt: before.createTime,
        updatedAt: undefined,
        events: 1,
      },
    );
    const read = await v2(before.uid);
    assert.deepEqual([read["origin"], read["severities"], read["componentName"]], ["src", severities, ""]);
    const missing = `${group}/${"0".repeat(16)}`;
    for (const [method, sent] of [
      ["PUT", body],
      ["DELETE", undefined],
    ] as const)
      assert.equal((await asOwner(method, `${V1}/${missing}`, sent)).status, 404);
    assert.deepEqual(blamed(await asOwner("PUT", `${V1}/${before.uid}`, { aliases: ["CVE-1"] })), ["artifactName"]);
  });

  test("a list has pages, orders and v1's filters", async () => {
    const { uid } = await platform.group(group);
    const ids: string[] = [];
    for (const [at, name] of ["one", "two", "three"].entries()) {
      const advisory = { artifactName: name, aliases: [`CVE-2026-8000${3 - at}`], legacyAdvisoryID: `L-${name}` };
      ids.push(String((await platform.ok("POST", V1, { parentId: uid, advisory }))["id"]));
    }
    const [one = "", two = "", three = ""] = ids;
    const within = `uidp.childrenOf=${uid}`;
    const first = await listed(`${within}&page_size=2`);
    assert.deepEqual([(first["items"] as object[]).length, first.totalCount], [2, "3"]);
    assert.deepEqual(await names(`${within}&page_size=2&page_token=${first.nextPageToken}`), ["three"]);
    assert.deepEqual(await names(`${within}&page_size=9999999999`), ["one", "two", "three"]);
    const byId = ids.toSorted().map((id) => ["one", "two", "three"][ids.indexOf(id)]);
    const orders: Record<string, readonly (string | undefined)[]> = {
      ID_ASC: byId,
      ID_DESC: byId.toReversed(),
      CREATED_AT_ASC: ["one", "two", "three"],
      CREATED_AT_DESC: ["three", "two", "one"],
      ALIASES_ASC: ["three", "two", "one"],
      ALIASES_DESC: ["one", "two", "three"],
      UPDATED_AT_ASC: ["one", "two", "three"],
      UPDATED_AT_DESC: ["three", "two", "one"],
      DELETED_AT_ASC: byId,
      DELETED_AT_DESC: byId.toReversed(),
    };
    for (const [order, wanted] of Object.entries(orders))
      assert.deepEqual(await names(`${within}&order_by=${order}`), wanted, order);

    const reviewer = await holderOf(platform, group, [
      "CAP_ADVISORIES_UPDATE",
      "CAP_ADVISORIES_APPROVE",
      "CAP_ADVISORIES_LIST",
    ]);
    const event = await added(one, { fixed: { fixedVersion: "2" } });
    const approved = await platform.call("PUT", `${V1_EVENTS}/${event.id}`, {
      token: reviewer.token,
      body: { fixed: { fixedVersion: "2" }, status: "APPROVED" },
    });
    assert.equal(approved.status, 200, approved.text);
    await added(two, { detection: {} });
    const { items } = await listed<{ items: Advisory[] }>(`id=${two}`);
    const filters: Record<string, readonly string[]> = {
      [`id=${one}`]: ["one"],
      [`id=${uid}/${"0".repeat(16)}`]: [],
      "id=none": [],
      [`id=${one}&uidp.ids=${two}`]: [],
      [`uidp.ids=${one}&uidp.ids=${three}`]: ["one", "three"],
      [`advisory_ids=${String(items[0]?.["advisoryId"])}`]: ["two"],
      "legacy_advisory_ids=L-one&legacyAdvisoryIds=L-two": ["one", "two"],
      "artifact_name=one&artifactName=three": ["one", "three"],
      "aliases=cve-2026-80003": ["one"],
      "event_statuses=APPROVED": ["one"],
      "event_statuses=APPROVED&event_statuses=PENDING": ["one", "two"],
      [`event_author=${platform.owner}`]: ["one", "two"],
      [`event_reviewer=${reviewer.uid}`]: ["one"],
      [`exclude_event_author=${platform.owner}`]: ["three"],
      "event_types=EVENT_TYPE_FILTER_FIXED": ["one"],
      "event_types=EVENT_TYPE_FILTER_DETECTION&event_types=3": ["one", "two"],
      "latest_event_type=EVENT_TYPE_FILTER_FIXED": ["one"],
      "latest_event_type=EVENT_TYPE_FILTER_DETECTION": [],
      "origin=three": ["three"],
      "artifact_type=APK": [],
      "component_name=x": [],
      "component_type=x": [],
      "component_location=x": [],
      "artifact_architecture=x": [],
    };
    for (const [query, wanted] of Object.entries(filters))
      assert.deepEqual(await names(`${within}&${query}`), wanted, query);
    assert.deepEqual(await listed("id=none"), { id: "none" });
    const tooMany = Array.from({ length: 101 }, (_, at) => `artifact_name=${at}`).join("&");
    assert.deepEqual(blamed(await asOwner("GET", `${V1}?${tooMany}`)), ["artifactName"]);
    assert.deepEqual(blamed(await asOwner("GET", `${V1}?page_size=-1`)), ["page_size"]);
    assert.deepEqual(blamed(await asOwner("GET", `${V1}?page_token=x`)), ["page_token"]);
  });

  test("a review is a replacement of the event", async () => {
    const { id, events = [] } = await made({
      events: [{ fixed: { fixedVersion: "2" }, findings: "YQ==", issue: "i" }],
    });
    const event = events[0]?.id ?? "";
    assert.deepEqual([events[0]?.status, events[0]?.["findings"]], ["PENDING", "YQ=="]);
    const asked = await replaced(event, { ...events[0], status: "REQUEST_CHANGES" });
    assert.deepEqual([asked.status, asked["reviewer"], asked["issue"]], ["REQUEST_CHANGES", platform.owner, "i"]);
    // Absent fields are cleared; without a status it waits again.
    const changed = await replaced(event, { patched: { patchedVersions: ["1"] } });
    assert.deepEqual(changed, {
      id: event,
      timestamp: events[0]?.timestamp,
      patched: { patchedVersions: ["1"] },
      author: platform.owner,
      status: "PENDING",
    });
    assert.deepEqual((await v2(id)).events[0]?.["fixed"], undefined);
    assert.equal((await replaced(event, { ...changed, status: "APPROVED" })).status, "APPROVED");
    assert.deepEqual(blamed(await asOwner("PUT", `${V1_EVENTS}/${event}`, { status: "APPROVED" })), ["type"]);
    assert.deepEqual(blamed(await asOwner("PUT", `${V1_EVENTS}/${event}`, { fixed: {}, status: "APPROVED" })), [
      "fixed.fixedVersion",
    ]);
    const missing = `${id}/${"0".repeat(16)}`;
    assert.equal((await asOwner("PUT", `${V1_EVENTS}/${missing}`, changed)).status, 404);
    assert.equal((await asOwner("GET", `${V1}/${group}/${"0".repeat(16)}/events`)).status, 404);
    await platform.ok("DELETE", `${V1}/${id}`);
    assert.deepEqual(await listed(`id=${id}`), { id });
    assert.equal((await asOwner("DELETE", `${V1}/${id}`)).status, 404);
  });

  test("a component at another place is an event that v1 alone shows", async () => {
    const { id, events = [] } = await made({ events: [MOVED, { ...FIXED, status: "APPROVED" }] });
    assert.deepEqual(events[0]?.["componentLocationChanged"], MOVED.componentLocationChanged);
    const later = await added(id, { ...MOVED, status: "APPROVED", findings: "YQ==" });
    assert.deepEqual(later["componentLocationChanged"], MOVED.componentLocationChanged);
    const all = await eventsOf(id);
    assert.deepEqual(
      all.map((event) => event.id),
      [events[0]?.id, events[1]?.id, later.id],
    );
    const { items } = await listed<{ items: Advisory[] }>(`id=${id}`);
    assert.deepEqual(items[0]?.events?.at(-1)?.["componentLocationChanged"], MOVED.componentLocationChanged);
    // v2 has neither the event nor anything by it.
    assert.deepEqual(
      (await v2(id)).events.map(({ uid }) => uid),
      [events[1]?.id],
    );
    const page = await platform.ok("GET", `${ADVISORIES}/${id}/events`);
    assert.deepEqual([(page["advisoryEvents"] as object[]).length, page.totalCount], [1, "1"]);
    const within = `uidp.ids=${id}`;
    const v2Count = async (query: string): Promise<string> =>
      (await platform.ok("GET", `${ADVISORIES}?${within}&${query}`)).totalCount;
    assert.equal(await v2Count("latest_event_type=FIXED"), "1");
    assert.equal(await v2Count("event_review_states=PENDING"), "0");
    assert.equal(
      (await asOwner("PATCH", `/vulnerabilities/v2/advisoryEvents/${later.id}`, { issue: "i" })).status,
      404,
    );
    assert.equal((await asOwner("GET", `${ADVISORIES}?event_types=9`)).status, 400);
    // v1 finds it.
    const v1Count = async (query: string): Promise<number> => (await names(`${within}&${query}`)).length;
    assert.equal(await v1Count("event_types=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED"), 1);
    assert.equal(await v1Count("latest_event_type=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED"), 1);
    assert.equal(await v1Count("latest_event_type=EVENT_TYPE_FILTER_FIXED"), 0);
    assert.equal(await v1Count("event_statuses=PENDING"), 1);
    assert.equal(await v1Count("event_statuses=PENDING&event_types=EVENT_TYPE_FILTER_FIXED"), 0);
    // It is reviewed, changed, and becomes one of another type, as others are.
    const first = events[0]?.id ?? "";
    const changed = await replaced(first, { componentLocationChanged: { newLocation: "/c" } });
    assert.deepEqual(changed["componentLocationChanged"], { newLocation: "/c" });
    assert.equal((await replaced(first, { ...changed, status: "REJECTED" })).status, "REJECTED");
    const pending = await added(id, MOVED);
    assert.deepEqual((await replaced(pending.id, { fixNotPlanned: {} }))["fixNotPlanned"], {});
    assert.equal((await v2(id)).events.length, 2);
    const wrong = await asOwner("POST", `${V1}/${id}/events`, {
      advisoryEvent: { componentLocationChanged: { newLocation: "l".repeat(1025) } },
    });
    assert.deepEqual(blamed(wrong), ["componentLocationChanged.newLocation"]);
  });

  test("errors name the fields of v1", async () => {
    const created = async (advisory: unknown): Promise<string[]> =>
      blamed(await asOwner("POST", V1, { parentId: group, advisory }));
    assert.deepEqual(await created({}), ["artifactName", "aliases"]);
    assert.deepEqual(await created(undefined), ["artifactName", "aliases"]);
    assert.deepEqual(await created({ artifactName: "a", aliases: ["CVE-1"], legacyAdvisoryID: "l".repeat(129) }), [
      "legacyAdvisoryID",
    ]);
    const scan = { detection: { scanv1: { subpackageName: "s".repeat(256) } } };
    assert.deepEqual(await created({ artifactName: "a", aliases: ["CVE-1"], events: [scan, {}] }), [
      "events[0].detection.scanv1.subpackageName",
      "events[1].type",
    ]);
    assert.deepEqual(blamed(await asOwner("POST", V1, { advisory: { artifactName: "a", aliases: ["CVE-1"] } })), [
      "parentId",
    ]);
  });

  test("rights are those of v2, by REST and gRPC", async () => {
    const { id } = await made({ events: [{ detection: {} }] });
    const { create, list, listAdvisoryEvents, update, delete: remove } = Advisories.method;
    const advisory = { artifactName: "denied", aliases: ["CVE-2026-90001"] };
    const token = async (role?: string): Promise<string> =>
      platform.token(await platform.identity(role === undefined ? platform.organization : group, role));
    const [stranger, viewer] = [await token(), await token("viewer")];
    const status = async (...asked: Parameters<typeof both>): Promise<number> => (await both(...asked)).status;
    const calls = [
      (by?: string) => status(platform, create, { parentId: group, advisory }, by),
      (by?: string) => status(platform, list, { id }, by),
      (by?: string) => status(platform, listAdvisoryEvents, { parentId: id }, by),
      (by?: string) => status(platform, update, { id, ...advisory }, by),
      (by?: string) => status(platform, remove, { id }, by),
    ];
    const answers = async (by?: string): Promise<number[]> => {
      const statuses: number[] = [];
      for (const call of calls) statuses.push(await call(by));
      return statuses;
    };
    assert.deepEqual(await answers(), [401, 401, 401, 401, 401]);
    assert.deepEqual(await answers(stranger), [404, 200, 404, 404, 404]);
    assert.deepEqual(await answers(viewer), [403, 200, 200, 403, 403]);
    assert.deepEqual((await both(platform, list, { id }, stranger)).body, { id });
    assert.equal(((await both(platform, list, { id }, viewer)).body["items"] as object[]).length, 1);
  });
});

const FIXED = { fixed: { fixedVersion: "2" } };

/** A message of v2 in JSON without its empty fields, which v1 leaves out. */
function filled(json: unknown): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [name, filled(value)]),
  );
}
