import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { newAdvisory } from "../../server/test/support/advisories.ts";
import { tarOf } from "../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../server/test/support/catalog/push.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../server/test/support/matching.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const HOSTILE = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;
const REFERENCES = [
  { type: "WEB", url: "javascript:document.title='owned'" },
  { type: "WEB", url: "https://feeds.example/CVE-2026-1" },
];

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_CATALOG_IMAGES: "1" });
  if (opened === undefined) return;
  const { platform } = opened;
  await platform.repo(platform.organization, { name: "app" });
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", {
      aliases: ["CVE-2026-1"],
      summary: HOSTILE,
      details: HOSTILE,
      references: REFERENCES,
      ...affectedBefore("left-pad", "1.5.0"),
    }),
  ]);
  await putRecords(platform, "epss", "epss", [plainRecord("CVE-2026-1", { epss: 0.25, percentile: 0.5 })]);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/app" };
  await pushLayers(target, "1.0", [tarOf([npmFile("app", "left-pad", "1.0.0")])]);
  await eventually(async () => {
    const { findings } = await platform.ok<{ findings: unknown[] }>("GET", "/vulnerabilities/v2/findings");
    return findings.length === 1;
  });
});
after(() => opened?.close());

test("a vulnerability says what is known of it and which tags it hits; texts of feeds do nothing", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.getByRole("button", { name: "Security" }).click();
  await page.getByRole("link", { name: "Findings", exact: true }).click();
  await page.getByRole("row", { name: /acme\/app:1\.0 CVE-2026-1/ }).waitFor();
  await page.getByRole("searchbox", { name: "Find a vulnerability or a package" }).fill("cve-2026-1");
  await page.waitForURL(/package=cve-2026-1/);
  await page.getByRole("link", { name: "What is known of cve-2026-1" }).click();
  await page.getByRole("heading", { name: "cve-2026-1" }).waitFor();
  await page.getByText(HOSTILE).first().waitFor();
  await page.getByRole("group", { name: "EPSS" }).getByText("25.0 %").waitFor();
  await page.getByRole("group", { name: "Affected images" }).getByText("1 tag").waitFor();
  await page.getByRole("group", { name: "Fixed in" }).getByText("left-pad 1.5.0").waitFor();
  await page.getByRole("region", { name: "Who may push a fix" }).getByRole("link", { name: "owner" }).waitFor();
  const link = page.getByRole("link", { name: "https://feeds.example/CVE-2026-1" });
  assert.equal(await link.getAttribute("rel"), "noreferrer noopener");
  // References that lead to no page are not stored.
  assert.equal(await page.getByText(/javascript:/).count(), 0);
  const affected = page.getByRole("table", { name: "Affected images" });
  await affected.getByRole("row", { name: /acme\/app .*1 of 1/ }).waitFor();
  await page.getByRole("radiogroup", { name: "View" }).getByText("Tags").click();
  const hit = page.getByRole("table", { name: "Affected tags" });
  await hit.getByRole("row", { name: /acme\/app:1\.0 .* left-pad 1\.0\.0 1\.5\.0/ }).waitFor();
  assert.equal(await page.title(), "cve-2026-1 · Moorage");
  await hit.getByRole("link", { name: "acme/app:1.0" }).click();
  await page.getByRole("heading", { name: "acme/app:1.0" }).waitFor();
  await page.goto("/vulnerability?id=CVE-1999-1");
  await page.getByText("No feed on this server lists it").waitFor();
  assert.deepEqual(complaints, []);
});

test("a person writes an advisory, adds what was found out, approves it, and takes the VEX out", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto("/advisories");
  await page.getByText("Nothing is waiting for review").waitFor();
  await page.getByRole("button", { name: "New advisory" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Vulnerability").fill("CVE-2026-7, GHSA-2345-6789-cfgh");
  await dialog.getByLabel("Artifact", { exact: true }).fill("acme/app");
  await dialog.getByLabel("Component").fill("left-pad");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "CVE-2026-7 in left-pad" }).waitFor();
  await page.getByRole("button", { name: "Add an event" }).click();
  await dialog.getByLabel("What was found out").selectOption("Not affected");
  await dialog.getByLabel("Why").selectOption("The vulnerable code is never run");
  await dialog.getByLabel("Note").fill(HOSTILE);
  await dialog.getByLabel("Issue").fill("javascript:alert(1)");
  await dialog.getByRole("button", { name: "Add" }).click();
  await page.getByText("The vulnerable code is never run.").waitFor();
  await page.getByText(HOSTILE).waitFor();
  await page.getByRole("button", { name: "Ask for changes" }).last().click();
  await page.getByText("needs changes").waitFor();
  await page.getByRole("button", { name: "Approve" }).last().click();
  await page.getByText("was approved").waitFor();

  await page.getByRole("link", { name: "Advisories" }).first().click();
  await page.getByLabel("Review", { exact: true }).selectOption("Any");
  await page.getByLabel("Status", { exact: true }).selectOption("Not affected");
  await page.getByRole("row", { name: /CVE-2026-7/ }).waitFor();
  assert.ok(page.url().includes("latest=FALSE_POSITIVE_DETERMINATION"));
  for (const [format, mark] of [
    ["OpenVEX", "statements"],
    ["CSAF", "product_tree"],
    ["OSV", "0"],
  ] as const) {
    await page.getByRole("button", { name: "Export VEX" }).click();
    const downloading = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: format }).click();
    const document = JSON.parse(await readFile(await (await downloading).path(), "utf8")) as object;
    assert.ok(mark in document, format);
  }
  assert.deepEqual(complaints, []);
});

test("a viewer reads advisories and sees why nothing can be written or reviewed", async (t) => {
  const { signedIn, complaints, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const { uid } = await newAdvisory(platform, platform.organization, { events: [{ detection: { manual: {} } }] });
  const viewer = await platform.identity(platform.organization, "viewer");
  const page = await signedIn({ identity: viewer });
  await page.goto(`/advisory?uid=${uid}`);
  for (const [name, capability] of [
    ["Add an event", "CAP_ADVISORIES_CREATE"],
    ["Approve", "CAP_ADVISORIES_APPROVE"],
    ["Reject", "CAP_ADVISORIES_APPROVE"],
  ] as const) {
    const button = page.getByRole("button", { name });
    await page.getByRole("button", { name, disabled: true }).waitFor();
    await button.focus();
    await page.getByText(`You need ${capability} here`).first().waitFor();
  }
  await page.goto("/advisories");
  await page.getByRole("button", { name: "New advisory", disabled: true }).waitFor();
  assert.deepEqual(complaints, []);
});
