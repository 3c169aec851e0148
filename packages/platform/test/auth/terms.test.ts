import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ReposService, TermsService } from "@moorage/api";
import { type Config, ConfigError, loadConfig, startServer } from "../../../server/src/index.ts";
import { readTerms } from "../../../server/src/installation/terms-file.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { OCI_INDEX, temporaryFolder } from "../../../server/test/support/installation.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// Groups accept documents, and a required document blocks its methods until then. Source: docs/contract.md,
// "Resources".
const url = (id: string): string => `https://moorage.example.com/${id}`;
const document = (id: string, required: unknown): object => ({ id, label: `The ${id}`, url: url(id), required });
const DOCUMENTS = [
  document("terms-of-service", true),
  document("privacy", false),
  document("export-rules", ["push", "UpdateRepo"]),
  document("house-rules", ["iam"]),
];
const ALL = ["terms-of-service", "privacy", "export-rules", "house-rules"];
const METHODS = TermsService.method;

let platform: Platform;
let token: string;
let organizations = 0;
before(async () => {
  platform = await startPlatform({}, DOCUMENTS);
  token = await platform.token();
});
after(() => platform.close());

/** A new organization that has accepted nothing. */
const organization = (): Promise<Json> =>
  platform.ok("POST", "/iam/v2/groups", { name: `terms-${(organizations += 1)}` });
const accept = (group: string, ...documentIds: string[]): Promise<Json> =>
  platform.ok("POST", `/iam/v2/terms/${group}`, { documentIds });
const acceptances = (group: string, query = ""): Promise<Json[]> =>
  rows(platform.ok("GET", `/iam/v2/terms/${group}${query}`), "termsAcceptances");
/** The documents that an error names as missing; empty when it is another answer. */
const missing = ({ body }: Answer): string[] =>
  (body.details ?? [])
    .flatMap(({ violations = [] }) => violations)
    .filter(({ type }) => type === "TERMS_NOT_ACCEPTED")
    .map(({ subject }) => subject);
const post = (path: string, body: unknown, by = token): Promise<Answer> =>
  platform.call("POST", path, { token: by, body });

test("accepting records the identity and the time, once", async () => {
  const { uid: group } = await organization();
  assert.deepEqual(await acceptances(group), []);
  assert.deepEqual(await accept(group, "privacy", "terms-of-service", "privacy"), {
    group,
    documentIds: ["privacy", "terms-of-service"],
  });
  const [first, second, ...rest] = await acceptances(group, "?order_by=doc_id");
  assert.deepEqual([first?.["docId"], second?.["docId"], rest], ["privacy", "terms-of-service", []]);
  assert.deepEqual(
    [first?.["acceptedBy"], first?.["orgUid"], first?.createTime === second?.createTime],
    [platform.owner, group, true],
  );
  platform.clock.offsetMs += 5_000;
  await accept(group, "house-rules");
  const other = await platform.identity(group, "owner");
  assert.equal(
    (await post(`/iam/v2/terms/${group}`, { documentIds: ["privacy"] }, await platform.token(other))).status,
    200,
  );
  assert.deepEqual((await acceptances(group, "?order_by=doc_id"))[1], first, "who was first stays");
});

