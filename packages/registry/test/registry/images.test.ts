import assert from "node:assert/strict";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { digestOf, OCI_IMAGE, OCI_INDEX, startRegistry } from "../../../server/test/support/registry-server.ts";
import { forgetStatements, statementsRun, statementsSoFar } from "../../../server/test/support/statements.ts";

// What the methods that walk an index cost, counted in statements.

const MOST = 1000;

interface Entry {
  digest: string;
  size: number;
}

async function start(t: TestContext) {
  const registry = await startRegistry(t);
  const { ask, baseUrl, db, mint, owner, pushBlob, pushManifest } = registry;
  const pushImage = async (config: object): Promise<Entry> => {
    const text = JSON.stringify(config);
    const digest = await pushBlob("acme/app", text);
    const { body } = await registry.image("acme/app", "one", {
      config: { mediaType: "application/vnd.oci.image.config.v1+json", digest, size: text.length },
    });
    const answer = await pushManifest("acme/app", digestOf(body), body);
    assert.equal(answer.status, 201, answer.text);
    return { digest: digestOf(body), size: body.length };
  };
  /** Pushes an index without platforms, so that the architectures are those of the images. */
  const pushIndex = async (entries: Entry[]): Promise<string> => {
    const manifests = entries.map((entry) => ({ mediaType: OCI_IMAGE, ...entry }));
    const text = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
    const answer = await pushManifest("acme/app", digestOf(text), text);
    assert.equal(answer.status, 201, answer.text);
    return digestOf(text);
  };
  /** Stores so many copies of the image under other digests, past the registry. */
  const multiply = async ({ digest }: Entry, count: number): Promise<Entry[]> => {
    const row = await db.selectFrom("manifests").selectAll().where("digest", "=", digest).executeTakeFirstOrThrow();
    const rows = Array.from({ length: count }, (_, at) => ({ ...row, digest: digestOf(`copy ${at}`) }));
    for (let at = 0; at < count; at += 500)
      await db
        .insertInto("manifests")
        .values(rows.slice(at, at + 500))
        .execute();
    return rows.map((each) => ({ digest: each.digest, size: Number(each.size) }));
  };
  /** Makes the manifests look as those pushed before their architecture was stored. */
  const age = (): Promise<unknown> =>
    db.updateTable("manifests").set({ architecture: null, image_size: null }).execute();
  const image = await pushImage({ architecture: "amd64", os: "linux" });
  const uid = await registry.repoUid("app");
  const path = (digest: string, method: string): string => `/registry/v2/repos/${uid}/digests/${digest}/${method}`;
  // With a token of its own for each request, none is answered from the response cache.
  const token = (): Promise<string> => mint(owner, { audiences: [baseUrl] });
  const look = async (digest: string, method: string) => ask(path(digest, method), { token: await token() });
  const architectures = async (digest: string): Promise<string[]> =>
    (JSON.parse((await look(digest, "architectures")).text) as { architectures: string[] }).architectures;
  const size = async (digest: string, query = ""): Promise<string> =>
    (JSON.parse((await look(digest, `size${query}`)).text) as { size: string }).size;
  return { ...registry, age, architectures, image, look, multiply, path, pushImage, pushIndex, size, token };
}

test("an index that names one image many times is read once", async (t) => {
  const { age, architectures, image, pushIndex, size } = await start(t);
  const digest = await pushIndex(Array<Entry>(300).fill(image));
  const expected = await size(image.digest);
  for (const kind of ["new", "old"]) {
    if (kind === "old") await age();
    const statements = await statementsRun(async () => {
      assert.deepEqual(await architectures(digest), ["amd64"]);
      assert.equal(await size(digest), expected);
    });
    assert.ok(statements.length < 50, `${kind}: ${statements.length} statements`);
  }
});

test("what a push stored answers for an index without a read of its images", async (t) => {
  const { architectures, image, multiply, pushIndex } = await start(t);
  const digest = await pushIndex(await multiply(image, 900));
  const statements = await statementsRun(async () => {
    assert.deepEqual(await architectures(digest), ["amd64"]);
  });
  assert.ok(statements.length < 30, `${statements.length} statements`);
});

test("images stored before their architecture was are read, and a repeated push stores it", async (t) => {
  const { age, architectures, db, image, pushImage, pushIndex, size } = await start(t);
  const arm = { architecture: "arm", variant: "v7", os: "linux" };
  const other = await pushImage(arm);
  const nameless = await pushImage({ os: "linux" });
  const digest = await pushIndex([image, other, nameless]);
  const answers = async () => [await architectures(digest), await size(digest, "?architecture=arm")];
  const before = await answers();
  assert.deepEqual(before[0], ["amd64", "arm/v7"]);
  await age();
  assert.deepEqual(await answers(), before);
  await pushImage(arm);
  const stored = await db
    .selectFrom("manifests")
    .select(["digest", "architecture"])
    .where("architecture", "is not", null)
    .execute();
  assert.deepEqual(
    stored.map((row) => [row.digest, row.architecture]),
    [[other.digest, "arm/v7"]],
  );
  assert.deepEqual(await answers(), before);
});

test("an index of too many images is rejected", async (t) => {
  const { architectures, image, look, multiply, pushIndex } = await start(t);
  const images = await multiply(image, MOST + 1);
  assert.deepEqual(await architectures(await pushIndex(images.slice(0, MOST))), ["amd64"]);
  const tooMany = await pushIndex(images);
  for (const method of ["architectures", "size"]) {
    const { status, text } = await look(tooMany, method);
    assert.equal(status, 400, text);
    assert.match(text, /Invalid argument: digest: names more than 1000 images/);
  }
});

test("the work ends when the caller leaves", async (t) => {
  const { age, baseUrl, image, multiply, path, pushIndex, token } = await start(t);
  const digest = await pushIndex(await multiply(image, MOST));
  await age();
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  const head = `GET ${path(digest, "architectures")} HTTP/1.1\r\nhost: ${hostname}`;
  const bearer = await token();
  forgetStatements();
  socket.write(`${head}\r\nauthorization: Bearer ${bearer}\r\n\r\n`);
  const reads = (): number => statementsSoFar().filter(({ text }) => /content.*manifests/.test(text)).length;
  while (reads() < 20) await setImmediate();
  socket.destroy();
  // Until nothing more is read for a while.
  let seen = -1;
  for (let still = 0; still < 300;) {
    await setImmediate();
    still = reads() === seen ? still + 1 : 0;
    seen = reads();
  }
  assert.ok(seen < MOST / 2, `${seen} images were read`);
});
