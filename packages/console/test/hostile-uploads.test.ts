import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { digestOf, pushArtifact } from "../../server/test/support/catalog/push.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

// What somebody pushes is never a page or a script on the origin of the console, which people are signed in to.
const SCRIPT = `document.title = "it ran"`;
const HTML = `<!doctype html><title>it is shown</title><h1>it is shown</h1><script>${SCRIPT}</script>`;

let opened: Console | undefined;
before(async () => {
  opened = await openConsole();
});
after(() => opened?.close());

/** Opens the address in the page; the content of the file that the browser saved instead of showing it. */
async function savedFrom(page: Page, path: string): Promise<string> {
  const download = page.waitForEvent("download");
  await assert.rejects(page.goto(path), /Download is starting|ERR_ABORTED/);
  return readFileSync(await (await download).path(), "utf8");
}

test("a blob of HTML is saved, not shown, and one of JavaScript does not run", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  const { name } = await platform.repo(platform.organization);
  const { name: organization } = await platform.ok("GET", `/iam/v2/groups/${platform.organization}`);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: `${organization}/${name}` };
  const contents = [HTML, SCRIPT];
  const layers = contents.map((content, at) => ({ mediaType: ["text/html", "text/javascript"][at] ?? "", content }));
  await pushArtifact(target, { reference: "page", artifactType: "text/html", layers });
  const [page_, script] = contents.map((each) => `/v2/${target.name}/blobs/${digestOf(Buffer.from(each))}`);

  const page = await console_.signedIn();
  const { length: before } = console_.complaints;
  // Whoever opens it may be allowed to, as where anonymous pulls are allowed.
  await page.setExtraHTTPHeaders({ authorization: `Bearer ${token}` });
  assert.equal(await savedFrom(page, page_ ?? ""), HTML);
  await page.goto("/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const title = await page.title();
  await assert.rejects(page.addScriptTag({ url: script ?? "" }));
  assert.equal(await page.title(), title);
  console_.complaints.length = before;
});

test("a manifest cannot be pushed as HTML", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform } = console_;
  const { name } = await platform.repo(platform.organization);
  const { name: organization } = await platform.ok("GET", `/iam/v2/groups/${platform.organization}`);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const raw = JSON.stringify({ schemaVersion: 2, mediaType: "text/html", annotations: { a: HTML } });
  const headers = { "content-type": "text/html" };
  const answer = await platform.call("PUT", `/v2/${organization}/${name}/manifests/page`, { token, raw, headers });
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.text, /MANIFEST_INVALID/);
});