test("a list contains what ancestors accepted, in pages", async () => {
  const { uid: root } = await organization();
  await accept(root, "house-rules");
  const { uid: group } = await platform.group(root);
  const { uid: sibling } = await platform.group(root);
  await accept(group, "privacy", "export-rules");
  await accept(sibling, "terms-of-service");
  const shown = async (place: string): Promise<unknown[]> =>
    (await acceptances(place, "?order_by=docId")).map(({ docId, orgUid }) => [docId, orgUid]);
  assert.deepEqual(await shown(group), [
    ["export-rules", group],
    ["house-rules", root],
    ["privacy", group],
  ]);
  assert.deepEqual(await shown(root), [["house-rules", root]]);
  const page = await platform.ok("GET", `/iam/v2/terms/${group}?page_size=2&order_by=doc_id%20desc`);
  assert.deepEqual(
    [(page["termsAcceptances"] as Json[]).map(({ docId }) => docId), page.totalCount],
    [["privacy", "house-rules"], "3"],
  );
  const next = await platform.ok("GET", `/iam/v2/terms/${group}?page_token=${encodeURIComponent(page.nextPageToken)}`);
  assert.deepEqual(
    [(next["termsAcceptances"] as Json[]).map(({ docId }) => docId), next.nextPageToken],
    [["export-rules"], ""],
  );
  const elsewhere = await platform.call(
    "GET",
    `/iam/v2/terms/${root}?page_token=${encodeURIComponent(page.nextPageToken)}`,
    { token },
  );
  assert.deepEqual(blamed(elsewhere), ["page_token"], "a page token is for its group");

  await accept(root, "terms-of-service");
  const viewer = await platform.identity(group, "viewer");
  assert.equal(
    (await both(platform, METHODS.listTermsAcceptances, { group }, await platform.token(viewer))).body.totalCount,
    "4",
  );
  assert.deepEqual(
    (
      await both(
        platform,
        METHODS.listTermsAcceptances,
        { group },
        await platform.token(await platform.identity(group)),
      )
    ).body["termsAcceptances"],
    [],
  );
  assert.equal(
    (await both(platform, METHODS.acceptTerms, { group, documentIds: ["privacy"] }, await platform.token(viewer)))
      .status,
    403,
  );
  assert.equal((await both(platform, METHODS.listTermsAcceptances, { group: "no-uid" }, token)).status, 404);
});

test("acceptances of a group that the caller sees are refused to who may not list them", async () => {
  const { uid: group } = await organization();
  await accept(group, ...ALL);
  const identity = await platform.identity(group, "registry.pull");
  const refused = await both(platform, METHODS.listTermsAcceptances, { group }, await platform.token(identity));
  assert.deepEqual([refused.status, reason(refused)], [403, "PERMISSION_DENIED"], refused.text);
  assert.equal(refused.body.details[0]?.metadata?.["missing"], "CAP_TERMS_LIST");
});

test("what is held back says which documents are missing, as details of REST and gRPC", async () => {
  const { uid: group } = await organization();
  await accept(group, "house-rules");
  const answer = await post(`/registry/v2/repos/${group}`, { name: "app" });
  const detail = answer.body.details.find((each) => each["@type"].endsWith("TermsNotAcceptedDetail"));
  assert.deepEqual(detail, {
    "@type": "type.googleapis.com/moorage.iam.TermsNotAcceptedDetail",
    missing: [{ id: "terms-of-service", label: "The terms-of-service", url: url("terms-of-service") }],
  });
  assert.deepEqual(missing(answer), ["terms-of-service"], "PreconditionFailure is there as before");
  const { error } = await platform.grpc.call(
    ReposService.method.createRepo,
    { parent: group, repo: { name: "app" } },
    token,
  );
  assert.deepEqual(
    error?.details.find((each) => each["@type"].endsWith("TermsNotAcceptedDetail")),
    detail,
  );
});

test("the error for unknown documents names them, and nothing is accepted", async () => {
  const { uid: group } = await organization();
  const answer = await both(
    platform,
    METHODS.acceptTerms,
    { group, documentIds: ["privacy", "nothing", "Privacy"] },
    token,
  );
  assert.deepEqual(blamed(answer), ["documentIds[1]", "documentIds[2]"]);
  assert.match(answer.text, /there is no document \\"nothing\\"/);
  assert.deepEqual(blamed(await both(platform, METHODS.acceptTerms, { group, documentIds: [] }, token)), [
    "documentIds",
  ]);
  assert.deepEqual(await acceptances(group), []);
  const gone = `${group}/${"0".repeat(16)}`;
  assert.equal(
    (await both(platform, METHODS.acceptTerms, { group: gone, documentIds: ["privacy"] }, token)).status,
    404,
  );
});

