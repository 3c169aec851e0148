import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../server/test/support/catalog/push.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../server/test/support/matching.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_WORK_POLL: "20ms" });
});
after(() => opened?.close());

test("a vulnerability names who pulled what it affects; what is not known is not nobody", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/app" };
  const page = await signedIn();
  const section = page.getByRole("region", { name: "Who pulled it" });
  await page.goto("/vulnerability?id=CVE-2026-1");
  await section.getByText("Not known: no data").waitFor();

  await pushLayers(target, "v1", [tarOf([npmFile("app", "left-pad", "1.0.0")])]);
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0") }),
  ]);
  await eventually(async () => {
    const { findings } = await platform.ok<{ findings: unknown[] }>(
      "GET",
      "/vulnerabilities/v2/findings?vulnerabilities=CVE-2026-1",
    );
    return findings.length === 1;
  });
  await page.reload();
  await section.getByText("No pull since it was found").waitFor();

  const ann = await platform.identity(platform.organization, "viewer");
  const pull = await platform.token(ann, { audience: new URL(platform.url).host });
  await platform.call("GET", "/v2/acme/app/manifests/v1", { token: pull });
  await eventually(async () => {
    const { exposures } = await platform.ok<{ exposures: unknown[] }>(
      "GET",
      "/vulnerabilities/v2/exposures?vulnerability=CVE-2026-1",
    );
    return exposures.length === 1;
  });
  await page.reload();
  const row = section.getByRole("row", { name: /acme\/app/ });
  await row.getByText("left-pad 1.0.0").waitFor();
  await row.getByText("fixed in 1.5.0").waitFor();

  const theirs = await signedIn({ identity: ann });
  await theirs.goto("/vulnerability?id=CVE-2026-1");
  await theirs.getByText("You need CAP_USAGE_LIST and CAP_EVENTS_LIST in every group").waitFor();
  assert.deepEqual(complaints, []);
});
