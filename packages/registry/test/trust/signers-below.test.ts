// What signers and signatures are below: groups, repos, the rows of the database.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FaultyRow } from "../../../kernel/src/core/row-check.ts";
import { select } from "../../../kernel/src/store/index.ts";
import { TRUST_CHECKS } from "../../src/trust/checks.ts";
import { READING_STATE } from "../../src/trust/command-options.ts";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  cosignLayer,
  cosignPayload,
  listSignatures,
  newKey,
  newSigner,
  pushCosign,
  short,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

test("a group with signers is not deleted, and who may push neither makes nor changes one", async () => {
  const { uid: group } = await platform.group(platform.organization, { name: "signed" });
  const signer = await newSigner(platform, group, "release", [newKey()]);
  const token = await platform.token();
  const kept = await platform.call("DELETE", `/iam/v2/groups/${group}`, { token });
  assert.deepEqual([kept.status, /signers/.test(kept.text)], [400, true], kept.text);
  const pushersToken = await platform.token(await platform.identity(platform.organization, "editor"));
  const attempts = [
    ["POST", `/registry/v2/signers/${group}`, { name: "mine", keys: [{ pem: newKey().pem }] }],
    ["PATCH", `/registry/v2/signers/${signer}?updateMask=keys`, { keys: [{ pem: newKey().pem }] }],
    ["DELETE", `/registry/v2/signers/${signer}`, undefined],
  ] as const;
  for (const [method, path, body] of attempts)
    assert.equal((await platform.call(method, path, { token: pushersToken, body })).status, 403, `${method} ${path}`);
  await platform.ok("DELETE", `/registry/v2/signers/${signer}`);
  await platform.ok("DELETE", `/iam/v2/groups/${group}`);
});

test("what a lost row leaves behind is found and repaired, and the signature is verified again", async () => {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const key = newKey();
  await newSigner(platform, platform.organization, "release", [key]);
  const place = await newRepoPlace(platform, token);
  const digest = await pushLayers(place, "v1", [Buffer.from("a layer")]);
  await pushCosign(place, digest, [cosignLayer(key, cosignPayload(digest))]);
  assert.deepEqual((await verifiedSignatures(platform, place, digest)).map(short), ["TRUSTED"]);
  const { repo } = place;
  const found = await platform.transact(async (tx) => {
    await tx.deleteFrom("signature_readings").where("subject", "=", digest).execute();
    const kinds: string[] = [];
    for (const { kind, find, repair } of TRUST_CHECKS) {
      for (const row of await select<FaultyRow>(tx, find, [])) {
        kinds.push(kind);
        await repair?.(tx, row);
      }
    }
    return kinds.sort();
  });
  assert.deepEqual(found, ["signature-without-reading"]);
  platform.wake(["signatures"]);
  assert.deepEqual((await verifiedSignatures(platform, place, digest)).map(short), ["TRUSTED"]);

  // What has failed for good is not waited for; what waits anew, as after a change of a signer, is.
  const pendingIn = async (state: number): Promise<unknown> => {
    const set = { state, first_time: null, hold_until: Number.MAX_SAFE_INTEGER };
    await platform.transact((tx) =>
      tx.updateTable("signature_readings").set(set).where("subject", "=", digest).execute(),
    );
    const { pending, signatures } = await listSignatures(platform, place, digest);
    return [pending, signatures.map(short)];
  };
  assert.deepEqual(await pendingIn(READING_STATE.failed), [false, ["INVALID UNREADABLE"]]);
  assert.deepEqual(await pendingIn(READING_STATE.waiting), [true, ["WAITING NOT_READ"]]);
  await platform.ok("DELETE", `/registry/v2/repos/${repo}`);
  const left = await platform.reader.selectFrom("signature_sources").select("repo").where("repo", "=", repo).execute();
  assert.deepEqual(left, []);
});
