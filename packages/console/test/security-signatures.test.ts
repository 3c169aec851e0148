import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cycloneDx } from "../../server/test/support/catalog/documents.ts";
import { pushArtifact } from "../../server/test/support/catalog/push.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { certify } from "../../server/test/support/notation-certificates.ts";
import { openSignedRepo } from "../../server/test/support/signed-repo.ts";
import { newKey, newSigner, verifiedSignatures } from "../../server/test/support/signing.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole({ MOORAGE_WORK_POLL: "20ms", MOORAGE_CATALOG_IMAGES: "1" });
});
after(() => opened?.close());

test("a signer is made, an image shows who signed it, and a policy blocks what is not signed", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openSignedRepo(platform);
  const signed = await repo.push("v1");
  await repo.push("v2");
  const key = newKey();
  const page = await signedIn();
  const dialog = page.getByRole("dialog");

  await page.goto(`/signatures/signers?group=${repo.group}`);
  await page.getByText("No signers here").waitFor();
  await page.getByRole("button", { name: "New signer" }).click();
  await dialog.getByLabel("Name").fill("release");
  await dialog.getByLabel("Public key").fill("not a key");
  await dialog.getByRole("button", { name: "Create" }).click();
  await eventually(async () => (await dialog.getByLabel("Public key").getAttribute("aria-invalid")) === "true");
  await dialog.getByLabel("Public key").fill(key.pem);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "release" }).waitFor();
  await repo.sign(signed, key);

  const name = (tag: string): string => `${repo.name}:${tag}`;
  await page.goto(`/image?name=${name("v1")}&part=signatures`);
  const row = page.getByRole("table", { name: "Signatures" }).getByRole("row", { name: /release/ });
  await row.getByText("Holds").waitFor();
  await row.getByText("The image itself").waitFor();
  await page.getByText("No signature policy is about this image").waitFor();
  await row.getByRole("button", { name: "Details" }).click();
  await dialog.getByText("not recorded by a trusted source").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByLabel("As of").fill("2020-01-01T00:00");
  await page.getByText("Nothing was signed then").waitFor();

  // Beside the name of a version stands what it is, and beside that of the image what its newest version is.
  await page.goto(`/image?name=${name("v1")}`);
  const badge = page.locator("header").getByRole("link", { name: "Signed", exact: true });
  await badge.waitFor();
  assert.equal(await badge.getAttribute("title"), "A signer has signed this version");
  await page.goto(`/image?name=${name("v2")}`);
  await page.locator("header").getByRole("link", { name: "Unsigned" }).waitFor();
  await page.goto(`/repo?name=${repo.name}`);
  await page.locator("header").getByRole("link", { name: "Unsigned" }).waitFor();
  const { repos } = await platform.ok<{ repos: { uid: string }[] }>(
    "GET",
    `/registry/v2/repos?uidp.children_of=${repo.group}`,
  );
  await platform.ok("POST", `/registry/v2/tags/${repos[0]?.uid}`, { name: "v3", digest: signed });
  await page.reload();
  await page.locator("header").getByRole("link", { name: "Signed", exact: true }).waitFor();

  await page.goto(`/signatures/policies?group=${repo.group}`);
  await page.getByRole("button", { name: "New policy" }).click();
  await dialog.getByText("Choose who signs to see which tags it would block").waitFor();
  await dialog.getByLabel("Name").fill("signed");
  await dialog.getByLabel("release").check();
  await dialog.getByLabel("Mode").selectOption("GATE_MODE_ENFORCE");
  const kept = dialog.getByRole("table", { name: "Tags that would be blocked" });
  await kept.getByRole("link", { name: name("v2") }).waitFor();
  assert.equal(await kept.getByRole("link", { name: name("v1") }).count(), 0);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "signed" }).click();
  await page.getByText("a signature of the image, by release").waitFor();
  assert.equal((await repo.pull("v2")).status, 403);

  await page.goto(`/image?name=${name("v2")}&part=signatures`);
  await page.getByText("Blocked.").waitFor();
  await page.getByText("Nothing is signed").waitFor();
  await page.getByRole("table", { name: "Policies" }).getByRole("link", { name: "signed" }).click();
  await page.getByRole("button", { name: "New exemption" }).click();
  await dialog.getByLabel("Image").fill(repo.name);
  await dialog.getByLabel("Reason").fill("signed again next week");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("must have a tag or a digest").waitFor();
  await dialog.getByLabel("Image").fill(name("v2"));
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("row", { name: /signed again next week/ }).waitFor();
  assert.equal((await repo.pull("v2")).status, 200);
  await page.getByRole("button", { name: "End" }).click();
  await dialog.getByRole("button", { name: "End" }).click();
  await page.getByText("No exemptions").waitFor();
  assert.equal((await repo.pull("v2")).status, 403);
  assert.deepEqual(complaints, []);
});

