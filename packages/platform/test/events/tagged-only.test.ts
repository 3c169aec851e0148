import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { EventsService } from "@moorage/api";
import { pushImage } from "../../../server/test/support/image.ts";
import { blamed, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// `taggedOnly`: of all that one push of an image reports, the one event for each tag that it was pushed to.

const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const PUSHES = "dev.moorage.registry.push.";

let platform: Platform;
before(async () => {
  // No event is sent: the tests look at what would be.
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_EVENTS_CONCURRENCY: "0" });
});
after(() => platform.close());

/** Waits until the events of all changes are in the feed. */
async function settled(): Promise<void> {
  await eventually(
    async () => (await platform.reader.selectFrom("event_outbox").select("n").executeTakeFirst()) === undefined,
  );
}

/** Pushes an index of two images to both tags; the images themselves are pushed by digest. */
async function pushIndex(name: string, tags: [string, string]): Promise<void> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const manifests = [];
  for (const content of ["one", "two"]) {
    const config = JSON.stringify({ architecture: content, os: "linux" });
    const digest = `sha256:${createHash("sha256").update(config).digest("hex")}`;
    const pushed = await platform.call("POST", `/v2/${name}/blobs/uploads/?digest=${digest}`, {
      token,
      raw: config,
      headers: { "content-type": "application/octet-stream" },
    });
    assert.equal(pushed.status, 201, pushed.text);
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const layer = { mediaType: "application/octet-stream", digest, size: config.length };
    const raw = JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: { ...layer, mediaType: "application/vnd.oci.image.config.v1+json" },
      layers: [layer],
    });
    const child = `sha256:${createHash("sha256").update(raw).digest("hex")}`;
    const answer = await platform.call("PUT", `/v2/${name}/manifests/${child}`, {
      token,
      raw,
      headers: { "content-type": mediaType },
    });
    assert.equal(answer.status, 201, answer.text);
    manifests.push({ mediaType, digest: child, size: raw.length });
  }
  const raw = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
  const digest = `sha256:${createHash("sha256").update(raw).digest("hex")}`;
  const answer = await platform.call("PUT", `/v2/${name}/manifests/${digest}?tag=${tags[0]}&tag=${tags[1]}`, {
    token,
    raw,
    headers: { "content-type": OCI_INDEX },
  });
  assert.equal(answer.status, 201, answer.text);
}

test("a subscription and a feed with taggedOnly have one push event for each tag, and all else as before", async () => {
  const { organization: group } = platform;
  const typePrefixes = [PUSHES];
  const subscribe = async (fields: object): Promise<string> => (await platform.subscription(group, fields)).uid;
  const [all, tagged, everything] = [
    await subscribe({ typePrefixes }),
    await subscribe({ typePrefixes, taggedOnly: true }),
    await subscribe({ taggedOnly: true }),
  ];
  await pushImage(platform, "acme/app", "v1");
  await pushIndex("acme/app", ["v2", "latest"]);
  await pushImage(platform, "acme/app", "v1");
  await settled();

  const typesOf = async (uid: string): Promise<string[]> => {
    const found = await rows(
      platform.ok("GET", `/events/v2/deliveries?uidp.children_of=${uid}&page_size=200`),
      "deliveries",
    );
    return found.map((each) => String(each["eventType"]).replace("dev.moorage.", ""));
  };
  const push = "registry.push.v1";
  assert.deepEqual(await typesOf(tagged), [push, push, push, push], "v1, v2, latest, and v1 again");
  assert.ok((await typesOf(all)).length > 4, "without it, blobs and manifests by digest too");
  const rest = await typesOf(everything);
  assert.equal(rest.filter((type) => type === push).length, 4);
  assert.ok(rest.includes("api.platform.registry.tag.created.v1"), "other types are not affected");

  const read = async (request: object) => {
    const asked = { group, typePrefixes, pageSize: 200, ...request };
    const answer = await both(platform, EventsService.method.listEvents, asked, await platform.token());
    assert.equal(answer.status, 200, answer.text);
    const { events, nextCursor } = answer.body as unknown as {
      events: { data: { body: Record<string, unknown> } }[];
      nextCursor: string;
    };
    return { bodies: events.map(({ data }) => data.body), nextCursor };
  };
  const { bodies, nextCursor } = await read({ taggedOnly: true });
  assert.deepEqual(
    bodies.map(({ tag, type }) => [tag, type]),
    ["v1", "v2", "latest", "v1"].map((tag) => [tag, "manifest"]),
  );
  const { bodies: unfiltered } = await read({});
  assert.ok(unfiltered.filter(({ tag }) => tag === "").length > 4);
  // A cursor belongs to its filters.
  const other = await both(
    platform,
    EventsService.method.listEvents,
    { group, typePrefixes, cursor: nextCursor },
    await platform.token(),
  );
  assert.deepEqual(blamed(other), ["cursor"]);
});

test("pulls by digest are left out as well, those by a tag are not", async () => {
  const digest = await pushImage(platform, "acme/pulled", "v1");
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  for (const reference of [digest, "v1"])
    assert.equal((await platform.call("GET", `/v2/acme/pulled/manifests/${reference}`, { token })).status, 200);
  const typesPrefix = "dev.moorage.registry.pull.";
  const read = async (query: string): Promise<unknown[]> =>
    (
      await rows(
        platform.ok("GET", `/events/v2/events?group=${platform.organization}&type_prefixes=${typesPrefix}${query}`),
        "events",
      )
    ).map(({ data }) => (data as { body: { tag: string } }).body.tag);
  await eventually(async () => (await read("")).length >= 2, { instead: () => read("") });
  assert.deepEqual((await read("")).toSorted(), ["", "v1"]);
  assert.deepEqual(await read("&tagged_only=true"), ["v1"]);
});
