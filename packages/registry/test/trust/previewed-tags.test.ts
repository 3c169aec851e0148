// A draft of a policy over very many tags: pages of a bounded size, no tag twice.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sized } from "../../../server/test/support/extent.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openSignedRepo } from "../../../server/test/support/signed-repo.ts";
import { newKey, newSigner } from "../../../server/test/support/signing.ts";

const TAGS = sized(10_000, 100_000);
const MAX_LOOKED_AT = 2_000;
const ROWS = 500;

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

interface Page {
  tags?: { tag: string; digest: string }[];
  passed?: { outcome: string; count: number }[];
  lookedAt: number;
  nextPageToken: string;
}

test("a preview looks at very many tags, a bounded number for each page and none twice", async () => {
  const repo = await openSignedRepo(platform);
  const key = newKey();
  const signer = await newSigner(platform, repo.group, "release", [key]);
  const [signed, plain] = [await repo.push("signed"), await repo.push("plain")];
  await repo.sign(signed, key);
  const [first] = await platform.reader.selectFrom("tags").selectAll().where("name", "=", "plain").execute();
  assert.ok(first);
  for (let from = 0; from < TAGS; from += ROWS) {
    const rows = Array.from({ length: ROWS }, (_, n) => {
      const name = `t${String(from + n).padStart(6, "0")}`;
      // One of a hundred is not signed.
      return { ...first, uid: `${first.uid}${from + n}`, name, digest: (from + n) % 100 === 0 ? plain : signed };
    });
    await platform.transact((tx) => tx.insertInto("tags").values(rows).execute());
  }
  const held: string[] = [];
  let [lookedAt, passed] = [0, 0];
  for (let pageToken = "", more = true; more;) {
    const body = {
      pageToken,
      pageSize: 200,
      signaturePolicy: { rules: [{ name: "image", signers: [signer] }] },
    };
    const path = `/registry/v2/signaturePolicies/${repo.group}:preview`;
    const page = (await platform.ok("POST", path, body)) as unknown as Page;
    assert.ok(page.lookedAt <= MAX_LOOKED_AT, `${page.lookedAt} in one page`);
    held.push(...(page.tags ?? []).map(({ tag }) => tag));
    lookedAt += page.lookedAt;
    passed += (page.passed ?? []).reduce((sum, { count }) => sum + count, 0);
    pageToken = page.nextPageToken;
    more = pageToken !== "";
  }
  // Those that were pushed, and the tag of the signature, which is a document.
  assert.equal(lookedAt, TAGS + 3);
  assert.equal(held.length, TAGS / 100 + 1);
  assert.equal(new Set(held).size, held.length);
  assert.equal(passed, lookedAt - held.length);
});
