import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { AdvisoriesService, EventTypeFilter, ReviewState } from "@moorage/api";
import {
  ADVISORIES,
  ADVISORY_EVENTS,
  type AdvisoryJson,
  holderOf,
  listed,
  newAdvisory,
} from "../../../server/test/support/advisories.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Every filter of the list of advisories, what it is sorted by, and its pages.
let platform: Platform;
let group: string;
let owner: string;
before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization)).uid;
  owner = await platform.token();
});
after(() => platform.close());

const { listAdvisories } = AdvisoriesService.method;

describe("filters about the advisory", () => {
  const made: Record<string, AdvisoryJson> = {};
  let place: string;
  before(async () => {
    place = (await platform.group(group)).uid;
    const add = async (artifactName: string, fields: object): Promise<void> => {
      made[artifactName] = await newAdvisory(platform, place, { artifactName, ...fields });
    };
    await add("acme/web", {
      artifactType: "OCI_IMAGE",
      artifactArchitecture: "amd64",
      componentName: "OpenSSL",
      componentType: "apk",
      componentLocation: "/lib",
      aliases: ["CVE-2026-1", "GHSA-aaaa"],
      legacyAdvisoryId: "OLD-1",
    });
    await add("libssl3", {
      artifactType: "APK",
      origin: "openssl",
      aliases: ["CVE-2026-2"],
      artifactArchitecture: "arm64",
    });
    await add("openssl", { artifactType: "APK", aliases: ["CVE-2026-3"], componentLocation: "/usr/lib" });
    await add("left-pad", {
      artifactType: "NPM",
      componentName: "pad",
      componentType: "npm",
      aliases: ["CVE-2025-10"],
    });
  });

  const cases: [query: string, expected: string[]][] = [
    ["", ["acme/web", "libssl3", "openssl", "left-pad"]],
    ["artifactNames=acme/web&artifactNames=openssl", ["acme/web", "openssl"]],
    ["artifact_names=acme%2Fweb", ["acme/web"]],
    ["artifactNames=acme", []],
    ["artifactTypes=APK&artifact_types=NPM", ["libssl3", "openssl", "left-pad"]],
    ["artifactArchitectures=arm64", ["libssl3"]],
    ["componentNames=pad", ["left-pad"]],
    ["componentTypes=apk&componentTypes=npm", ["acme/web", "left-pad"]],
    ["componentLocations=/lib", ["acme/web"]],
    ["component_locations=/lib&component_locations=/usr/lib", ["acme/web", "openssl"]],
    ["aliases=cve-2026-1&aliases=CVE-2025-10", ["acme/web", "left-pad"]],
    ["aliases=CVE-2026-1&artifactTypes=APK", []],
    ["legacyAdvisoryIds=OLD-1", ["acme/web"]],
    ["legacy_advisory_ids=OLD", []],
    ["origin=openssl", ["libssl3", "openssl"]],
    ["query=OPENSSL", ["acme/web", "openssl"]],
    ["query=ssl", ["acme/web", "libssl3", "openssl"]],
    ["query=hsa-A", ["acme/web"]],
    ["query=-2026-", ["acme/web", "libssl3", "openssl"]],
    ["query=d", ["left-pad"]],
    ["query=/", ["acme/web"]],
    ["query=%25", []],
    ["query=ssl&artifactTypes=APK&origin=openssl&artifactArchitectures=arm64", ["libssl3"]],
    ["order_by=artifactName", ["acme/web", "left-pad", "libssl3", "openssl"]],
    ["order_by=aliases%20desc", ["openssl", "libssl3", "acme/web", "left-pad"]],
    ["query=ssl&order_by=created_at%20desc", ["openssl", "libssl3", "acme/web"]],
  ];
  for (const [query, expected] of cases) {
    test(query === "" ? "none" : query, async () => {
      assert.deepEqual(await listed(platform, `uidp.descendants_of=${place}&${query}`), expected);
    });
  }

  test("ids, by REST and gRPC", async () => {
    const ids = ["acme/web", "left-pad"].map((name) => made[name]?.advisoryId ?? "");
    const answer = await both(platform, listAdvisories, { advisoryIds: ids }, owner);
    const found = answer.body["advisories"] as AdvisoryJson[];
    assert.deepEqual(
      found.map(({ advisoryId }) => advisoryId),
      ids,
    );
    assert.equal(answer.body.totalCount, "2");
    for (const request of [
      { query: "SSL", origin: "openssl" },
      { aliases: ["cve-2026-1"], artifactTypes: ["OCI_IMAGE"] },
    ])
      await both(platform, listAdvisories, request, owner);
  });

  test("who sees one organization finds nothing of another", async () => {
    const other = await platform.ok("POST", "/iam/v2/groups", { name: "other" });
    const token = await platform.token(await platform.identity(other.uid, "owner"));
    for (const query of ["", "query=ssl", "aliases=CVE-2026-1", "artifactNames=acme/web"])
      assert.deepEqual(await listed(platform, query, token), [], query);
  });

  test("a filter has at most 100 values, a query 128 characters, and both are known", async () => {
    const many = Array.from({ length: 101 }, (_, at) => `aliases=CVE-${at}`).join("&");
    for (const [query, field] of [
      [many, "aliases"],
      [`query=${"a".repeat(129)}`, "query"],
      ["eventTypes=NONE", "event_types"],
      ["latestEventType=99", "latest_event_type"],
    ] as const) {
      const answer = await platform.call("GET", `${ADVISORIES}?${query}`, { token: owner });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(blamed(answer)[0]?.replace(/\[\d+\]$/, ""), field);
    }
    assert.deepEqual(await listed(platform, `query=${"a".repeat(128)}`), []);
  });
});

