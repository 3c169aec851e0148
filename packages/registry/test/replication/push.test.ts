// Images that a rule pushes to another Moorage: what is there before and what moves later, with all that belongs to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { digestOf, OCI_IMAGE, OCI_INDEX } from "../../../server/test/support/installation.ts";
import { startReplicas } from "../../../server/test/support/replication.ts";

const PATH = "/registry/v2/replications";

test("what is there is pushed, and what moves later; a tag that fails holds no other", async (t) => {
  const { here, there, front, rule, read, items, settled, digestThere } = await startReplicas(t);
  const one = await here.pushImage("acme/app", "1", "one");
  const bad = await here.pushImage("acme/bad", "1", "bad");
  await here.pushImage("acme/app", "other", "other");
  front.intercept = (req, res) => {
    if (!(req.url ?? "").startsWith("/v2/acme/copy/bad/")) return false;
    res.writeHead(500).end();
    return true;
  };
  const { uid } = await rule({ tagPattern: "[0-9]+" });
  assert.equal(await eventually(() => digestThere("app", "1")), one.digest);
  const failing = await eventually(async () => (await items(uid)).find(({ attempts }) => attempts > 0 && attempts));
  assert.ok(failing !== undefined);
  const waiting = await eventually(async () =>
    (await items(uid)).find(({ repository, message }) => repository === "bad" && message !== ""),
  );
  assert.match(waiting.message, /the destination answered 500 when asked for a manifest/);
  assert.equal(waiting.state, "REPLICATION_ITEM_STATE_PENDING");
  assert.ok(waiting.nextTime !== undefined);
  assert.match((await read(uid)).state.lastError, /^bad:1: the destination answered 500/);
  const two = await here.pushImage("acme/app", "2", "two");
  assert.equal(await eventually(() => digestThere("app", "2")), two.digest);
  front.intercept = () => false;
  await here.api("POST", `${PATH}/${uid}:run`, {});
  const done = await settled(uid);
  assert.equal(await digestThere("bad", "1"), bad.digest);
  assert.equal(await digestThere("app", "other"), undefined);
  const { lastSuccessTime, bytes, ...counts } = done.state;
  assert.deepEqual(counts, { pending: "0", running: "0", failed: "0", blocked: "0", lastError: "" });
  assert.ok(lastSuccessTime !== undefined && Number(bytes) > 0);
  const layer = await there.ask("GET", `/v2/acme/copy/app/blobs/${two.layer}`, { token: there.registry });
  assert.equal(layer.text, "layer two");
  // What both images have is sent once, and mounted where another repo has it.
  const third = await here.pushImage("acme/third", "1", "one");
  assert.equal(await eventually(() => digestThere("third", "1")), third.digest);
  await settled(uid);
  assert.equal((await items(uid)).find(({ repository }) => repository === "third")?.bytes, "0");
});

test("an index comes with its images, what refers to them, and signatures; what is attached later, too", async (t) => {
  const { here, there, rule, settled, digestThere } = await startReplicas(t);
  const children = [];
  for (const seed of ["amd64", "arm64"]) children.push(await here.pushImage("acme/multi", `at-${seed}`, seed));
  const manifests = children.map(({ digest, size }) => ({ mediaType: OCI_IMAGE, digest, size }));
  const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests };
  assert.equal((await here.pushManifest("acme/multi", "v1", index)).status, 201);
  const digest = digestOf(JSON.stringify(index));
  const config = {
    mediaType: "application/vnd.oci.empty.v1+json",
    digest: await here.pushBlob("acme/multi", "{}"),
    size: 2,
  };
  const attach = async (text: string, about: { digest: string; size: number }): Promise<string> => {
    const layers = [{ mediaType: "text/plain", digest: await here.pushBlob("acme/multi", text), size: text.length }];
    const subject = { mediaType: OCI_IMAGE, ...about };
    const manifest = { schemaVersion: 2, mediaType: OCI_IMAGE, artifactType: "text/plain", config, layers, subject };
    const its = digestOf(JSON.stringify(manifest));
    assert.equal((await here.pushManifest("acme/multi", its, manifest)).status, 201);
    return its;
  };
  const about = { digest, size: JSON.stringify(index).length };
  const first = await attach("a bill of materials", about);
  const signature = `${digest.replace(":", "-")}.sig`;
  const signed = await here.pushImage("acme/multi", signature, "a signature");
  const { uid } = await rule({ tagPattern: "v1" });
  assert.equal(await eventually(() => digestThere("multi", "v1")), digest);
  await settled(uid);
  assert.equal(await digestThere("multi", signature), signed.digest);
  for (const child of children) assert.equal(await digestThere("multi", child.digest), child.digest);
  assert.equal(await digestThere("multi", "at-amd64"), undefined);
  const referrers = async (): Promise<string[]> => {
    const target = `/v2/acme/copy/multi/referrers/${digest}`;
    const { text } = await there.ask("GET", target, { token: there.registry });
    return (JSON.parse(text) as { manifests: { digest: string }[] }).manifests.map((each) => each.digest);
  };
  assert.deepEqual(await referrers(), [first]);
  const later = await attach("another one", about);
  await eventually(async () => (await referrers()).includes(later));
});

