import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf, type Installation, OCI_IMAGE, OCI_INDEX } from "../../../server/test/support/installation.ts";
import { type Pair, startPair } from "../../../server/test/support/mirror.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Repos that fetch missing content when it is pulled. Scheduled runs play no part here: they are due long after the
// test, or fail immediately.

/** Makes a repo that is pulled through, and waits for its first run. Returns its uid. */
async function through(pair: Pair, change: object = {}): Promise<string> {
  await pair.upstream.pushImage("acme/app", "first", "first");
  const uid = await pair.mirror("copy", pair.configOf("app", { pullThrough: true, ...change }));
  assert.equal((await pair.copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  pair.front.seen.length = 0;
  return uid;
}

const pull = (here: Installation, path: string, token = here.registry, method = "GET") =>
  here.ask(method, `/v2/acme/copy/${path}`, { token });
/** The number of authorized GET requests to the source whose path has the part. */
const asked = ({ front }: Pair, part: string): number =>
  front.seen.filter(
    ({ method, path, authorization }) => method === "GET" && path.includes(part) && authorization !== undefined,
  ).length;

test("a missing tag is served from the source, byte for byte, and copied with all that belongs to it", async (t) => {
  const pair = await startPair(t);
  const { upstream, here } = pair;
  await through(pair);
  const arms = await Promise.all(
    ["amd64", "arm64"].map((architecture) =>
      upstream.pushImage("acme/app", architecture, architecture, { architecture }),
    ),
  );
  const index = {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: arms.map(({ digest, size }) => ({ mediaType: OCI_IMAGE, digest, size })),
  };
  await upstream.pushManifest("acme/app", "v1", index);

  const head = await pull(here, "manifests/v1", here.registry, "HEAD");
  assert.deepEqual(
    [head.status, head.headers.get("content-type"), head.headers.get("docker-content-digest")],
    [200, OCI_INDEX, digestOf(JSON.stringify(index))],
  );
  const got = await pull(here, "manifests/v1");
  assert.deepEqual([got.status, got.text], [200, JSON.stringify(index)]);
  const arm = arms[1];
  assert.equal(digestOf((await pull(here, `manifests/${arm?.digest}`)).text), arm?.digest);
  const layer = await pull(here, `blobs/${arm?.layer}`);
  assert.deepEqual([digestOf(layer.text), layer.headers.get("docker-content-digest")], [arm?.layer, arm?.layer]);

  const { history } = await eventually(async () => {
    const { status, json } = await pull(here, "_service/history/v1");
    return status === 200 && json;
  });
  assert.deepEqual(
    history.map(({ digest }) => digest),
    [digestOf(JSON.stringify(index))],
  );
  pair.front.intercept = (_, res) => {
    res.destroy();
    return true;
  };
  for (const path of [
    "manifests/v1",
    ...arms.flatMap(({ digest, layer: one, config }) => [`manifests/${digest}`, `blobs/${one}`, `blobs/${config}`]),
  ]) {
    assert.equal((await pull(here, path)).status, 200, `${path} is served from here while the source is away`);
  }
});

test("without the setting, for tags that are not followed, and for what the source lacks, the answer is 404", async (t) => {
  const pair = await startPair(t);
  const { upstream, here, front } = pair;
  const uid = await through(pair, { tagPattern: "v.*" });
  await upstream.pushImage("acme/app", "edge", "edge");
  const nothing = `sha256:${"0".repeat(64)}`;
  assert.deepEqual([(await pull(here, "manifests/edge")).status, asked(pair, "/manifests/edge")], [404, 0]);
  assert.equal((await pull(here, "manifests/v1--at--20260101T000000Z")).status, 404);
  for (let time = 0; time < 3; time += 1) {
    for (const path of ["manifests/v0", `manifests/${nothing}`, `blobs/${nothing}`])
      assert.equal((await pull(here, path)).status, 404, path);
  }
  assert.deepEqual(
    ["/manifests/v0", `/manifests/${nothing}`, `/blobs/${nothing}`].map((path) => asked(pair, path)),
    [1, 1, 1],
    "asked for once",
  );
  const config = pair.configOf("app", { pullThrough: false });
  await here.api("PATCH", `/registry/v2/repos/${uid}`, { syncConfig: config });
  await pair.copied(uid);
  const one = await upstream.pushImage("acme/app", "v1", "one");
  front.seen.length = 0;
  assert.deepEqual(
    [(await pull(here, "manifests/v1")).status, (await pull(here, `blobs/${one.layer}`)).status, front.seen.length],
    [404, 404, 0],
  );
});

test("a caller who may not pull gets nothing, and the source is not asked", async (t) => {
  const pair = await startPair(t);
  const { upstream, here, front } = pair;
  await through(pair);
  const one = await upstream.pushImage("acme/app", "v1", "one");
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, {
    name: "elsewhere",
  });
  const { identity } = await here.addIdentity(group, "stranger", "owner");
  const stranger = await here.tokenFor("registry", identity);
  const { token: nobody } = await here.grantsOf(["repository:acme/copy:pull"]);
  for (const token of [stranger, nobody]) {
    for (const path of ["manifests/v1", `manifests/${one.digest}`, `blobs/${one.layer}`])
      assert.equal((await pull(here, path, token)).status, 403, path);
  }
  assert.equal((await here.ask("GET", "/v2/acme/copy/manifests/v1")).status, 401);
  assert.deepEqual(front.seen, []);
});

test("anonymous callers may pull what is public here and nothing else of the source", async (t) => {
  const pair = await startPair(t);
  const { upstream, here, front } = pair;
  const latest = await upstream.pushImage("acme/app", "latest", "latest");
  const { uid } = await here.api("POST", `/registry/v2/repos/${here.bootstrap.publicOrganization.uid}`, {
    name: "copy",
    syncConfig: pair.configOf("app", { pullThrough: true }),
  });
  await pair.copied(uid);
  const hidden = await upstream.pushImage("acme/app", "v2", "two");
  front.seen.length = 0;
  const { token } = await here.grantsOf(["repository:public/copy:pull"]);
  const get = async (path: string): Promise<number> =>
    (await here.ask("GET", `/v2/public/copy/${path}`, { token })).status;
  assert.deepEqual([await get("manifests/latest"), await get(`blobs/${latest.layer}`)], [200, 200]);
  assert.deepEqual(
    [await get("manifests/v2"), await get(`manifests/${hidden.digest}`), await get(`blobs/${hidden.layer}`)],
    [403, 403, 403],
  );
  assert.deepEqual(front.seen, []);
});

test("while a source is unreachable or asks to wait, missing content is answered quickly with 503 and Retry-After", async (t) => {
  const pair = await startPair(t);
  const { upstream, here, front } = pair;
  await through(pair);
  const one = await upstream.pushImage("acme/app", "v1", "one");
  let status = 503;
  let count = 0;
  front.intercept = (_, res) => {
    count += 1;
    res.writeHead(status, status === 429 ? { "retry-after": "120" } : {}).end();
    return true;
  };
  for (let time = 0; time < 5; time += 1) {
    for (const path of ["manifests/v1", `blobs/${one.layer}`]) {
      const answer = await pull(here, path);
      assert.deepEqual([answer.status, answer.json.errors[0]?.code], [503, "UNKNOWN"], path);
      assert.ok(Number(answer.headers.get("retry-after")) >= 1);
      assert.match(answer.text, /cannot be fetched: the source answered 503/);
    }
  }
  assert.ok(count <= 4, `it is not asked every time: ${count}`);
  assert.equal((await pull(here, "manifests/first")).status, 200);
  // With another configuration the remembered errors no longer apply.
  status = 429;
  const { uid } = await here.api("POST", `/registry/v2/repos/${here.bootstrap.organization.uid}`, {
    name: "other",
    syncConfig: pair.configOf("app", { pullThrough: true }),
  });
  const limited = await here.ask("GET", "/v2/acme/other/manifests/v1", { token: here.registry });
  assert.deepEqual([limited.status, limited.headers.get("retry-after")], [503, "120"]);
  await here.api("DELETE", `/registry/v2/repos/${uid}`);
});

test("clients that pull the same large blob share one download; one that disconnects stops no other", async (t) => {
  const pair = await startPair(t);
  const { upstream, here } = pair;
  await through(pair);
  const large = "y".repeat(3 << 20);
  const image = await upstream.pushImage("acme/app", "v1", large);
  const path = `/v2/acme/copy/blobs/${image.layer}`;
  const leaving = new AbortController();
  const left = fetch(here.url + path, { headers: { authorization: `Bearer ${here.registry}` }, signal: leaving.signal })
    .then(async (answer) => {
      await answer.body?.getReader().read();
      leaving.abort();
    })
    .catch(() => undefined);
  const answers = await Promise.all(Array.from({ length: 6 }, () => pull(here, `blobs/${image.layer}`)));
  await left;
  assert.deepEqual(
    answers.map(({ status, text }) => [status, digestOf(text)]),
    answers.map(() => [200, image.layer]),
  );
  assert.equal(asked(pair, image.layer), 1);
  const head = await pull(here, `blobs/${image.config}`, here.registry, "HEAD");
  assert.deepEqual([head.status, Number(head.headers.get("content-length")) > 0], [200, true]);
});

test("bytes that do not match the digest never make a complete answer, and are not stored", async (t) => {
  const pair = await startPair(t);
  const { upstream, here, front } = pair;
  await through(pair);
  const image = await upstream.pushImage("acme/app", "v1", "z".repeat(1 << 20));
  front.replace = (req, answer, res) => {
    if (answer.statusCode !== 200 || (!req.url?.endsWith(image.layer) && !req.url?.endsWith(image.digest)))
      return false;
    answer.resume();
    const length = Number(answer.headers["content-length"]);
    res.writeHead(200, { "content-length": length, "content-type": OCI_IMAGE }).end("?".repeat(length));
    return true;
  };
  await assert.rejects(pull(here, `blobs/${image.layer}`), "the transfer breaks off before its end");
  assert.equal((await pull(here, `manifests/${image.digest}`)).status, 503);
  front.replace = () => false;
  const right = await eventually(async () => {
    const answer = await pull(here, `blobs/${image.layer}`);
    return answer.status === 200 && answer;
  });
  assert.equal(digestOf(right.text), image.layer);
});

test("what is attached to an image comes along, by referrers and by cosign's tags, whatever the pattern says", async (t) => {
  const pair = await startPair(t);
  const { upstream, here } = pair;
  await through(pair, { tagPattern: "v.*|first" });
  const image = await upstream.pushImage("acme/app", "v1", "one");
  const empty = await upstream.pushBlob("acme/app", "{}");
  const referrer = {
    schemaVersion: 2,
    mediaType: OCI_IMAGE,
    artifactType: "application/vnd.example.signature",
    config: { mediaType: "application/vnd.oci.empty.v1+json", digest: empty, size: 2 },
    layers: [],
    subject: { mediaType: OCI_IMAGE, digest: image.digest, size: image.size },
  };
  const referrerDigest = digestOf(JSON.stringify(referrer));
  await upstream.pushManifest("acme/app", referrerDigest, referrer);
  const base = image.digest.replace(":", "-");
  for (const end of ["sig", "att"]) await upstream.pushImage("acme/app", `${base}.${end}`, end);
  const later = await upstream.pushImage("acme/app", "v2", "two");
  const asleep = `${later.digest.replace(":", "-")}.sig`;
  await upstream.pushImage("acme/app", asleep, "later signature");

  assert.equal((await pull(here, "manifests/v1")).status, 200);
  assert.equal((await pull(here, `manifests/${asleep}`)).status, 200, "a client that verifies asks for it directly");
  const listed = await eventually(async () => {
    const { tags } = (await pull(here, "tags/list")).json as unknown as { tags: string[] };
    return [`${base}.sig`, `${base}.att`, asleep].every((tag) => tags.includes(tag)) && tags;
  });
  assert.ok(listed.includes("v1") && !listed.includes(`${base}.sbom`));
  const { manifests } = (await pull(here, `referrers/${image.digest}`)).json as unknown as {
    manifests: { digest: string }[];
  };
  assert.deepEqual(
    manifests.map(({ digest }) => digest),
    [referrerDigest],
  );
});

test("a blob of unknown length is served where its manifest says the length, and never cut short", async (t) => {
  const pair = await startPair(t);
  const { upstream, here, front } = pair;
  await through(pair);
  const whole = await upstream.pushImage("acme/app", "v1", "a".repeat(200_000));
  const short = await upstream.pushImage("acme/app", "v2", "b".repeat(200_000));
  front.replace = (req, answer, res) => {
    const isShort = req.url?.endsWith(short.layer) === true;
    if (answer.statusCode !== 200 || req.method !== "GET" || (!isShort && !req.url?.endsWith(whole.layer)))
      return false;
    // Without a length Node sends it chunked.
    if (!isShort) answer.pipe(res.writeHead(200));
    else {
      answer.resume();
      res.writeHead(200).end("b".repeat(100_000));
    }
    return true;
  };
  for (const tag of ["v1", "v2"]) assert.equal((await pull(here, `manifests/${tag}`)).status, 200);
  assert.equal(digestOf((await pull(here, `blobs/${whole.layer}`)).text), whole.layer);
  await assert.rejects(pull(here, `blobs/${short.layer}`), "the transfer breaks off before its end");
});
