import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { type SourceImage, sendJson, sendStatus, startFakeSource } from "../../../server/test/support/fake-source.ts";
import { digestOf, type Installation, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK, type Sync } from "../../../server/test/support/mirror.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Sources that answer what they should not. SUCCEEDED means that every followed tag is here.

interface World {
  here: Installation;
  image(name: string): SourceImage;
  /** Mirrors the image in a repo of its name, and waits for the end of the first turn. */
  mirrored(name: string, config?: object): Promise<Sync>;
  /** The digest of the tag here. Undefined when it is not here. */
  tag(name: string, tag: string): Promise<string | undefined>;
  /** The digests of what refers to the digest here. */
  referrers(name: string, digest: string): Promise<string[]>;
}

async function start(t: TestContext): Promise<World> {
  const image = await startFakeSource(t);
  const images = new Map<string, SourceImage>();
  const here = await startInstallation(t, { ...LOOPBACK, MOORAGE_MIRROR_WORKERS: "8" });
  const get = (name: string, path: string, method = "GET") =>
    here.ask(method, `/v2/acme/${name}/${path}`, { token: here.registry });
  return {
    here,
    image(name) {
      images.set(name, image(name));
      return images.get(name) as SourceImage;
    },
    async mirrored(name, config = {}) {
      const { uid } = await here.api("POST", `/registry/v2/repos/${here.bootstrap.organization.uid}`, {
        name,
        syncConfig: { source: images.get(name)?.source, ...config },
      });
      return settled(here, uid);
    },
    async tag(name, tag) {
      const { status, headers } = await get(name, `manifests/${tag}`, "HEAD");
      return status === 200 ? (headers.get("docker-content-digest") ?? "") : undefined;
    },
    async referrers(name, digest) {
      const { json } = await get(name, `referrers/${digest}`);
      return (json as unknown as { manifests: { digest: string }[] }).manifests.map((each) => each.digest);
    },
  };
}

const settled = (here: Installation, uid: string): Promise<Sync> =>
  eventually(async () => {
    const now = await here.api<Sync>("GET", `/registry/v2/repos/${uid}/sync`);
    return !["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"].includes(now.state) && now;
  });

// One server for all: each case has sources of its own.
const cases: Record<string, (t: TestContext, world: World) => Promise<void>> = {};

test("sources that answer what they should not", async (t) => {
  const world = await start(t);
  for (const [name, run] of Object.entries(cases))
    await t.test(name, { concurrency: true }, (inner) => run(inner, world));
});