describe("filters about events", () => {
  let place: string;
  let ann: { uid: string; token: string };
  let bob: { uid: string; token: string };
  before(async () => {
    place = (await platform.group(group)).uid;
    const all = ["LIST", "CREATE", "UPDATE", "APPROVE"].map((name) => `CAP_ADVISORIES_${name}`);
    [ann, bob] = [await holderOf(platform, place, all), await holderOf(platform, place, all)];
    const send = async (who: typeof ann, method: string, path: string, body: object): Promise<string> => {
      const answer = await platform.call(method, path, { token: who.token, body });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.uid;
    };
    const add = async (
      artifactName: string,
      events: [author: typeof ann, event: object, by?: typeof ann, state?: string][],
    ) => {
      const { uid } = await newAdvisory(platform, place, { artifactName });
      for (const [author, event, by, reviewState] of events) {
        const added = await send(author, "POST", `${ADVISORIES}/${uid}/events`, event);
        if (by !== undefined) await send(by, "PATCH", `${ADVISORY_EVENTS}/${added}`, { reviewState });
      }
    };
    const fixed = { fixed: { fixedVersion: "2" } };
    const detected = { detection: { manual: {} } };
    await add("silent", []);
    await add("detected", [[ann, detected, bob, "APPROVED"]]);
    await add("fixed", [
      [ann, detected, ann, "APPROVED"],
      [bob, fixed, ann, "APPROVED"],
    ]);
    // The later event does not hold.
    await add("waiting", [
      [ann, detected, bob, "APPROVED"],
      [bob, fixed],
    ]);
    await add("rejected", [[bob, { fixNotPlanned: { note: "no" } }, ann, "REJECTED"]]);
    for (const [type, at] of [
      ["truePositiveDetermination", {}],
      ["falsePositiveDetermination", { type: "INLINE_MITIGATIONS_EXIST" }],
      ["analysisNotPlanned", {}],
      ["pendingUpstreamFix", {}],
      ["patched", { patchedVersions: ["1.1"] }],
    ] as const)
      await add(type, [[ann, { [type]: at }, ann, "APPROVED"]]);
  });

  const RARE = [
    "truePositiveDetermination",
    "falsePositiveDetermination",
    "analysisNotPlanned",
    "pendingUpstreamFix",
    "patched",
  ];
  const cases: [title: string, query: () => string, expected: string[]][] = [
    ["pending", () => "eventReviewStates=PENDING", ["waiting"]],
    [
      "pending or rejected",
      () => "event_review_states=REVIEW_STATE_PENDING&event_review_states=4",
      ["waiting", "rejected"],
    ],
    ["by bob", () => `eventAuthors=${bob.uid}`, ["fixed", "waiting", "rejected"]],
    ["reviewed by bob", () => `event_reviewers=${bob.uid}`, ["detected", "waiting"]],
    [
      "of two types",
      () => "eventTypes=FIXED&eventTypes=EVENT_TYPE_FILTER_FIX_NOT_PLANNED",
      ["fixed", "waiting", "rejected"],
    ],
    ["not by ann", () => `excludeEventAuthors=${ann.uid}`, ["silent", "fixed", "waiting", "rejected"]],
    // One event matches all.
    ["approved and by bob", () => `eventReviewStates=APPROVED&eventAuthors=${bob.uid}`, ["fixed"]],
    ["pending, not by bob", () => `eventReviewStates=PENDING&exclude_event_authors=${bob.uid}`, []],
    ["pending, not by ann", () => `eventReviewStates=PENDING&excludeEventAuthors=${ann.uid}`, ["waiting"]],
    ["latest is a detection", () => "latestEventType=DETECTION", ["detected", "waiting"]],
    ["latest is a fix", () => "latest_event_type=EVENT_TYPE_FILTER_FIXED", ["fixed"]],
    ["latest is none that holds", () => "latestEventType=FIX_NOT_PLANNED", []],
  ];
  for (const [title, query, expected] of cases) {
    test(title, async () => {
      assert.deepEqual(await listed(platform, `uidp.children_of=${place}&${query()}`), expected);
    });
  }

  test("each type of events has its filter", async () => {
    for (const type of RARE) {
      const name = type.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
      assert.deepEqual(await listed(platform, `uidp.children_of=${place}&eventTypes=${name}`), [type]);
      assert.deepEqual(await listed(platform, `uidp.children_of=${place}&latestEventType=${name}`), [type]);
    }
    const request = { eventReviewStates: [ReviewState.APPROVED], eventTypes: [EventTypeFilter.PATCHED] };
    const { body } = await both(platform, listAdvisories, request, owner);
    assert.equal(body.totalCount, "1");
  });
});

