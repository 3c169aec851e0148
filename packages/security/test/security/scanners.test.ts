import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { credentialPlace, resealScanners } from "../../src/security/scanners/credentials.ts";
import { openNameServer } from "../../../server/test/support/name-server.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";
import {
  capability,
  SBOM,
  type ScannerAdapter,
  startAdapter,
  VULNERABILITIES,
} from "../../../server/test/support/scanner-adapter.ts";

const PATH = "/vulnerabilities/v2/scanners";
const AUTHORIZATION = "Bearer a secret of the adapter";

let platform: Platform;
let adapter: ScannerAdapter;
let owner = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_SCANS: "0" });
  adapter = await startAdapter();
  owner = await platform.token();
});
after(() => Promise.all([platform.close(), adapter.close()]));

const newGroup = async (): Promise<string> => (await platform.group(platform.organization)).uid;
const create = (group: string, body: object, token = owner): Promise<Answer> =>
  platform.call("POST", `${PATH}/${group}`, { token, body });
const make = (group: string, body: object = {}): Promise<Json> =>
  platform.ok("POST", `${PATH}/${group}`, { name: "trivy", url: adapter.url, ...body });
const patch = (uid: string, body: object, mask: string, token = owner): Promise<Answer> =>
  platform.call("PATCH", `${PATH}/${uid}?updateMask=${mask}`, { token, body });
const lastHeaders = () => adapter.headers.at(-1);

test("a scanner has what its adapter says of itself, and never shows its authorization", async () => {
  const group = await newGroup();
  adapter.metadata["capabilities"] = [
    capability("vulnerability", VULNERABILITIES),
    capability("sbom", SBOM, { additional_attributes: { sbom_media_types: ["application/spdx+json"] } }),
    { type: "malware", consumes_mime_types: ["a/b"], produces_mime_types: ["a/b"] },
  ];
  const made = await make(group, { description: "Scans all.", authorization: AUTHORIZATION });
  assert.equal(lastHeaders()?.authorization, AUTHORIZATION);
  const consumes = ["application/vnd.oci.image.manifest.v1+json"];
  assert.deepEqual(made["adapter"], {
    name: "Test Scanner",
    vendor: "Tests",
    version: "1.2.3",
    capabilities: [
      {
        type: "SCAN_TYPE_VULNERABILITY",
        consumesMimeTypes: consumes,
        producesMimeTypes: [VULNERABILITIES],
        sbomMediaTypes: [],
      },
      {
        type: "SCAN_TYPE_SBOM",
        consumesMimeTypes: consumes,
        producesMimeTypes: [SBOM],
        sbomMediaTypes: ["application/spdx+json"],
      },
    ],
  });
  assert.equal(made["identity"], platform.owner);
  assert.deepEqual(await platform.ok("GET", `${PATH}/${made.uid}`), made);
  assert.deepEqual(await rows(platform.ok("GET", `${PATH}?uidp.childrenOf=${group}&name=trivy`), "scanners"), [made]);
  const tables = ["scanners", "audit_entries", "event_outbox", "events"] as const;
  const kept = JSON.stringify(
    await Promise.all(tables.map((table) => platform.reader.selectFrom(table).selectAll().execute())),
  );
  assert.ok(kept.includes(made.uid));
  assert.ok(!(kept + JSON.stringify(made)).includes("secret of the adapter"));

  // A key that came since seals it anew.
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const sealed = createSecrets([oldKey]).seal("of old", credentialPlace(made.uid));
  const again = await platform.transact(async (tx) => {
    await tx.updateTable("scanners").set({ credential: sealed }).where("uid", "=", made.uid).execute();
    await tx.deleteFrom("scanners").where("uid", "!=", made.uid).execute();
    await resealScanners(tx, createSecrets([newKey, oldKey]));
    return await tx.selectFrom("scanners").select("credential").where("uid", "=", made.uid).executeTakeFirstOrThrow();
  });
  assert.equal(createSecrets([newKey]).open(again.credential, credentialPlace(made.uid)), "of old");
  adapter.metadata["capabilities"] = [capability("vulnerability", VULNERABILITIES)];
});

test("an invalid scanner is rejected with all its invalid fields, and what is no adapter by its url", async () => {
  const group = await newGroup();
  const refused = async (body: object): Promise<string[]> => {
    const answer = await create(group, body);
    assert.deepEqual([answer.status, reason(answer)], [400, "INVALID_ARGUMENT"], JSON.stringify(body));
    return blamed(answer);
  };
  const { url } = adapter;
  for (const wrong of ["", "nowhere", "ftp://a.example.com", "http://me:word@a.example.com", `${url}/?a=b`, `${url}/#`])
    assert.deepEqual(await refused({ name: "a", url: wrong }), ["url"], wrong);
  assert.deepEqual(await refused({ name: "No!", url: "x", authorization: "a\nb" }), ["name", "url", "authorization"]);
  // Nobody listens there.
  assert.deepEqual(await refused({ name: "a", url: "http://127.0.0.1:9" }), ["url"]);
  const says = async (status: number, body: string): Promise<string> => {
    adapter.intercept = (_, res) => {
      res.writeHead(status).end(body);
      return true;
    };
    const answer = await create(group, { name: "a", url });
    adapter.intercept = () => false;
    assert.deepEqual(blamed(answer), ["url"], answer.text);
    return answer.body.message;
  };
  assert.match(await says(401, `{"error": {"message": "who\\nare you?"}}`), /answered 401 .*: who are you\?$/);
  assert.match(await says(500, "oh"), /answered 500/);
  assert.match(await says(302, ""), /the answer is a redirect/);
  assert.match(await says(200, "<html>"), /metadata cannot be read/);
  assert.match(await says(200, "[".repeat(100)), /nested too deeply/);
  assert.match(await says(200, `{"scanner": {"name": "a"}, "capabilities": {}}`), /capabilities: must be a list/);
  assert.match(
    await says(200, `{"scanner": {"name": "a"}, "capabilities": [{"consumes_mime_types": 1}]}`),
    /capabilities\[0\]\.consumes_mime_types: must be a list/,
  );
  assert.match(await says(200, `"${"a".repeat(300_000)}"`), /too large/);
  await make(group);
  assert.equal((await create(group, { name: "trivy", url })).status, 409);
});