test("a signer by certificates of Notation is made, and its page says whose count", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openSignedRepo(platform);
  const root = certify({ isAuthority: true });
  const page = await signedIn();
  const dialog = page.getByRole("dialog");
  await page.goto(`/signatures/signers?group=${repo.group}`);
  await page.getByRole("button", { name: "New signer" }).click();
  await dialog.getByLabel("Name").fill("authority");
  await dialog.getByLabel("Known by").selectOption("x509");
  await dialog.getByLabel("Certificates of the authorities").fill(`${root.pem}\n${certify().pem}`);
  await dialog.getByLabel("Whose certificates").fill("x509.subject: C=US, O=acme");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("must name ST").waitFor();
  await dialog.getByLabel("Whose certificates").fill("x509.subject: C=US, ST=WA, O=acme");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("cell", { name: "x509.subject: C=US, ST=WA, O=acme" }).waitFor();
  await page.getByRole("link", { name: "authority" }).click();
  await page.getByRole("heading", { name: "Certificates" }).waitFor();
  await page.getByText("The signer's own certificates").waitFor();
  assert.equal(await page.getByRole("button", { name: "Add a key" }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("before a key is revoked it is said what hangs on it", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openSignedRepo(platform);
  const key = newKey();
  const { uid: signer } = await platform.ok("POST", `/registry/v2/signers/${repo.group}`, {
    name: "nightly",
    keys: [{ pem: key.pem }],
  });
  await platform.ok("POST", `/registry/v2/signaturePolicies/${repo.group}`, {
    name: "only signed",
    mode: "GATE_MODE_ENFORCE",
    on: ["SIGNATURE_ACTION_PULL"],
    rules: [{ name: "image", signers: [signer] }],
  });
  const digest = await repo.push("v1");
  await repo.sign(digest, key);
  assert.equal((await repo.pull("v1")).status, 200);
  const page = await signedIn();
  await page.goto(`/signatures/signer?uid=${signer}`);
  await page
    .getByRole("table", { name: "Policies that require it" })
    .getByRole("link", { name: "only signed" })
    .waitFor();
  await page
    .getByRole("table", { name: "Keys" })
    .getByRole("button", { name: /^Actions for/ })
    .click();
  await page.getByRole("menuitem", { name: "Revoke key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 policy asks for this signer: only signed. 1 is enforced").waitFor();
  await dialog.getByText("It is the signer's only key.").waitFor();
  await dialog.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("table", { name: "Keys" }).getByText("Revoked", { exact: true }).last().waitFor();
  await eventually(async () => (await repo.pull("v1")).status === 403);
  await verifiedSignatures(platform, repo, digest, 1);
  await page.goto(`/image?name=${repo.name}:v1&part=signatures`);
  await page.getByRole("table", { name: "Signatures" }).getByText("Key revoked").waitFor();
  assert.deepEqual(complaints, []);
});

test("whoever may not change signers and policies reads why, and sees them all the same", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openSignedRepo(platform);
  await platform.ok("POST", `/registry/v2/signers/${repo.group}`, { name: "seen", keys: [{ pem: newKey().pem }] });
  const page = await signedIn({ identity: await platform.identity(repo.group, "viewer") });
  await page.goto(`/signatures/signers?group=${repo.group}`);
  await page.getByRole("link", { name: "seen" }).waitFor();
  const button = page.getByRole("button", { name: "New signer" });
  await eventually(async () => (await button.getAttribute("aria-disabled")) === "true");
  assert.deepEqual(complaints, []);
});

test("documents that lack the signature that a policy asks for are counted and named, also in preview", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const repo = await openSignedRepo(platform);
  const digest = await repo.push("v1");
  const type = "application/vnd.cyclonedx+json";
  await pushArtifact(repo, {
    artifactType: type,
    subject: digest,
    layers: [{ mediaType: type, content: cycloneDx(["left"]) }],
  });
  const signer = await newSigner(platform, repo.group, "security", [newKey()]);
  const { uid } = await platform.ok("POST", `/registry/v2/signaturePolicies/${repo.group}`, {
    name: "documents",
    documentSigners: [signer],
  });
  const page = await signedIn();
  const shows = async (text: string): Promise<void> => {
    await eventually(async () => {
      await page.goto(`/image?name=${repo.name}:v1&part=referrers`);
      await page.getByRole("heading", { name: "Documents that were read" }).waitFor();
      return (await page.getByText(text).count()) > 0;
    });
  };
  await shows("enforced, a policy would not let it count: not signed as policy documents");
  assert.equal(await page.getByText("does not count").count(), 0);
  await platform.ok("PATCH", `/registry/v2/signaturePolicies/${uid}`, { mode: "GATE_MODE_ENFORCE" });
  await shows("1 document does not count, because a policy asks for a signature");
  assert.equal(await page.getByText("does not count: not signed as policy documents").count(), 1);
  assert.deepEqual(complaints, []);
});