test("pages repeat nothing and lose nothing while advisories come and go", async () => {
  const { uid: place } = await platform.group(group);
  const uids: string[] = [];
  for (let at = 0; at < 12; at++)
    uids.push((await newAdvisory(platform, place, { artifactName: `paged-${at % 3}` })).uid);
  for (const order of ["", "&order_by=artifactName%20desc"]) {
    const seen: string[] = [];
    let token = "";
    do {
      const answer = await platform.ok(
        "GET",
        `${ADVISORIES}?uidp.children_of=${place}&query=PAGED&page_size=5&page_token=${token}${token === "" ? order : ""}`,
      );
      seen.push(...(answer["advisories"] as AdvisoryJson[]).map(({ uid }) => uid));
      assert.ok(Number(answer.totalCount) >= 12);
      token = answer.nextPageToken;
      const { uid } = await newAdvisory(platform, place, { artifactName: "paged-1" });
      if (seen.length > 5) await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
    } while (token !== "");
    assert.equal(new Set(seen).size, seen.length);
    for (const uid of uids) assert.ok(seen.includes(uid));
    if (order === "") assert.deepEqual(seen.slice(0, 12), uids);
  }
  const other = await platform.ok("GET", `${ADVISORIES}?uidp.children_of=${place}&query=paged&page_size=1`);
  const mixed = await platform.call("GET", `${ADVISORIES}?query=other&page_token=${other.nextPageToken}`, {
    token: owner,
  });
  assert.deepEqual([mixed.status, blamed(mixed)], [400, ["page_token"]]);
});
