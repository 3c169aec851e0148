import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import test, { type TestContext } from "node:test";
import { systemClock } from "@moorage/kernel/lib/clock";
import { openStreamClient } from "@moorage/kernel/lib/stream-client";
import { openUpstream, type Upstream } from "./registry-client.ts";

// Registries differ where the specification lets them, and some do not comply with it.

const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
// Never aborted: the client has timeouts of its own.
const SIGNAL = new AbortController().signal;

/** A registry whose answers the test gives, by path and query. */
async function registry(
  t: TestContext,
  answer: (target: string, res: ServerResponse, req: IncomingMessage) => unknown,
  options: { listTimeoutMs?: number } = {},
): Promise<Upstream> {
  const server = createServer((req, res) => void answer((req.url ?? "").replace("/v2/team/app", ""), res, req));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = openStreamClient({
    allowPrivateNetwork: true,
    connections: 2,
    connectTimeoutMs: 30_000,
    headTimeoutMs: 30_000,
    silenceTimeoutMs: 30_000,
  });
  t.after(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return openUpstream({
    client,
    clock: systemClock,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    name: "team/app",
    credentials: { username: "", password: "" },
    retryPolicy: { retries: 0, maxWaitMs: 0 },
    maxManifestBytes: 10_000,
    ...options,
  });
}

async function allTags(upstream: Upstream): Promise<string[]> {
  const found: string[] = [];
  for await (const page of upstream.tags(SIGNAL)) found.push(...page);
  return found;
}

const json = (res: ServerResponse, body: object, headers: Record<string, string> = {}): unknown =>
  res.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `t${String(from + at).padStart(5, "0")}`);

test("tags are listed to the end: by Link, by the last name, and in one page", async (t) => {
  const all = numbered(0, 2_100);
  const after = (target: string): string[] =>
    all.filter((tag) => tag > (new URL(target, "http://x").searchParams.get("last") ?? "")).slice(0, 1_000);
  const linked = await registry(t, (target, res) => {
    const tags = after(target);
    const more: Record<string, string> =
      tags.at(-1) === all.at(-1) ? {} : { link: `</v2/team/app/tags/list?n=1000&last=${tags.at(-1)}>; rel="next"` };
    return json(res, { tags }, more);
  });
  assert.deepEqual(await allTags(linked), all);
  assert.deepEqual(
    await allTags(await registry(t, (target, res) => json(res, { tags: after(target) }))),
    all,
    "no Link, full pages",
  );
  assert.deepEqual(await allTags(await registry(t, (_, res) => json(res, { tags: all }))), all, "n is not looked at");
  assert.deepEqual(await allTags(await registry(t, (_, res) => json(res, { tags: null }))), []);
  assert.deepEqual(
    await allTags(await registry(t, (_, res) => json(res, { tags: ["v1", "../v2", 3, "v 3", "x".repeat(129)] }))),
    ["v1", "../v2", "(not text)", "v 3", "x".repeat(129)],
    "names that no tag may have are for the caller to judge",
  );
  const thousand = numbered(0, 1_000);
  assert.deepEqual(
    await allTags(await registry(t, (_, res) => json(res, { tags: thousand }))),
    [...thousand, ...thousand],
    "a registry that repeats one page does not loop for ever",
  );
});

test("a list that leads elsewhere, never ends, or is no list is an error", async (t) => {
  const kind = { kind: "wrong" };
  for (const link of ["<http://127.0.0.1:1/v2/team/app/tags/list>", "</v2/other/app/tags/list>"]) {
    await assert.rejects(
      allTags(await registry(t, (_, res) => json(res, { tags: [] }, { link: `${link}; rel="next"` }))),
      kind,
      link,
    );
  }
  await assert.rejects(
    allTags(
      await registry(t, (_, res) =>
        json(res, { tags: numbered(0, 1_000) }, { link: '</v2/team/app/tags/list?n=1000>; rel="next"' }),
      ),
    ),
    kind,
  );
  await assert.rejects(allTags(await registry(t, (_, res) => res.writeHead(404).end())), {
    kind: "wrong",
    message: "the source has no such image",
  });
  for (const body of ["", "[]", "nothing", "[".repeat(100_000)])
    await assert.rejects(allTags(await registry(t, (_, res) => res.end(body))), kind, body.slice(0, 9));
});