test("an update keeps the authorization for the same adapter alone, and asks the adapter when it has to", async () => {
  const { uid } = await make(await newGroup(), { authorization: AUTHORIZATION });
  const count = adapter.headers.length;
  const renamed = await patch(uid, { description: "two" }, "description");
  assert.equal(renamed.body.description, "two");
  assert.equal(adapter.headers.length, count, "a description says nothing about the adapter");
  assert.equal((await patch(uid, { disabled: true }, "disabled")).status, 200);
  assert.equal(adapter.headers.length, count);
  assert.equal((await patch(uid, { disabled: false }, "disabled")).status, 200);
  assert.equal(lastHeaders()?.authorization, AUTHORIZATION, "it is asked with what is stored");
  assert.equal(adapter.headers.length, count + 1);

  // To another address goes only what was given for it.
  assert.equal((await patch(uid, { url: `${adapter.url}/` }, "url")).status, 200);
  assert.equal(lastHeaders()?.authorization, undefined);
  await patch(uid, { authorization: "Basic YTpi" }, "authorization");
  assert.equal(lastHeaders()?.authorization, "Basic YTpi");
  await patch(uid, {}, "authorization");
  assert.equal(lastHeaders()?.authorization, undefined, "an empty one that is named removes it");

  adapter.metadata["scanner"] = { name: "Newer", vendor: "", version: "2" };
  const checked = await platform.ok("POST", `${PATH}/${uid}:check`, {});
  assert.equal((checked["adapter"] as Json).name, "Newer");
  adapter.intercept = (_, res) => Boolean(res.writeHead(503).end()) || true;
  const failed = await platform.call("POST", `${PATH}/${uid}:check`, { token: owner, body: {} });
  adapter.intercept = () => false;
  assert.deepEqual([failed.status, reason(failed)], [400, "FAILED_PRECONDITION"]);
  assert.match(failed.text, /answered 503/);
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), checked, "what it said before stays");
  // What a client says of the adapter does not count.
  const forged = await patch(uid, { description: "x", adapter: { name: "Forged" } }, "description");
  assert.deepEqual(forged.body["adapter"], checked["adapter"]);
  adapter.metadata["scanner"] = { name: "Test Scanner", vendor: "Tests", version: "1.2.3" };
});

test("who may not pull from a group registers no scanner there", async () => {
  const group = await newGroup();
  const { uid: role } = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "changer",
    capabilities: ["groups.list", "groups.update"],
  });
  const identity = await platform.identity(platform.organization);
  await platform.bind(group, identity, role);
  const token = await platform.token(identity);
  const denied = await create(group, { name: "mine", url: adapter.url }, token);
  assert.equal(denied.status, 403);
  assert.match(denied.text, /may not pull in this group/);
  const { uid } = await make(group);
  assert.equal((await patch(uid, { description: "mine" }, "description", token)).status, 403);
  assert.equal((await patch(uid, { disabled: true }, "disabled", token)).status, 200, "nothing is pulled then");
  assert.equal((await platform.call("DELETE", `${PATH}/${uid}`, { token })).status, 200);
  assert.equal((await platform.call("GET", `${PATH}/${uid}`, { token })).status, 404);
});

test("a group has at most 20 scanners, and is not deleted with one", async () => {
  const group = await newGroup();
  for (let n = 0; n < 20; n++) await make(group, { name: `scanner ${n}` });
  const tooMany = await create(group, { name: "one more", url: adapter.url });
  assert.deepEqual([tooMany.status, reason(tooMany)], [400, "FAILED_PRECONDITION"]);
  const left = await platform.call("DELETE", `/iam/v2/groups/${group}`, { token: owner });
  assert.match(left.text, /the group still has scanners: 20/);
});

test("private addresses are not asked, whatever name leads to them", async (t) => {
  const names = await openNameServer(t, { "inside.test": ["10.1.2.3"], "both.test": ["93.184.215.14", "127.0.0.1"] });
  const closed = await startPlatform({ MOORAGE_DNS_SERVERS: names.address });
  t.after(() => closed.close());
  const token = await closed.token();
  for (const [url, why] of [
    ["http://scanner.example.com", /must be an https URL/],
    ["https://127.0.0.1", /not a public one/],
    ["https://[::ffff:10.0.0.1]/", /not a public one/],
    ["https://169.254.169.254/latest", /not a public one/],
    ["https://inside.test", /not a public one/],
    ["https://both.test", /not a public one/],
  ] as const) {
    const body = { name: "inside", url };
    const answer = await closed.call("POST", `${PATH}/${closed.organization}`, { token, body });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["url"]], answer.text);
    assert.match(answer.body.message, why, url);
  }
});