test("a tag there that the rule did not push is blocked, and overwritten only where the rule says so", async (t) => {
  const { here, there, rule, items, settled, digestThere } = await startReplicas(t);
  const theirs = await there.pushImage("acme/copy/app", "1", "theirs");
  const ours = await here.pushImage("acme/app", "1", "ours");
  const same = await there.pushImage("acme/copy/app", "2", "same");
  await here.pushImage("acme/app", "2", "same");
  const { uid } = await rule();
  const { state } = await eventually(async () => {
    const now = await settled(uid);
    return now.state.blocked !== "0" && now;
  });
  assert.equal(state.blocked, "1");
  assert.match(
    state.lastError,
    /^app:1: the destination's tag points to sha256:.*, which the replication did not push/,
  );
  assert.equal(await digestThere("app", "1"), theirs.digest);
  assert.equal(await digestThere("app", "2"), same.digest);
  await here.api("PATCH", `${PATH}/${uid}`, { onConflict: "REPLICATION_CONFLICT_OVERWRITE" });
  await here.api("POST", `${PATH}/${uid}:run`, {});
  await eventually(async () => (await digestThere("app", "1")) === ours.digest);
  await settled(uid);
  // From now on it is ours.
  await here.api("PATCH", `${PATH}/${uid}`, { onConflict: "REPLICATION_CONFLICT_STOP" });
  const next = await here.pushImage("acme/app", "1", "next");
  await eventually(async () => (await digestThere("app", "1")) === next.digest);
  await settled(uid);
  assert.deepEqual(
    (await items(uid)).map(({ tag, state: each }) => [tag, each]),
    [
      ["1", "REPLICATION_ITEM_STATE_DONE"],
      ["2", "REPLICATION_ITEM_STATE_DONE"],
    ],
  );
});

test("deletions are followed only where the rule says so, and never over a tenth without force", async (t) => {
  const { here, rule, items, settled, digestThere } = await startReplicas(t);
  for (let n = 0; n < 12; n += 1) await here.pushImage("acme/app", `t${n}`, "one");
  const { uid } = await rule();
  await eventually(async () => (await items(uid)).length === 12);
  await settled(uid);
  const remove = async (tag: string): Promise<void> => {
    const { status } = await here.ask("DELETE", `/v2/acme/app/manifests/${tag}`, { token: here.registry });
    assert.equal(status, 202);
  };
  await remove("t0");
  await eventually(async () =>
    (await items(uid)).some(({ message }) => message === "deleted here; the destination keeps it"),
  );
  assert.ok((await digestThere("app", "t0")) !== undefined);
  await here.api("PATCH", `${PATH}/${uid}`, { deletions: "REPLICATION_DELETIONS_FOLLOW" });
  await remove("t1");
  const blocked = await eventually(async () =>
    (await items(uid)).find(({ tag, digest }) => tag === "t1" && digest === ""),
  );
  assert.ok(
    ["REPLICATION_ITEM_STATE_BLOCKED", "REPLICATION_ITEM_STATE_PENDING"].includes(blocked.state),
    blocked.state,
  );
  await remove("t2");
  await remove("t3");
  const { message } = await eventually(async () =>
    (await items(uid)).find(({ state }) => state === "REPLICATION_ITEM_STATE_BLOCKED"),
  );
  assert.match(message, /^\d+ of 12 tags would be deleted there, more than a tenth/);
  assert.ok((await digestThere("app", "t3")) !== undefined);
  await here.api("POST", `${PATH}/${uid}:run`, { force: true });
  await eventually(async () => (await digestThere("app", "t3")) === undefined);
  await eventually(async () => (await digestThere("app", "t2")) === undefined);
  assert.ok((await digestThere("app", "t4")) !== undefined);
});

test("a rule that matches nothing says so, and one whose destination refuses the credentials", async (t) => {
  const { here, rule, read, items } = await startReplicas(t);
  const { uid } = await rule({ tagPattern: "v[0-9]+" });
  const { state } = await eventually(async () => {
    const now = await read(uid);
    return now.state.lastError !== "" && now;
  });
  assert.match(state.lastError, /^no tag below the group matches/);
  assert.equal(state.lastSuccessTime, undefined);
  await here.pushImage("acme/app", "v1", "one");
  await eventually(async () => (await read(uid)).state.lastSuccessTime);
  await eventually(async () => (await read(uid)).state.lastError === "");
  const { uid: other } = await rule({ name: "other", password: "wrong" });
  const item = await eventually(async () => (await items(other)).find(({ message }) => message !== ""));
  assert.match(item.message, /the destination.*(?:401|403|refused)/);
});
