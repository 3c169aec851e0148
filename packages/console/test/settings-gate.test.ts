import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../server/test/support/catalog/push.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../server/test/support/matching.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_CATALOG_IMAGES: "1" });
});
after(() => opened?.close());

test("a gate shows which images it would block while it is typed, and of how many it is not known", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const { uid } = await platform.repo(platform.organization, { name: "gated" });
  await putRecords(platform, "github", "osv", [
    osvOf("CVE-2026-1", { ...affectedBefore("left-pad", "1.5.0"), ...CRITICAL }),
    osvOf("CVE-2026-2", affectedBefore("other", "1.5.0")),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/gated" };
  await pushLayers(target, "1.0", [tarOf([npmFile("app", "left-pad", "1.0.0"), npmFile("app", "other", "1.0.0")])]);
  await pushLayers(target, "2.0", [tarOf([npmFile("app", "other", "1.0.0")])]);
  // Nothing is found in it, which does not show that nothing is in it.
  await pushLayers(target, "3.0", [Buffer.from("no archive")]);
  const path = `/vulnerabilities/v2/findings?repo=${uid}`;
  await eventually(async () => (await platform.ok<{ findings: unknown[] }>("GET", path)).findings.length === 3);
  await eventually(async () => {
    const { unknownSummary } = await platform.ok<{ unknownSummary?: { notRead: number } }>("GET", path);
    return unknownSummary?.notRead === 1;
  });

  const page = await signedIn();
  await page.goto("/repo/settings?name=acme/gated&part=gate");
  await page.getByLabel("Block images with findings").check();
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("Not saved yet").waitFor();
  await preview.getByText("1 image with findings that count").waitFor();
  await preview.getByText("1 image not known, blocked too").waitFor();
  const table = preview.getByRole("table", { name: "Images with findings that count" });
  await table.getByRole("row", { name: /1\.0.*CVE-2026-1.*Exploited/ }).waitFor();

  await page.getByLabel("Severity").selectOption({ label: "any, including unknown" });
  await preview.getByText("2 images with findings that count").waitFor();
  await table.getByRole("row", { name: /2\.0.*CVE-2026-2/ }).waitFor();
  await page.getByLabel("Only known to be exploited (KEV)").check();
  await preview.getByText("1 image with findings that count").waitFor();
  await page.getByLabel("Grace period, days").fill("14");
  await preview.getByText("0 images with findings that count").waitFor();
  await page.getByLabel("Grace period, days").fill("0");
  await page.getByLabel("Images whose contents are not known").selectOption("ON_UNKNOWN_PASS");
  await preview.getByText("1 image not known, which passes").waitFor();
  await preview.getByText("An event would be emitted; nothing would be rejected.").waitFor();
  await page.getByLabel("What it does").selectOption("GATE_MODE_ENFORCE");
  await preview.getByText("They could not be promoted.").waitFor();
  await page.getByLabel("being pulled").check();
  await preview.getByText("They could not be pulled or promoted.").waitFor();

  // Nothing was blocked by looking.
  assert.equal((await platform.call("GET", "/v2/acme/gated/manifests/1.0", { token })).status, 200);
  await page.getByRole("button", { name: "Save vulnerability gate" }).click();
  await preview.getByText("Not saved yet").waitFor({ state: "detached" });
  await preview.getByText("1 image with findings that count").waitFor();
  await eventually(async () => (await platform.call("GET", "/v2/acme/gated/manifests/1.0", { token })).status === 403);
  assert.equal((await platform.call("GET", "/v2/acme/gated/manifests/2.0", { token })).status, 200);
  assert.deepEqual(complaints, []);
});
