import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { tarOf } from "../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../server/test/support/catalog/catalog.ts";
import { pushArtifact, pushIndex, pushLayers } from "../../server/test/support/catalog/push.ts";
import { osvOf, plainRecord, putRecords } from "../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../server/test/support/matching.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import type { Platform } from "../../server/test/support/platform.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'">`;
const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };
const LAYER = tarOf([npmFile("app", "left-pad", "1.0.0"), npmFile("app", "other", "1.0.0")]);
const CONFIG = {
  architecture: "amd64",
  os: "linux",
  config: {
    Env: ["HOME=/root"],
    Entrypoint: ["/app", HOSTILE],
    Labels: { team: HOSTILE },
    ExposedPorts: { "80/tcp": {} },
  },
  history: [{ created_by: "COPY app /app" }, { created_by: "ENV HOME=/root", empty_layer: true }],
};

let opened: Console | undefined;
let image = "";
before(async () => {
  opened = await openConsole({ MOORAGE_CATALOG_IMAGES: "1" });
  if (opened === undefined) return;
  const { platform } = opened;
  const repo = (await platform.repo(platform.organization, { name: "app" })).uid;
  await putRecords(platform, "github", "osv", [
    osvOf("CVE-2026-1", { summary: HOSTILE, ...affectedBefore("left-pad", "1.5.0"), ...CRITICAL }),
    osvOf("CVE-2026-2", affectedBefore("other", "1.5.0")),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/app" };
  const type = "application/vnd.oci.image.layer.v1.tar";
  image = await pushLayers(target, "amd64", [LAYER], type, CONFIG);
  const other = await pushLayers(target, "arm64", [tarOf([npmFile("app", "small", "1.0.0")])], type, {
    ...CONFIG,
    architecture: "arm64",
  });
  await pushIndex(target, "1.0", [
    [image, { os: "linux", architecture: "amd64" }],
    [other, { os: "linux", architecture: "arm64" }],
  ]);
  await pushArtifact(target, {
    artifactType: "application/vnd.dev.sigstore.bundle.v0.3+json",
    subject: image,
    layers: [{ mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", content: "{}" }],
  });
  const query = `repo=${repo}&digest=${image}`;
  await eventually(async () => {
    const { findings } = await platform.ok<{ findings: unknown[] }>("GET", `/vulnerabilities/v2/findings?${query}`);
    return findings.length === 2;
  });
});
after(() => opened?.close());

/** What is known of the vulnerabilities of an image. */
async function stateOf(platform: Platform, repo: string, digest: string): Promise<string> {
  const path = `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}`;
  return (await platform.ok<{ state: string }>("GET", path)).state;
}

test("of an image that no feed covers the page and the list of tags say that nothing is known", async (t) => {
  const { signedIn, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const status = "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.2-1\n\n";
  const files = [{ path: "var/lib/dpkg/status", content: status }];
  const digest = await pushLayers({ url: platform.url, token, name: "acme/bare" }, "1.0", [tarOf(files)]);
  const [{ uid }] = (await platform.ok<{ repos: [{ uid: string }] }>("GET", "/registry/v2/repos?name=bare")).repos;
  await eventually(async () => (await stateOf(platform, uid, digest)) === "KNOWLEDGE_STATE_NO_DATA", {
    instead: () => stateOf(platform, uid, digest),
  });
  const page = await signedIn();
  await page.goto("/image?name=acme/bare:1.0");
  await page.getByRole("navigation", { name: "Parts of the image" }).getByRole("link", { name: "Findings" }).click();
  await page
    .getByRole("note")
    .filter({ hasText: "It is not known which vulnerabilities this image has: no feed covers 1 package of deb" })
    .waitFor();
  assert.equal(await page.getByText("No findings").count(), 0);
  await page.goto("/repo?name=acme/bare");
  await page.getByRole("link", { name: "no data" }).waitFor();

  const counted = "Nothing that is said here is about 1 image: 0 images not read, 1 image with no data.";
  await page.goto("/vulnerabilities");
  await page.getByRole("note").filter({ hasText: counted }).waitFor();
  await page.getByText("No feed covers deb without a release, of which there are packages in 1 image.").waitFor();
  // That it hits nothing says something only of images that are known.
  const affected = page.getByRole("region", { name: "Affected images" }).getByRole("note").filter({ hasText: counted });
  await page.goto("/vulnerability?id=CVE-2026-3");
  await affected.waitFor();
  await page.getByText("No image that is known, and that a tag points to").waitFor();
  await page.goto("/vulnerability?id=CVE-2026-1");
  await affected.waitFor();
});

test("versions that cannot be compared are counted beside the findings and in the list of tags, and listed", async (t) => {
  const { signedIn, platform } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const layer = tarOf([npmFile("app", "left-pad", "2.0.0"), npmFile("app", "other", "nightly")]);
  const digest = await pushLayers({ url: platform.url, token, name: "acme/nightly" }, "1.0", [layer]);
  const [{ uid }] = (await platform.ok<{ repos: [{ uid: string }] }>("GET", "/registry/v2/repos?name=nightly")).repos;
  await eventually(async () => (await stateOf(platform, uid, digest)) === "KNOWLEDGE_STATE_READ", {
    instead: () => stateOf(platform, uid, digest),
  });
  const page = await signedIn();
  await page.goto("/image?name=acme/nightly:1.0");
  await page.getByRole("navigation", { name: "Parts of the image" }).getByRole("link", { name: "Findings" }).click();
  await page.getByRole("heading", { name: "No findings in the packages that can be compared" }).waitFor();
  await page.getByText("1 package has a version that cannot be compared with those of records").click();
  await page.getByText("pkg:npm/other@nightly").waitFor();
  await page.goto("/repo?name=acme/nightly");
  await page.getByRole("link", { name: "1 not compared" }).waitFor();
});

test("a click on a layer, or its chip, leaves the packages and findings that are in it, by the address", async (t) => {
  const { signedIn, platform, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined || platform === undefined) return;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const layers = [tarOf([npmFile("app", "left-pad", "1.0.0")]), tarOf([npmFile("srv", "upper", "3.0.0")])];
  const digest = await pushLayers({ url: platform.url, token, name: "acme/layered" }, "1.0", layers);
  const [{ uid }] = (await platform.ok<{ repos: [{ uid: string }] }>("GET", "/registry/v2/repos?name=layered")).repos;
  await eventually(async () => (await stateOf(platform, uid, digest)) === "KNOWLEDGE_STATE_READ", {
    instead: () => stateOf(platform, uid, digest),
  });
  const page = await signedIn();
  const cell = (name: string) => page.getByRole("table", { name: "Packages" }).getByText(name, { exact: true });
  await page.goto("/image?name=acme/layered:1.0");
  // The second layer, with the pointer: it opens the packages.
  await page.locator("figure svg rect[data-layer]").nth(1).click();
  await page.waitForURL(/part=packages/);
  await cell("upper").waitFor();
  assert.equal(await cell("left-pad").count(), 0);
  assert.match(page.url(), /layer=sha256/);
  await page.reload();
  await cell("upper").waitFor();
  // The first one, by the chip, which keys and screen readers reach.
  const chip = page.getByRole("combobox", { name: "Layer" });
  await chip.focus();
  const [, first = ""] = await chip
    .locator("option")
    .evaluateAll((all) => all.map((each) => each.getAttribute("value") ?? ""));
  await chip.selectOption(first);
  await cell("left-pad").waitFor();
  assert.equal(await cell("upper").count(), 0);
  await page.getByRole("navigation", { name: "Parts of the image" }).getByRole("link", { name: "Findings" }).click();
  await page.getByRole("row", { name: /CVE-2026-1/ }).waitFor();
  await page.locator("figure svg rect[data-layer]").nth(1).click();
  await page.getByRole("row", { name: /CVE-2026-1/ }).waitFor({ state: "detached" });
  assert.match(page.url(), /part=findings/);
  await page.getByRole("button", { name: "Remove the filter Layer" }).click();
  await page.getByRole("row", { name: /CVE-2026-1/ }).waitFor();
  assert.doesNotMatch(page.url(), /layer=/);
  await page.goto(`/image?name=acme/layered:1.0&part=packages&layer=sha256:${"f".repeat(64)}`);
  await page.getByText(/This image has no layer .*: remove the filter to see everything/).waitFor();
  assert.deepEqual(complaints, []);
});

test("a person looks at an image: platforms, layers, configuration, packages, findings, referrers, manifest", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto("/image?name=acme/app:1.0");
  await page.getByRole("heading", { name: "acme/app:1.0" }).waitFor();
  const platform = page.getByRole("combobox", { name: "Platform" });
  assert.equal(await platform.inputValue(), "linux/amd64");
  await page.getByText("80/tcp").waitFor();
  await page.getByRole("row", { name: "HOME /root" }).waitFor();
  // Labels and commands of others are text.
  await page.getByRole("row", { name: `team ${HOSTILE}` }).waitFor();
  assert.equal(await page.title(), "acme/app:1.0 · Moorage");
  const part = async (name: string): Promise<void> =>
    await page.getByRole("navigation", { name: "Parts of the image" }).getByRole("link", { name }).click();

  await part("Layers");
  await page.getByRole("row", { name: /COPY app \/app/ }).waitFor();
  await page.getByRole("row", { name: /ENV HOME=\/root no layer/ }).waitFor();

  await part("Packages");
  await page.getByRole("cell", { name: "left-pad", exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Find packages" }).fill("OTHER");
  await page.getByText("1 package").waitFor();
  assert.ok(page.url().includes("query=OTHER"));
  for (const [format, mark] of [
    ["CycloneDX", "bomFormat"],
    ["SPDX", "spdxVersion"],
  ] as const) {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: `Download ${format}` }).click();
    const document = JSON.parse(await readFile(await (await downloading).path(), "utf8")) as object;
    assert.ok(mark in document);
  }
  await platform.selectOption("linux/arm64");
  await page.getByText("No package fits").waitFor();
  await page.getByRole("searchbox", { name: "Find packages" }).fill("");
  await page.getByRole("cell", { name: "small", exact: true }).waitFor();
  await platform.selectOption("linux/amd64");

  await part("Findings");
  const worst = page.getByRole("row", { name: /CVE-2026-1 Critical 9\.8 Exploited left-pad 1\.0\.0 1\.5\.0/ });
  await worst.waitFor();
  const second = page.getByRole("row", { name: /CVE-2026-2/ });
  await second.waitFor();
  const first = page.getByRole("list", { name: "Fix first" }).getByRole("listitem");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).fill("cve-2026");
  await page.getByRole("option", { name: "CVE-2026-2" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox", { name: "Find findings" }).fill("2026-2");
  await worst.waitFor({ state: "detached" });
  await second.waitFor();
  await page.getByRole("searchbox", { name: "Find findings" }).fill("");
  await worst.waitFor();
  await first.filter({ hasText: "Update left-pad to 1.5.0" }).getByText("Ends 1 critical, exploited").waitFor();
  assert.equal(await first.count(), 2);
  await worst.getByRole("img", { name: "1 of 1" }).waitFor();
  await page.getByRole("combobox", { name: "State" }).selectOption({ label: "Closed" });
  await page.getByText("No findings").waitFor();
  assert.equal(await first.count(), 0);
  await page.getByRole("button", { name: "Remove the filter State" }).click();
  await page.getByRole("combobox", { name: "Severity" }).selectOption("CRITICAL");
  await second.waitFor({ state: "detached" });
  await worst.waitFor();

  await part("Referrers");
  await page.getByRole("row", { name: /Signature application\/vnd\.dev\.sigstore/ }).waitFor();
  await part("Manifest");
  await page.getByLabel("Index", { exact: true }).getByText('"schemaVersion": 2').waitFor();
  assert.deepEqual(complaints, []);
});

test("an image says which tags point to it, and one that is not there says so", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const page = await signedIn();
  await page.goto(`/image?name=acme/app@${image}`);
  await page.getByRole("link", { name: "acme/app:amd64" }).click();
  await page.getByRole("heading", { name: "acme/app:amd64" }).waitFor();
  await page.goto("/image?name=acme/app:none");
  await page.getByRole("heading", { name: "No image acme/app:none" }).waitFor();
  await page.goto("/image?name=acme/other:latest");
  await page.getByRole("heading", { name: "No image acme/other:latest" }).waitFor();
  await page.getByText("It does not exist, or you have no access to it.").waitFor();
  // React notes in the browser's console what a page shows as its error.
  assert.deepEqual(
    complaints?.filter((text) => !text.startsWith("ApiError: ")),
    [],
  );
});