describe("a required document", () => {
  test("blocks the methods it names until the group or an ancestor has accepted it, and no others", async () => {
    const { uid: root } = await organization();
    const create = (): Promise<Answer> => post(`/registry/v2/repos/${root}`, { name: "app" });
    const refused = await create();
    assert.deepEqual(
      [refused.status, refused.body.code, missing(refused)],
      [400, 9, ["terms-of-service"]],
      refused.text,
    );
    assert.match(refused.body.message, /The terms-of-service is not accepted: https:/);
    assert.deepEqual(
      missing(await post(`/iam/v2/identities/${root}`, { name: "ci" })),
      ["terms-of-service", "house-rules"],
      "all that are missing at once",
    );
    assert.deepEqual(missing(await post(`/iam/v2/groups/${root}`, { name: "team" })), ["house-rules"]);
    await accept(root, "house-rules");
    const { uid: group } = await platform.group(root);
    await accept(group, "terms-of-service");
    assert.deepEqual(missing(await create()), ["terms-of-service"], "what is accepted below is not accepted above");
    const below = await post(`/registry/v2/repos/${group}`, { name: "app" });
    assert.equal(below.status, 200, below.text);
    await accept(root, "terms-of-service");
    const made = await create();
    assert.equal(made.status, 200, made.text);
    const patch = (): Promise<Answer> =>
      platform.call("PATCH", `/registry/v2/repos/${made.body.uid}`, { token, body: { description: "new" } });
    assert.deepEqual(missing(await patch()), ["export-rules"]);
    await accept(root, "export-rules");
    assert.equal((await patch()).status, 200);
  });

  test("blocks batches by each of their groups, and blocks neither reads, deletes nor invites", async () => {
    const [{ uid: free }, { uid: bound }] = [await organization(), await organization()];
    await accept(free, ...ALL);
    const identity = await platform.identity(free);
    const viewer = await platform.role("viewer");
    const roleBinding = { identityUid: identity, roleUid: viewer };
    const batch = (...parents: string[]): Promise<Answer> =>
      post("/iam/v2/roleBindings:batchCreate", { requests: parents.map((parent) => ({ parent, roleBinding })) });
    assert.deepEqual(missing(await batch(free, bound)), ["house-rules"]);
    assert.equal((await batch(free)).status, 200);
    assert.equal((await platform.call("GET", `/iam/v2/groups/${bound}`, { token })).status, 200);
    assert.equal((await platform.call("DELETE", `/iam/v2/groups/${bound}`, { token })).status, 200);
    const { uid: invited } = await platform.group(free);
    const code = (await platform.ok("POST", `/iam/v2/groupInvites/${invited}`, { roleUid: viewer, ttl: "60s" }))[
      "code"
    ];
    assert.equal(
      (await post("/iam/v2/groupInvites:accept", { code }, await platform.token(await platform.identity(free)))).status,
      200,
    );
  });

  test("counts after the rights: a caller without the right does not see which documents are missing", async () => {
    const { uid: root, name } = await organization();
    const { uid: elsewhere } = await organization();
    await accept(elsewhere, ...ALL);
    const outsider = await platform.identity(elsewhere);
    const answer = await post(`/registry/v2/repos/${root}`, { name: "app" }, await platform.token(outsider));
    assert.deepEqual([answer.status, missing(answer)], [404, []]);
    const registry = await platform.token(outsider, { audience: new URL(platform.url).host });
    const push = await platform.call("POST", `/v2/${name}/app/blobs/uploads/`, { token: registry });
    assert.deepEqual([push.status, missing(push)], [403, []]);
  });

  test("blocks the first and the last request of a push, and nothing of the push is stored", async () => {
    const { uid: root, name } = await organization();
    await accept(root, "house-rules", "privacy");
    const registry = await platform.token(platform.owner, { audience: new URL(platform.url).host });
    const ask = (method: string, path: string, raw = "", type = "application/octet-stream"): Promise<Answer> =>
      platform.call(method, path, { token: registry, raw, headers: { "content-type": type } });
    const whole = await ask(
      "POST",
      `/v2/${name}/app/blobs/uploads/?digest=sha256:${createHash("sha256").update("foo").digest("hex")}`,
      "foo",
    );
    assert.deepEqual([whole.status, missing(whole)], [400, ["terms-of-service", "export-rules"]], whole.text);
    assert.equal((whole.body["errors"] as { code: string }[])[0]?.code, "DENIED");
    const session = await ask("POST", `/v2/${name}/team/app/blobs/uploads/`);
    assert.deepEqual(missing(session), ["terms-of-service", "export-rules"]);
    assert.equal((await platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${root}`)).totalCount, "0");
    assert.equal((await platform.ok("GET", `/iam/v2/groups?uidp.descendants_of=${root}`)).totalCount, "1");

    await accept(root, "terms-of-service", "export-rules");
    await pushImage(platform, `${name}/app`, "v1");
    const pulled = await platform.call("GET", `/v2/${name}/app/manifests/v1`, { token: registry });
    assert.equal(pulled.status, 200);
    // Another organization has not accepted it: its manifest is refused, although the repo exists.
    const { uid: late, name: other } = await organization();
    await accept(late, "terms-of-service", "house-rules");
    await platform.ok("POST", `/registry/v2/repos/${late}`, { name: "app" });
    const open = await ask("POST", `/v2/${other}/app/blobs/uploads/`);
    assert.deepEqual(missing(open), ["export-rules"]);
    const index = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: [] });
    const manifest = await ask("PUT", `/v2/${other}/app/manifests/v1`, index, OCI_INDEX);
    assert.deepEqual(missing(manifest), ["export-rules"], manifest.text);
    assert.equal((await platform.call("GET", `/v2/${other}/app/manifests/v1`, { token: registry })).status, 404);
    await accept(late, "export-rules");
    assert.equal((await ask("PUT", `/v2/${other}/app/manifests/v1`, index, OCI_INDEX)).status, 201);
  });
});

test("a group's acceptances are deleted with it", async () => {
  const { uid: root } = await organization();
  await accept(root, "house-rules");
  const { uid: group } = await platform.group(root);
  await accept(group, "privacy");
  await platform.ok("DELETE", `/iam/v2/groups/${group}`);
  assert.deepEqual(await acceptances(group), await acceptances(root), "nothing is left of the group's own");
});

test("an invalid file of documents stops the start, and the error names the file and the entry", async (t) => {
  const file = join(temporaryFolder(t), "terms.json");
  const good = document("terms", true);
  const wrong: [unknown, RegExp][] = [
    ["{", /cannot be read as JSON/],
    [{}, /must be a list/],
    [[good, "x"], /entry 2: must be an object/],
    [[{ ...good, id: "" }], /entry 1 \(\): id must be/],
    [[good, { ...good, id: "a b" }], /entry 2 \(a b\): id must be/],
    [[good, good], /entry 2 \(terms\): the id is there already/],
    [[{ ...good, label: " " }], /entry 1 \(terms\): label must be/],
    [[{ ...good, url: "ftp://example.com" }], /url must be an http or https URL/],
    [[{ ...good, required: "push" }], /required must be true, false, or a list/],
    [[{ ...good, required: [] }], /required must be/],
    [[{ ...good, required: ["push", "DeleteRepo"] }], /required names "DeleteRepo"/],
    [[{ ...good, required: ["GetRepo"] }], /required names "GetRepo"/],
    [[{ ...good, required: ["AcceptTerms"] }], /required names "AcceptTerms"/],
    [[{ ...good, required: [{}] }], /required names/],
    [[{ ...good, requires: true }], /there is no field requires/],
    [Array.from({ length: 101 }, (_, at) => ({ ...good, id: `t${at}` })), /at most 100/],
  ];
  for (const [content, message] of wrong) {
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    const namesEntry = (error: Error): boolean =>
      error instanceof ConfigError &&
      error.message.startsWith(`MOORAGE_TERMS_FILE: ${file}: `) &&
      message.test(error.message);
    assert.throws(() => readTerms(file), namesEntry, String(message));
  }
  const config: Config = loadConfig({
    MOORAGE_PORT: "0",
    MOORAGE_DATA_DIR: temporaryFolder(t),
    MOORAGE_LOG_LEVEL: "silent",
    MOORAGE_TERMS_FILE: join(file, "nowhere"),
  });
  await assert.rejects(startServer(config), ConfigError);
  writeFileSync(file, JSON.stringify([{ ...good, required: ["registry"] }]));
  const blocks = readTerms(file)[0]?.blocks ?? [];
  assert.ok(
    blocks.includes("push") &&
      blocks.includes("moorage.registry.v2.TagsService.CreateTag") &&
      !blocks.some((name) => /Delete|iam/.test(name)),
    blocks.join(),
  );
  assert.deepEqual(readTerms(""), []);
});