cases["SUCCEEDED means that every followed tag is here"] = async (t, { here, image, mirrored, tag }) => {
  const isOf = (path: string, reference: string): boolean => path === `manifests/${reference}`;

  const work: Record<string, () => Promise<void>> = {
    "404 to HEAD": async () => {
      const one = image("head-404");
      const { digest } = one.push("one", { tags: ["v1"] });
      one.misbehave = ({ method, res }) => method === "HEAD" && sendStatus(res, 404);
      assert.deepEqual(
        [(await mirrored("head-404")).state, await tag("head-404", "v1")],
        ["SYNC_STATE_SUCCEEDED", digest],
      );
    },
    "404 by digest": async () => {
      const one = image("by-digest");
      const { digest } = one.push("one", { tags: ["v1"] });
      one.misbehave = ({ path, res }) => path.startsWith("manifests/sha256:") && sendStatus(res, 404);
      assert.deepEqual(
        [(await mirrored("by-digest")).state, await tag("by-digest", "v1")],
        ["SYNC_STATE_SUCCEEDED", digest],
      );
    },
    "names that no tag may have, or that cannot be pulled": async () => {
      const one = image("odd-names");
      const good = one.push("good", { tags: ["v1"] });
      const tags = ["v1", "v 2", "../x", 3, "x".repeat(129), "a\u202eb", "v1--at--20260101T000000Z"];
      one.misbehave = ({ path, res }) => {
        if (!path.startsWith("tags/list")) return false;
        sendJson(res, { name: "odd-names", tags });
        return true;
      };
      const { state, message, tagsSeen } = await mirrored("odd-names");
      assert.deepEqual([state, tagsSeen, await tag("odd-names", "v1")], ["SYNC_STATE_FAILED", 7, good.digest]);
      assert.match(message, /^6 tags could not be copied: v 2 \(no tag may have such a name\), \.\.\/x \(/);
      const some = image("odd-names-left-out");
      some.push("good", { tags: ["v1"] });
      some.misbehave = one.misbehave;
      const narrowed = await mirrored("odd-names-left-out", { tagPattern: "v[0-9]" });
      assert.deepEqual([narrowed.state, narrowed.tagsSeen], ["SYNC_STATE_SUCCEEDED", 1]);
    },
    "404 to everything but the list": async () => {
      const one = image("list-only");
      one.push("one", { tags: ["v1", "v2"] });
      const good = one.push("good", { tags: ["v3"] });
      one.misbehave = ({ path, res }) => (isOf(path, "v1") || isOf(path, "v2")) && sendStatus(res, 404);
      const { state, message, tagsSeen } = await mirrored("list-only");
      assert.deepEqual([state, tagsSeen], ["SYNC_STATE_FAILED", 3]);
      assert.match(message, /^2 tags could not be copied: v\d \(the source lists it, and answers 404\), v\d \(/);
      assert.equal(await tag("list-only", "v3"), good.digest, "the others are copied");
    },
    "a tag that is deleted between list and read": async () => {
      const one = image("vanishes");
      one.push("one", { tags: ["v1", "v2"] });
      one.misbehave = ({ path }) => {
        if (path.startsWith("manifests/")) one.tags.delete("v2");
        return false;
      };
      const { state, message } = await mirrored("vanishes");
      assert.equal(state, "SYNC_STATE_SUCCEEDED");
      assert.equal(message, "1 tag deleted at the source during the turn: v2");
    },
    "another manifest's digest in the header": async () => {
      const one = image("other-digest");
      one.push("one", { tags: ["v1"] });
      const good = one.push("good", { tags: ["v2"] });
      const other = digestOf("other");
      one.misbehave = ({ path, method, res }) => {
        if (!isOf(path, "v1")) return false;
        const content = method === "HEAD" ? "" : (one.manifests.get(one.tags.get("v1") ?? "")?.content ?? "");
        res.writeHead(200, { "docker-content-digest": other, "content-type": "application/json" }).end(content);
        return true;
      };
      const { state, message } = await mirrored("other-digest");
      assert.equal(state, "SYNC_STATE_FAILED");
      assert.match(message, /^1 tag could not be copied: v1 \(.*digest/);
      assert.deepEqual([await tag("other-digest", "v1"), await tag("other-digest", "v2")], [undefined, good.digest]);
    },
    "HEAD that names the digest of another tag": async () => {
      const one = image("head-other");
      one.push("one", { tags: ["v1"] });
      const other = one.push("other");
      one.misbehave = ({ path, method, res }) => {
        if (!isOf(path, "v1") || method !== "HEAD") return false;
        res.writeHead(200, { "docker-content-digest": other.digest }).end();
        return true;
      };
      const { state, message } = await mirrored("head-other");
      assert.equal(state, "SYNC_STATE_FAILED");
      assert.match(message, /v1 \(the source names another digest/);
      assert.equal(await tag("head-other", "v1"), undefined, "what the bytes contradict is not taken");
    },
    "a manifest that answers 403 for ever": async () => {
      const one = image("one-403");
      one.push("bad", { tags: ["v1"] });
      const good = one.push("good", { tags: ["v2"] });
      one.misbehave = ({ path, res }) => isOf(path, "v1") && sendStatus(res, 403);
      const { state, message } = await mirrored("one-403");
      assert.equal(state, "SYNC_STATE_FAILED");
      assert.match(message, /^1 tag could not be copied: v1 \(the source does not let us pull \(403\)\)/);
      assert.equal(await tag("one-403", "v2"), good.digest, "the others are copied");
    },
    "several tags that answer 403 for ever": async () => {
      const one = image("some-403");
      const bad = Array.from({ length: 6 }, (_, at) => `v${at}`);
      one.push("bad", { tags: bad });
      const good = one.push("good", { tags: ["v9"] });
      one.misbehave = ({ path, res }) => bad.some((name) => isOf(path, name)) && sendStatus(res, 403);
      const { state, message } = await mirrored("some-403");
      assert.equal(state, "SYNC_STATE_FAILED");
      assert.match(message, /^6 tags could not be copied: v\d \(.*, and 1 more$/);
      assert.equal(await tag("some-403", "v9"), good.digest, "the others are copied");
    },
    "a list with no tags": async () => {
      image("empty");
      const { state, message, tagsSeen } = await mirrored("empty");
      assert.deepEqual([state, message, tagsSeen], ["SYNC_STATE_SUCCEEDED", "the source lists no tags", 0]);
    },
    "a pattern that matches nothing": async () => {
      image("nothing").push("one", { tags: ["v1", "v2"] });
      const { state, message } = await mirrored("nothing", { tagPattern: "release-.*" });
      assert.equal(state, "SYNC_STATE_SUCCEEDED");
      assert.equal(message, "none of the source's 2 tags matches the tag pattern");
    },
    "200 with what is no list": async () => {
      const one = image("no-list");
      one.push("one", { tags: ["v1"] });
      one.misbehave = ({ path, res }) => path.startsWith("tags/list") && sendJson(res, { errors: [] });
      const { state, message } = await mirrored("no-list");
      assert.deepEqual([state, message], ["SYNC_STATE_FAILED", "the source answers without a list of tags"]);
    },
  };
  await Promise.all(Object.entries(work).map(([name, run]) => t.test(name, run)));

  // A turn is counted after its end is written, which is what was waited for.
  for (const line of [
    'moorage_mirror_failed_tags_total{failure="missing"} 2',
    'moorage_mirror_turns_total{outcome="empty"} 2',
  ])
    await eventually(async () => (await here.ask("GET", "/metrics")).text.split("\n").includes(line));
};

cases["a source whose referrers cannot be read is mirrored all the same, and that is said"] = async (
  t,
  { here, image, mirrored, tag, referrers },
) => {
  const html = "<html><body>Welcome</body></html>";
  const answers: Record<string, (request: { res: ServerResponse }) => boolean> = {
    401: ({ res }) => sendStatus(res, 401),
    403: ({ res }) => sendStatus(res, 403),
    429: ({ res }) => sendStatus(res, 429, { "retry-after": "7200" }),
    500: ({ res }) => sendStatus(res, 500),
    html: ({ res }) => {
      res.writeHead(200, { "content-type": "text/html" }).end(html);
      return true;
    },
    errors: ({ res }) => sendJson(res, { errors: [{ code: "DENIED" }] }),
  };
  await Promise.all(
    Object.entries(answers).map(([name, respond]) =>
      t.test(name, async () => {
        const source = image(`refs-${name}`);
        const { digest } = source.push("one", { tags: ["v1", "v2"] });
        source.misbehave = ({ path, res }) => path.startsWith("referrers/") && respond({ res });
        const { state, message } = await mirrored(`refs-${name}`);
        assert.equal(state, "SYNC_STATE_SUCCEEDED");
        assert.match(
          message,
          /^1 tag came without all that refers to them, such as signatures: v\d \(the source .+\)$/,
        );
        assert.deepEqual([await tag(`refs-${name}`, "v1"), await tag(`refs-${name}`, "v2")], [digest, digest]);
      }),
    ),
  );
  await Promise.all(
    [404, 405, 501].map(async (status) => {
      const source = image(`none-${status}`);
      const { digest } = source.push("one", { tags: ["v1"] });
      source.misbehave = ({ path, res }) => path.startsWith("referrers/") && sendStatus(res, status);
      const { state, message } = await mirrored(`none-${status}`);
      assert.deepEqual([state, message], ["SYNC_STATE_SUCCEEDED", ""], `no referrers API: ${status}`);
      assert.equal(await tag(`none-${status}`, "v1"), digest);
    }),
  );
  // A signature whose bytes do not come keeps no other signature, and no image, from coming.
  const source = image("signed");
  const { digest } = source.push("one", { tags: ["v1"] });
  const bad = source.push("bad signature", { subject: digest });
  const good = source.push("good signature", { subject: digest });
  source.blobs.delete(bad.layer);
  const { state, message } = await mirrored("signed");
  assert.equal(state, "SYNC_STATE_SUCCEEDED");
  assert.match(message, /v1 \(the source lacks a blob that a manifest names/);
  assert.deepEqual(await referrers("signed", digest), [good.digest]);
  assert.match((await here.ask("GET", "/metrics")).text, /moorage_mirror_failed_tags_total\{failure="referrers"\} 7/);
};

cases["lists end when nothing new comes, whatever their links say"] = async (_, { image, mirrored, tag }) => {
  const linkTo = (...targets: string[]): Record<string, string[]> => ({
    link: targets.map((target) => `<${target}>; rel="next"`),
  });
  const page = (path: string): number => Number(new URL(path, "http://x").searchParams.get("page") ?? "0");
  const links: Record<string, (path: string) => Record<string, string[]>> = {
    itself: (path) => linkTo(`/v2/team/itself/${path}`),
    ring: (path) => linkTo(`/v2/team/ring/tags/list?page=${(page(path) + 1) % 3}`),
    endless: (path) => linkTo(`/v2/team/endless/tags/list?page=${page(path) + 1}`),
  };
  await Promise.all(
    Object.entries(links).map(async ([name, link]) => {
      const source = image(name);
      const { digest } = source.push("one", { tags: ["v1", "v2"] });
      source.misbehave = ({ path, res }) =>
        path.startsWith("tags/list") && sendJson(res, { tags: ["v1", "v2"] }, link(path));
      const { state, message } = await mirrored(name);
      assert.deepEqual([await tag(name, "v1"), await tag(name, "v2")], [digest, digest], name);
      assert.ok(
        source.asked("GET tags/list").length <= 12,
        `${name}: ${source.asked("GET tags/list").length} requests`,
      );
      if (name === "endless") {
        assert.equal(state, "SYNC_STATE_FAILED");
        assert.equal(message, "the source's list of tags leads on, and brings nothing new");
      } else assert.deepEqual([state, message], ["SYNC_STATE_SUCCEEDED", ""], name);
    }),
  );
  const source = image("refs-ring");
  const { digest } = source.push("one", { tags: ["v1"] });
  const signature = source.push("signature", { subject: digest });
  source.misbehave = ({ path, res }) =>
    path.startsWith("referrers/") &&
    sendJson(
      res,
      { manifests: [{ digest: signature.digest }] },
      linkTo(`/v2/team/refs-ring/referrers/${digest}?page=${(page(path) + 1) % 2}`),
    );
  assert.deepEqual((await mirrored("refs-ring")).state, "SYNC_STATE_SUCCEEDED");
  assert.ok(source.asked("GET referrers/").length <= 6);
};

cases["every form of Link leads to the next page, and HEAD that is refused is followed by GET"] = async (
  _,
  { image, mirrored, tag },
) => {
  const last = "/v2/team/LINK/tags/list?last=v1,v2";
  const forms: Record<string, string | string[]> = {
    plain: `<${last}>; rel=next`,
    relative: `<?last=v1,v2>; rel="next"`,
    base: `<list?last=v1,v2>; rel="next"`,
    several: `</v2/team/LINK/tags/list>; rel="first", <${last}>; rel="next"`,
    headers: [`</v2/team/LINK/tags/list>; rel="first"`, `<${last}>; rel="next"`],
    quoted: `<${last}>; title="a, \\"b\\"; rel=prev"; REL="Last NEXT"`,
  };
  await Promise.all(
    Object.entries(forms).map(async ([name, form]) => {
      const source = image(name);
      const { digest } = source.push("one", { tags: ["v1", "v3"] });
      const link = [form].flat().map((text) => text.replaceAll("LINK", name));
      source.misbehave = ({ path, res }) =>
        path.startsWith("tags/list") &&
        (path.includes("last=v1,v2") ? sendJson(res, { tags: ["v3"] }) : sendJson(res, { tags: ["v1"] }, { link }));
      assert.deepEqual((await mirrored(name)).tagsSeen, 2, name);
      assert.equal(await tag(name, "v3"), digest);
    }),
  );
  await Promise.all(
    [403, 405, 501].map(async (status) => {
      const source = image(`head-${status}`);
      const { digest } = source.push("one", { tags: ["v1", "v2", "v3"] });
      source.misbehave = ({ method, res }) => method === "HEAD" && sendStatus(res, status);
      assert.deepEqual((await mirrored(`head-${status}`)).state, "SYNC_STATE_SUCCEEDED", String(status));
      assert.equal(await tag(`head-${status}`, "v3"), digest);
      assert.equal(source.asked("HEAD").length, 1, "a source that refuses HEAD is not asked by it again");
    }),
  );
};

cases["a digest under many tags is read once, and blobs need no Content-Length"] = async (
  _,
  { image, mirrored, tag },
) => {
  const source = image("many");
  const tags = Array.from({ length: 12 }, (_, at) => `v${at}`);
  // No other image of this source has that layer: it would be linked.
  const { digest, layer } = source.push("of many tags", { tags });
  const chunked = ({ path, res }: { path: string; res: ServerResponse }): boolean => {
    const blob = source.blobs.get(path.replace("blobs/", ""));
    if (blob === undefined) return false;
    // Without a length Node sends it chunked.
    res.write(blob.slice(0, 1));
    res.end(blob.slice(1));
    return true;
  };
  source.misbehave = chunked;
  const { state, message } = await mirrored("many");
  assert.deepEqual([state, message], ["SYNC_STATE_SUCCEEDED", ""]);
  for (const each of tags) assert.equal(await tag("many", each), digest, each);
  assert.deepEqual(
    [
      source.asked("HEAD manifests/v").length,
      source.asked("GET manifests/").length,
      source.asked("GET referrers").length,
    ],
    [12, 1, 1],
  );
  assert.equal(source.asked(`GET blobs/${layer}`).length, 1);

  const long = image("long");
  const image2 = long.push("two", { tags: ["v1"] });
  let sent = 0;
  long.misbehave = ({ path, res }) => {
    if (path !== `blobs/${image2.layer}`) return false;
    const timer = setInterval(() => {
      sent += 1;
      res.write("x".repeat(65_536));
    }, 1);
    res.on("close", () => clearInterval(timer));
    return true;
  };
  const endless = await mirrored("long");
  assert.equal(endless.state, "SYNC_STATE_FAILED");
  assert.match(endless.message, /v1 \(a blob of the source is longer than its manifest says\)/);
  assert.ok(sent > 0);
};