test("a manifest must have the digest that was asked for or stated, and a supported type", async (t) => {
  const body = JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: { mediaType: "application/x", digest: digestOf("{}"), size: 2 },
    layers: [],
  });
  const serve = (headers: Record<string, string>, text = body) =>
    registry(t, (_, res) => res.writeHead(200, headers).end(text));
  const good = await serve({ "content-type": OCI_MANIFEST });
  assert.equal((await good.manifest("v1", SIGNAL))?.digest, digestOf(body));
  assert.equal((await good.manifest(digestOf(body), SIGNAL))?.manifest.mediaType, OCI_MANIFEST);
  assert.equal(
    (await good.resolve("v1", SIGNAL))?.digest,
    digestOf(body),
    "a HEAD without a digest is followed by a GET",
  );
  await assert.rejects(good.manifest(digestOf("other"), SIGNAL), { kind: "wrong" });
  await assert.rejects(
    (await serve({ "content-type": OCI_MANIFEST, "docker-content-digest": digestOf("other") })).manifest("v1", SIGNAL),
    { kind: "wrong" },
  );
  assert.equal(
    (await (await serve({ "content-type": "application/json" })).manifest("v1", SIGNAL))?.digest,
    digestOf(body),
  );
  await assert.rejects(
    (await serve({ "content-type": "application/vnd.docker.distribution.manifest.v1+prettyjws" }, "{}")).manifest(
      "v1",
      SIGNAL,
    ),
    { kind: "wrong" },
  );
  await assert.rejects((await serve({ "content-type": OCI_MANIFEST }, "x".repeat(10_001))).manifest("v1", SIGNAL), {
    kind: "refused",
  });
  assert.equal(await (await registry(t, (_, res) => res.writeHead(404).end())).manifest("v1", SIGNAL), undefined);
});

test("referrers are read from the API, or from the referrers tag; without either there are none", async (t) => {
  const [subject, one, two] = [digestOf("subject"), digestOf("one"), digestOf("two")];
  const index = (...digests: string[]) => ({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: digests.map((digest) => ({ mediaType: OCI_MANIFEST, digest, size: 1 })),
  });
  const paged = await registry(t, (target, res) =>
    target.includes("last=")
      ? json(res, index(two))
      : json(res, index(one), { link: `</v2/team/app/referrers/${subject}?last=x>; rel="next"` }),
  );
  assert.deepEqual(await paged.referrers(subject, SIGNAL), { digests: [one, two] });
  const tagged = await registry(t, (target, res) =>
    target === `/manifests/${subject.replace(":", "-")}`
      ? json(res, index(two, two), { "content-type": OCI_INDEX })
      : res.writeHead(404).end(),
  );
  assert.deepEqual(await tagged.referrers(subject, SIGNAL), { digests: [two] });
  const without = await registry(t, (_, res) => res.writeHead(404).end());
  assert.deepEqual(await without.referrers(subject, SIGNAL), { digests: [] });
  const failing = await registry(t, (target, res) =>
    target.includes("last=")
      ? res.writeHead(500).end()
      : json(res, index(one), { link: `</v2/team/app/referrers/${subject}?last=x>; rel="next"` }),
  );
  const { digests, problem } = await failing.referrers(subject, SIGNAL);
  assert.deepEqual([digests, problem?.message], [[one], "the source answered 500"], "what came before is not lost");
});

test("a blob is requested from an offset, and the result states the offset that the registry sends from", async (t) => {
  const content = "0123456789";
  const ranged = await registry(t, (_, res, req) => {
    const start = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? "")?.[1] ?? 0);
    return res
      .writeHead(start > 0 ? 206 : 200, {
        "content-length": content.length - start,
        ...(start > 0 && { "content-range": `bytes ${start}-9/10` }),
      })
      .end(content.slice(start));
  });
  for (const offset of [0, 4]) {
    const blob = await ranged.blob(digestOf(content), offset, SIGNAL);
    assert.deepEqual([blob?.offset, blob?.size], [offset, 10]);
    blob?.discard();
  }
  assert.equal(await ranged.blobSize(digestOf(content), undefined, SIGNAL), 10);
  const whole = await registry(t, (_, res) => res.writeHead(200, { "content-length": 10 }).end(content));
  const blob = await whole.blob(digestOf(content), 4, SIGNAL);
  assert.deepEqual([blob?.offset, blob?.size], [0, 10], "one that knows no ranges begins again");
  blob?.discard();
  const chunked = await registry(t, (_, res) => void (res.write("0"), res.end(content.slice(1))));
  const unsized = await chunked.blob(digestOf(content), 0, SIGNAL);
  assert.deepEqual([unsized?.offset, unsized?.size], [0, undefined], "one that does not say the size");
  unsized?.discard();
  assert.equal(await chunked.blobSize(digestOf(content), 10, SIGNAL), 10);
  await assert.rejects(chunked.blobSize(digestOf(content), undefined, SIGNAL), { kind: "wrong" });
  const headless = await registry(t, (_, res, req) =>
    req.method === "HEAD" ? res.writeHead(405).end() : res.writeHead(200, { "content-length": 10 }).end(content),
  );
  assert.equal(await headless.blobSize(digestOf(content), undefined, SIGNAL), 10);
});

test("a list that takes too long ends with an error", async (t) => {
  let page = 0;
  const slow = await registry(
    t,
    (_, res) => {
      page += 1;
      const link = `</v2/team/app/tags/list?page=${page}>; rel="next"`;
      setTimeout(() => json(res, { tags: [`v${page}`] }, { link }), 10);
    },
    { listTimeoutMs: 200 },
  );
  await assert.rejects(allTags(slow), { kind: "wrong", message: /^a list of the source takes longer than/ });
});
