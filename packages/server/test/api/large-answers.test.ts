import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { fromJsonString, toBinary } from "@bufbuild/protobuf";
import { SbomFormat, SbomsService } from "@moorage/api/messages";
import { openBlobsOf } from "../../src/installation/stores.ts";
import { loadConfig } from "../../src/index.ts";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { blobReader } from "../../src/runtime/read-blob.ts";
import { createDispatch } from "../../src/runtime/dispatch.ts";
import { compileRoutes, bindingsOf } from "../../src/transport/rest/routes.ts";
import { jsonEncoder } from "../../src/transport/rest/encode.ts";
import { listJson } from "../../src/transport/rest/list-json.ts";
import { compileDecoder } from "../../src/transport/rest/decode.ts";
import { isStreamed } from "../../../kernel/src/core/streamed-answer.ts";
import { isWritten } from "../../../kernel/src/core/written-answer.ts";
import { isUnary } from "../../../kernel/src/core/method-kinds.ts";
import { methodsOf } from "../../src/runtime/methods.ts";
import { v1Methods } from "../../src/v1/index.ts";
import { type HeavyImage, pushHolding } from "../support/heavy/images.ts";
import { type Platform, startPlatform } from "../support/platform.ts";

// Large answers come from another process. They are the same, byte by byte, as those that this process would make.

/** More than are looked at in the process that was asked. */
const PACKAGES = 1_500;
const FINDINGS = 300;

let platform: Platform;
let large: HeavyImage;
let small: HeavyImage;
before(async () => {
  platform = await startPlatform();
  const { url, owner, bootstrap, organization: uid, transact } = platform;
  const place = {
    url,
    registry: await platform.token(owner, { audience: new URL(url).host }),
    organization: { uid, name: bootstrap.organization.name },
    write: transact,
  };
  large = await pushHolding(place, [{ packages: PACKAGES, findings: FINDINGS }, { packages: PACKAGES }]);
  small = await pushHolding(place, [{ packages: 5, findings: 1 }]);
});
after(() => platform.close());

/** How many answers another process has made. */
async function made(): Promise<number> {
  const { text } = await platform.call("GET", "/metrics");
  return Number(/^moorage_large_answers_total\{outcome="ok"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** What the process that was asked answers when it looks at any number of rows. */
async function madeHere(path: string): Promise<string> {
  const readBlob = blobReader(await openBlobsOf(loadConfig(platform.settings)));
  const methods = new Map([
    ...methodsOf({
      pageTokenKey: new Uint8Array(32),
      ownerRole: "",
      secrets: createSecrets([randomBytes(32)]),
      eventsPrefix: "",
      readBlob,
    }),
    ...v1Methods({ readBlob }),
  ]);
  const never = (): never => assert.fail("nothing is written");
  const dispatch = createDispatch({
    methods,
    outside: new Map(),
    reader: platform.reader,
    transactor: { read: never, write: never },
    admins: [],
    auditor: { note() {} },
  });
  const services = [...new Set([...methods.values()].map(({ desc }) => desc.parent))];
  const routes = compileRoutes(bindingsOf(services), (binding) => ({
    method: binding.method,
    decode: compileDecoder(binding, () => []),
  }));
  const [before = "", query = ""] = path.split("?");
  const match = routes.match("GET", before);
  assert.ok(match !== undefined && "target" in match);
  const { method, decode } = match.target;
  assert.ok(isUnary(method));
  const data = {
    caller: { identity: platform.owner },
    requestId: "",
    nowMs: platform.clock.nowMs(),
    remoteAddress: "",
    userAgent: "",
  };
  const answered = await dispatch.answer(method, data, decode(match.values, query, undefined), { form: "json" });
  assert.ok(!isWritten(answered));
  if (!isStreamed(answered)) return jsonEncoder(method)(answered);
  let text = "";
  for await (const piece of listJson(answered)) text += String(piece);
  return text;
}

const PATHS: Readonly<Record<string, (digest: string, other: string) => string>> = {
  "a CycloneDX document": (digest) => `/registry/v2/repos/${large.repo}/digests/${digest}/sbom`,
  "an SPDX document": (digest) => `/registry/v2/repos/${large.repo}/digests/${digest}/sbom?format=SBOM_FORMAT_SPDX`,
  "a page of a comparison in Markdown": (digest, other) =>
    `/registry/v2/repos/${large.repo}/diff?from=${digest}&to=${other}&format=DIFF_FORMAT_MARKDOWN`,
  "v1's document": (digest) => `/registry/v1/repos/${large.repo}/digests/${digest}/sbom`,
  "v1's list of reports": (digest) => `/registry/v1/vuln_reports?repo_id=${large.repo}&digest=${digest}`,
  "v1's list of all reports of the repo": () => `/registry/v1/vuln_reports?repo_id=${large.repo}`,
  "v1's raw report": (digest) => `/registry/v1/vuln_reports/raw?digest=${digest}`,
};

for (const [title, pathOf] of Object.entries(PATHS))
  test(`${title} is the same from another process`, async () => {
    const [digest = "", other = ""] = large.digests;
    const path = pathOf(digest, other);
    const before = await made();
    const { status, headers, text } = await platform.call("GET", path, { token: await platform.token() });
    assert.equal(status, 200, text);
    assert.ok((await made()) > before, "it was made in the process that was asked");
    // A difference would be too long to be shown.
    assert.ok(text === (await madeHere(path)), "it differs");
    const { etag } = headers;
    if (etag === undefined) return;
    const again = await platform.call("GET", path, {
      token: await platform.token(),
      headers: { "if-none-match": etag },
    });
    assert.equal(again.status, 304);
    assert.equal(again.text, "");
  });

test("a small document is made where it is asked for, and kept", async () => {
  const before = await made();
  const path = `/registry/v2/repos/${small.repo}/digests/${small.digests[0]}/sbom`;
  const { status, text } = await platform.call("GET", path, { token: await platform.token() });
  assert.equal(status, 200);
  assert.equal(text, await madeHere(path));
  assert.equal(await made(), before);
});

test("by gRPC the message is the same", async () => {
  const { getSbom } = SbomsService.method;
  const [digest = ""] = large.digests;
  const request = { repoUid: large.repo, digest, format: SbomFormat.CYCLONEDX };
  const path = `/registry/v2/repos/${large.repo}/digests/${digest}/sbom`;
  const { message } = await platform.grpc.call(getSbom, request, await platform.token());
  assert.ok(message !== undefined);
  const expected = fromJsonString(getSbom.output, await madeHere(path));
  assert.deepEqual(toBinary(getSbom.output, message), toBinary(getSbom.output, expected));
});

test("errors of the method keep their details, and what is not visible stays so", async () => {
  const [digest = ""] = large.digests;
  const path = `/registry/v2/repos/${large.repo}/digests/${digest}/sbom`;
  const stranger = await platform.token(await platform.identity(platform.organization));
  const hidden = await platform.call("GET", path, { token: stranger });
  assert.equal(hidden.status, 404);
  const before = await made();
  const { status, body } = await platform.call("GET", `${path}?architecture=arm64`, { token: await platform.token() });
  assert.equal(status, 400);
  assert.match(body.message, /architecture/);
  assert.equal(await made(), before);
});
